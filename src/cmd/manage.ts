#!/usr/bin/env node
import { loadIronicConfig } from '../config/load.ts'
import { type InterfaceType, interfaceTypes } from '../domain/interfaces.ts'
import { hardwareTypes } from '../drivers/hardware-types.ts'
import { allInterfaces as interfaceClasses } from '../conductor/all-interfaces.ts'
import { parseCommandLine } from '../lib/oslo-config/command-line.ts'
import { CommandFailure, runCommand } from './run-command.ts'

const program = 'ironic-manage'
const subjects = ['hardware-types', 'interfaces'] as const

/** Interface types, sorted as real Ironic lists them. */
const allTypes: readonly InterfaceType[] = interfaceTypes.toSorted()

function printGroup(title: string, option: string, rows: readonly { name: string; detail: string }[]): void {
  console.log(`${title} (for [DEFAULT]${option}):`)
  if (rows.length === 0) console.log('  (none in this release)')
  const width = Math.max(0, ...rows.map(({ name }) => name.length))
  for (const { name, detail } of rows) console.log(`  ${name.padEnd(width)}  ${detail}`.trimEnd())
}

/** A hardware type works when each core interface has at least one implementation here. */
function printHardwareTypes(): void {
  const rows = Object.entries(hardwareTypes).map(([name, offered]) => {
    const lacking = allTypes.filter((type) => {
      const names: readonly string[] = offered[type]
      return names.length > 0 && !names.some((each) => each in interfaceClasses[type])
    })
    return { name, detail: lacking.length === 0 ? '' : `(no ${lacking.join(', no ')} interface in this release)` }
  })
  printGroup(
    'Hardware types',
    'enabled_hardware_types',
    rows.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  )
}

function printInterfaces(types: readonly InterfaceType[]): void {
  for (const [index, type] of types.entries()) {
    if (index > 0) console.log()
    const rows = Object.entries(interfaceClasses[type])
      .map(([name, Class]) => ({ name, detail: Class.name }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    printGroup(`${type[0]!.toUpperCase()}${type.slice(1)} interfaces`, `enabled_${type}_interfaces`, rows)
  }
}

/** `ironic-manage drivers hardware-types`, `ironic-manage drivers interfaces [type …]`. */
function main(args: readonly string[], env: NodeJS.ProcessEnv): number | void {
  const loaded = loadIronicConfig({ program, args, env, command: { name: 'command', choices: ['drivers'] } })
  const subject = parseCommandLine(
    { program: `${program} drivers`, rules: [], command: { name: 'drivers_command', choices: subjects } },
    loaded.command.slice(1),
  )
  const wanted: string[] = []
  const words = { name: '<interface type>', apply: (word: string) => wanted.push(word) }
  parseCommandLine(
    { program: `${program} drivers ${subject[0]}`, rules: [], ...(subject[0] === 'interfaces' ? { words } : {}) },
    subject.slice(1),
  )
  if (subject[0] === 'hardware-types') {
    printHardwareTypes()
    return
  }
  const unknown = [...new Set(wanted)].filter((type) => !(interfaceTypes as readonly string[]).includes(type)).sort()
  if (unknown.length > 0) throw new CommandFailure(`Unknown interface type(s): ${unknown.join(', ')}`, { status: 2 })
  printInterfaces(wanted.length === 0 ? allTypes : ([...new Set(wanted)] as InterfaceType[]))
}

if (import.meta.main) await runCommand(program, () => Promise.resolve(main(process.argv.slice(2), process.env)))
