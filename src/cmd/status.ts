#!/usr/bin/env node
import { loadIronicConfig } from '../config/load.ts'
import { parseCommandLine } from '../lib/oslo-config/command-line.ts'
import { printConfig } from './status/config-report.ts'
import { type CheckResult, jsonReport, tableReport, worst } from './status/report.ts'
import { upgradeChecks } from './status/upgrade-checks.ts'
import { openConfiguredDatabase } from './database.ts'
import { runCommand } from './run-command.ts'
import { systemClock } from './system-clock.ts'

const program = 'ironic-status'

/** A fault of the check itself; never mistaken for a result. */
const checkFailed = 255

/**
 * `ironic-status upgrade check [--json]`: 0 all well, 1 something to look at, 2 something to repair first, 255 the check failed.
 * `ironic-status config [--changed]` lists every option with its value and where it comes from.
 */
async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const choices = ['upgrade', 'config']
  const loaded = loadIronicConfig({ program, args, env, command: { name: 'command', choices } })
  const [command, ...rest] = loaded.command
  if (command === 'config') {
    let changedOnly = false
    const apply = () => {
      changedOnly = true
    }
    const help = 'only options that are set'
    parseCommandLine(
      { program: `${program} config`, rules: [{ spellings: ['--changed'], takesValue: false, help, apply }] },
      rest,
    )
    printConfig(loaded, { changedOnly })
    return 0
  }
  let asJson = false
  const apply = () => {
    asJson = true
  }
  const flags = [{ spellings: ['--json'], takesValue: false, help: 'print the results as JSON', apply }]
  // `--json` may stand before or after the word `check`.
  const words = rest.filter((word) => word !== '--json')
  parseCommandLine(
    { program: `${program} upgrade`, rules: flags },
    rest.filter((word) => word === '--json'),
  )
  parseCommandLine(
    { program: `${program} upgrade`, rules: flags, command: { name: 'check', choices: ['check'] } },
    words,
  )

  try {
    await using db = await openConfiguredDatabase(loaded.config, systemClock).then((opened) => ({
      ...opened,
      [Symbol.asyncDispose]: () => opened.close(),
    }))
    const results: CheckResult[] = []
    for (const [name, check] of Object.entries(upgradeChecks)) {
      results.push({ name, ...(await check({ db, config: loaded.config, findFile: loaded.findFile })) })
    }
    console.log(asJson ? jsonReport(results) : tableReport(results))
    return worst(results)
  } catch (error) {
    console.log(`Error:\n${error instanceof Error ? error.stack : String(error)}`)
    return checkFailed
  }
}

if (import.meta.main) await runCommand(program, () => main(process.argv.slice(2), process.env))
