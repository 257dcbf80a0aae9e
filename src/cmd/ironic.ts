#!/usr/bin/env node
import { conductorRing } from '../rpc/ring.ts'
import { conductorRouting } from '../rpc/routing.ts'
import { listenApi, needFreeAddress, refuseOpenApi } from './api-listener.ts'
import { serveConductor } from './conductor-process.ts'
import { ensureSchema } from './database.ts'
import { openProcess } from './process-parts.ts'
import { openTransport } from './rpc.ts'
import { runCommand } from './run-command.ts'
import { listenToSignals } from './signals.ts'

const program = 'ironic'

/** API and conductor in one process. */
async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const description = 'The bare metal service: API and conductor in one process.'
  await using parts = await openProcess({ program, args, env, description })
  const { config, db, log, clock, loaded } = parts
  refuseOpenApi(config)
  using signals = listenToSignals(loaded, log)
  await needFreeAddress(config)
  await ensureSchema(db, log)
  await using transports = new AsyncDisposableStack()
  const transport = await openTransport(transports, config, program, log)
  const ring = conductorRing({ db, config, clock })
  const conductor = await serveConductor(parts, transport, ring)
  await using stack = new AsyncDisposableStack()
  let how: Parameters<typeof conductor.stop>[0]
  stack.defer(() => conductor.stop(how))
  stack.use(await listenApi(parts, conductorRouting(ring, transport)))
  how = await signals.stopped
}

if (import.meta.main) await runCommand(program, () => main(process.argv.slice(2), process.env))
