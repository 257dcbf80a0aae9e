#!/usr/bin/env node
import { conductorRing } from '../rpc/ring.ts'
import { conductorRouting } from '../rpc/routing.ts'
import { listenApi, refuseOpenApi } from './api-listener.ts'
import { isApiWorker, leaveWorkers, startApiWorkers } from './api-workers.ts'
import { ensureSchema, usesSqlite } from './database.ts'
import { openProcess, type ProcessParts } from './process-parts.ts'
import { needTransport, openTransport } from './rpc.ts'
import { runCommand } from './run-command.ts'
import { listenToSignals } from './signals.ts'

const program = 'ironic-api'

/** The API alone; conductors are other processes. */
async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const settings = { tellUnused: !isApiWorker() }
  await using parts = await openProcess(
    { program, args, env, description: 'The API of the bare metal service.' },
    settings,
  )
  const { config, db, log, clock, loaded } = parts
  refuseOpenApi(config)
  needTransport(config)
  const workers = config.api.api_workers ?? 1
  const isFirst = workers > 1 && !isApiWorker()
  using signals = listenToSignals(loaded, log, (signal) => copies?.signal(signal))
  if (!isApiWorker()) {
    if (usesSqlite(config)) {
      log.error(
        'The database is SQLite, which only one process may use: run the command ironic instead, or use MariaDB.',
      )
    }
    await ensureSchema(db, log)
  }
  const copies = isFirst ? startApiWorkers(workers, { log, clock }) : undefined
  if (copies === undefined) {
    await serve(parts, signals.stopped)
    leaveWorkers()
  } else {
    await signals.stopped
    await copies.stop()
  }
}

async function serve(parts: ProcessParts, stopped: Promise<unknown>): Promise<void> {
  const { config, db, log, clock } = parts
  await using transports = new AsyncDisposableStack()
  const transport = await openTransport(transports, config, program, log)
  await using _api = await listenApi(parts, conductorRouting(conductorRing({ db, config, clock }), transport))
  await stopped
}

if (import.meta.main) await runCommand(program, () => main(process.argv.slice(2), process.env))
