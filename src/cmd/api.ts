#!/usr/bin/env node
import { conductorRing } from '../rpc/ring.ts'
import { conductorRouting } from '../rpc/routing.ts'
import { listenApi, refuseOpenApi } from './api-listener.ts'
import { ensureSchema, usesSqlite } from './database.ts'
import { openProcess } from './process-parts.ts'
import { needTransport, openTransport } from './rpc.ts'
import { runCommand } from './run-command.ts'
import { listenToSignals } from './signals.ts'

const program = 'ironic-api'

/** The API alone; conductors are other processes. */
async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  await using parts = await openProcess({ program, args, env, description: 'The API of the bare metal service.' })
  const { config, db, log, clock, loaded } = parts
  refuseOpenApi(config)
  using signals = listenToSignals(loaded, log)
  needTransport(config)
  await using transports = new AsyncDisposableStack()
  const transport = await openTransport(transports, config, program, log)
  if (usesSqlite(config)) {
    log.error('The database is SQLite, which only one process may use: run the command ironic instead, or use MariaDB.')
  }
  await ensureSchema(db, log)
  const ring = conductorRing({ db, config, clock })
  await using _api = await listenApi(parts, conductorRouting(ring, transport))
  await signals.stopped
}

if (import.meta.main) await runCommand(program, () => main(process.argv.slice(2), process.env))
