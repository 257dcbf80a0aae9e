#!/usr/bin/env node
import { ironicVersion } from '../config/load.ts'
import {
  createSchema,
  onlineDataMigrations,
  schemaVersion,
  stamp,
  unreadableRows,
  upgrade,
} from '../db/migrations/index.ts'
import { type ArgumentRule, parseCommandLine } from '../lib/oslo-config/command-line.ts'
import { openProcess, type ProcessParts } from './process-parts.ts'
import { CommandFailure, runCommand } from './run-command.ts'

const program = 'ironic-dbsync'
const commands = ['upgrade', 'stamp', 'revision', 'version', 'create_schema', 'online_data_migrations'] as const
type Command = (typeof commands)[number]

interface Settings {
  revision?: string
  maxCount?: string
  readonly options: string[]
}

/** The options of each command; the last value wins, as with argparse. */
const rulesOf = (settings: Settings): Record<Command, ArgumentRule[]> => {
  const revision = rule('--revision', 'REVISION', (value) => {
    settings.revision = value
  })
  return {
    upgrade: [revision],
    stamp: [revision],
    revision: [
      { spellings: ['-m', '--message'], takesValue: true, apply: () => {} },
      { spellings: ['--autogenerate'], takesValue: false, apply: () => {} },
    ],
    version: [],
    create_schema: [],
    online_data_migrations: [
      rule('--max-count', '<number>', (value) => {
        settings.maxCount = value
      }),
      rule('--option', '<migration.opt=val>', (value) => settings.options.push(value)),
    ],
  }
}

function rule(spelling: string, metavar: string, apply: (value: string) => void): ArgumentRule {
  return { spellings: [spelling], takesValue: true, metavar, apply: (value) => apply(value!) }
}

const actions: Record<Command, (parts: ProcessParts, settings: Settings) => Promise<number | void>> = {
  async upgrade({ db }, { revision }) {
    await refuseUnreadableRows({ db })
    const { from, applied } = await upgrade(db, revision === undefined ? {} : { revision })
    console.log(
      applied.length === 0
        ? `The schema is at ${from} already.`
        : `The schema went from ${from ?? 'nothing'} to ${applied.at(-1)}.`,
    )
  },
  async stamp({ db }, { revision }) {
    if (revision === undefined) throw new CommandFailure('stamp needs --revision: the revision to write, or head.')
    await stamp(db, revision)
  },
  revision: () =>
    Promise.reject(
      new CommandFailure('New schema revisions are written in the source of this service: see docs/add-a-column.md.'),
    ),
  async version({ db }) {
    console.log((await schemaVersion(db)) ?? 'None')
  },
  async create_schema({ db, config }) {
    await createSchema(db, { engine: config.database.mysql_engine })
  },
  online_data_migrations: migrateData,
}

/** 2 means: begin with the previous release. 1 is taken by "there is more to do". */
async function refuseUnreadableRows({ db }: Pick<ProcessParts, 'db'>): Promise<void> {
  if ((await schemaVersion(db)) === undefined) return
  const found = await unreadableRows(db)
  if (found.length === 0) return
  const which = found.map(({ count, table }) => `${count} in ${table}`).join(', ')
  throw new CommandFailure(
    `The database holds rows that this release (${ironicVersion}) cannot read: ${which}. ` +
      'Run "ironic-dbsync online_data_migrations" of the previous release first.',
    { status: 2 },
  )
}

const batch = 50

/** 0: all done, 1: `--max-count` was reached, 2: wrong release, 127: an argument is wrong. */
async function migrateData({ db, config }: ProcessParts, { maxCount, options }: Settings): Promise<number> {
  await refuseUnreadableRows({ db })
  for (const option of options) {
    if (!/^[^.]+\.[^=]+=/.test(option)) throw new CommandFailure(`Malformed option ${option}`, { status: 127 })
    throw new CommandFailure(`No migration of this release takes the option ${option}.`, { status: 127 })
  }
  const limit = maxCount === undefined ? undefined : Number(maxCount)
  if (limit !== undefined && limit < 1)
    throw new CommandFailure('"max-count" must be a positive value.', { status: 127 })
  if (limit === undefined) console.log(`Running batches of ${batch} until migrations have been completed.`)
  for (;;) {
    const { results, finished } = await onlineDataMigrations(db, {
      maxCount: limit ?? batch,
      enabledInspectInterfaces: config.DEFAULT.enabled_inspect_interfaces,
    })
    for (const { name, migrated, total } of results) console.log(`${name}() migrated ${migrated} of ${total} objects.`)
    if (finished) {
      console.log('Data migrations have completed.')
      return 0
    }
    if (limit !== undefined) {
      console.log('Data migrations have not completed. Please re-run.')
      return 1
    }
  }
}

/** `ironic-dbsync [options] [command]`; without a command it upgrades, as real Ironic's does. */
async function main(given: readonly string[], env: NodeJS.ProcessEnv): Promise<number | void> {
  const args = given.some((arg) => (commands as readonly string[]).includes(arg)) ? given : [...given, 'upgrade']
  await using parts = await openProcess(
    { program, args, env, command: { name: 'command', choices: commands } },
    { tellUnused: false },
  )
  const [name, ...rest] = parts.loaded.command
  const command = name as Command
  const settings: Settings = { options: [] }
  parseCommandLine({ program: `${program} ${command}`, rules: rulesOf(settings)[command] }, rest)
  if (settings.maxCount !== undefined && !/^\s*[+-]?\d+\s*$/.test(settings.maxCount)) {
    throw new CommandFailure(`--max-count: ${settings.maxCount} is no whole number.`, { status: 2 })
  }
  return await actions[command](parts, settings)
}

if (import.meta.main) await runCommand(program, () => main(process.argv.slice(2), process.env))
