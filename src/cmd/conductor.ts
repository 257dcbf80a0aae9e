#!/usr/bin/env node
import { conductorRing } from '../rpc/ring.ts'
import { serveConductor } from './conductor-process.ts'
import { ensureSchema } from './database.ts'
import { openProcess } from './process-parts.ts'
import { needTransport, openTransport } from './rpc.ts'
import { runCommand } from './run-command.ts'
import { listenToSignals } from './signals.ts'

const program = 'ironic-conductor'

/** A conductor alone; the API and other conductors are other processes. */
async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  await using parts = await openProcess({ program, args, env, description: 'A conductor of the bare metal service.' })
  const { config, db, log, clock, loaded } = parts
  using signals = listenToSignals(loaded, log)
  needTransport(config)
  await using transports = new AsyncDisposableStack()
  const transport = await openTransport(transports, config, program, log)
  await ensureSchema(db, log)
  const conductor = await serveConductor(parts, transport, conductorRing({ db, config, clock }))
  await conductor.stop(await signals.stopped)
}

if (import.meta.main) await runCommand(program, () => main(process.argv.slice(2), process.env))
