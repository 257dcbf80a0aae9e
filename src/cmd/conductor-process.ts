import { mkdir } from 'node:fs/promises'
import type { Config } from '../config/index.ts'
import { type RunningConductor, startConductor } from '../conductor/conductor.ts'
import { FileServer } from '../images/file-server.ts'
import { applyStoredRules } from '../inspection/rules/stored.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import { sensorSender, type SensorSender } from '../notifications/sensors.ts'
import { conductorContract } from '../rpc/conductor.ts'
import type { Transport } from '../rpc/contract.ts'
import type { ConductorRing } from '../rpc/ring.ts'
import { usesSqlite } from './database.ts'
import { configuredNotifier, notificationDrivers } from './messaging/notifications.ts'
import type { ProcessParts } from './process-parts.ts'
import { CommandFailure } from './run-command.ts'
import type { Stop } from './signals.ts'

/** A conductor that takes calls. */
export interface ServingConductor {
  readonly host: string
  /** Takes no more calls and ends as it was asked to. */
  stop(how?: Pick<Stop, 'drain' | 'keepRegistration'>): Promise<void>
}

/** Starts the conductor of this host and serves it. @throws IronicError, CommandFailure */
export async function serveConductor(
  { config, db, log, clock }: Pick<ProcessParts, 'config' | 'db' | 'log' | 'clock'>,
  transport: Transport,
  ring: ConductorRing,
): Promise<ServingConductor> {
  await using stack = new AsyncDisposableStack()
  warnOfRisks(config, log.named('ironic.conductor'))
  if (config.openkeel.embedded_http_server) {
    const files = await serveFiles(config, log.named('ironic.images'))
    stack.defer(() => files.close())
  }
  const notifier = await configuredNotifier(config, 'ironic-conductor', config.DEFAULT.host, log, () => clock.now())
  stack.defer(() => notifier.close())
  const sendSensors = await configuredSensors(stack, config, log, clock)
  const conductor = await startConductor({
    config,
    db,
    log,
    clock,
    ring,
    notifier,
    applyInspectionRules: applyStoredRules,
    ...(sendSensors === undefined ? {} : { sendSensors }),
  })
  stack.defer(() => conductor.stop())
  const served = await transport.serve(conductorContract, conductor.host, conductor.service)
  const closing = stack.move()
  return { host: conductor.host, stop: (how) => stopConductor(conductor, served, closing, how) }
}

/** Sensor data leave by the notification drivers, whatever `notification_level` says. @throws ConfigInvalid */
async function configuredSensors(
  stack: AsyncDisposableStack,
  config: Config,
  log: Logger,
  clock: ProcessParts['clock'],
): Promise<SensorSender | undefined> {
  if (!config.sensor_data.send_sensor_data) return undefined
  const { driver: names, topics } = config.oslo_messaging_notifications
  const line = log.named('ironic.sensors')
  if (names.length === 0)
    line.warning('[sensor_data]send_sensor_data is true, but [oslo_messaging_notifications]driver names nobody')
  const drivers = await notificationDrivers(config, names, { service: 'ironic-conductor', log: line, url: null })
  for (const driver of drivers) stack.defer(async () => driver.close?.())
  return sensorSender({ drivers, topics, host: config.DEFAULT.host, now: () => clock.now() })
}

async function stopConductor(
  conductor: RunningConductor,
  served: AsyncDisposable,
  closing: AsyncDisposableStack,
  how: Pick<Stop, 'drain' | 'keepRegistration'> = { drain: false, keepRegistration: false },
): Promise<void> {
  const { keepRegistration } = how
  await (how.drain ? conductor.drain({ keepRegistration }) : conductor.stop({ keepRegistration }))
  await served[Symbol.asyncDispose]()
  await closing.disposeAsync()
}

/** Serves `[deploy]http_root` at the address of `[deploy]http_url`. @throws CommandFailure */
async function serveFiles(config: Config, log: Logger): Promise<FileServer> {
  const { http_url, http_root: root } = config.deploy
  if (http_url === null) {
    throw new CommandFailure(
      '[openkeel]embedded_http_server is true: set [deploy]http_url to the address that it is to listen at.',
    )
  }
  const { protocol, hostname, port, pathname } = new URL(http_url)
  if (protocol !== 'http:') {
    throw new CommandFailure(`[openkeel]embedded_http_server speaks HTTP only, but [deploy]http_url is ${http_url}.`)
  }
  await mkdir(root, { recursive: true, mode: 0o700 })
  const host = hostname.replace(/^\[|\]$/g, '')
  const linkedFolders = [config.pxe.images_path]
  const address = { host, port: Number(port === '' ? 80 : port), prefix: pathname }
  const server = await FileServer.start({ root, linkedFolders, ...address, log })
  log.info(`Files of ${root} are served at ${http_url}`)
  return server
}

/** What an operator should know before something goes wrong. */
function warnOfRisks(config: Config, log: Logger): void {
  const { deploy, conductor } = config
  if (deploy.shred_random_overwrite_iterations === 0 && !deploy.shred_final_overwrite_with_zeros) {
    log.warning(
      '[deploy]shred_random_overwrite_iterations is 0 and shred_final_overwrite_with_zeros is false: disks without secure erase are not erased at all.',
    )
  }
  if (usesSqlite(config)) {
    log.warning('The database is SQLite: only this one process may use it, and no other conductor can be added.')
  }
  for (const option of ['deploy_callback_timeout', 'clean_callback_timeout'] as const) {
    if (conductor[option] > 0 && conductor.max_conductor_wait_step_seconds >= conductor[option]) {
      log.warning(
        `[conductor]max_conductor_wait_step_seconds is not below ${option}: a waiting step can time out the whole operation.`,
      )
    }
  }
  warnOfUnpairedImages(config, log)
}

function warnOfUnpairedImages({ conductor }: Config, log: Logger): void {
  for (const purpose of ['deploy', 'rescue'] as const) {
    const pair = [`${purpose}_kernel_by_arch`, `${purpose}_ramdisk_by_arch`] as const
    for (const [one, other] of [pair, pair.toReversed() as unknown as typeof pair]) {
      const alone = Object.keys(conductor[one]).filter((arch) => !Object.hasOwn(conductor[other], arch))
      if (alone.length > 0) {
        log.warning(`[conductor]${one} names ${alone.sort().join(', ')}, for which [conductor]${other} has nothing.`)
      }
    }
  }
}
