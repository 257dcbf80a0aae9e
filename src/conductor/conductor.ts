/** A conductor: registers itself, puts its nodes in order, serves RPC methods and does its periodic work until it is stopped. */
import type { Config } from '../config/index.ts'
import {
  registerConductor,
  registerHardwareInterfaces,
  touchConductor,
  unregisterConductor,
  unregisterHardwareInterfaces,
  type HardwareInterface,
} from '../db/conductors.ts'
import type { Db } from '../db/database.ts'
import { clearReservations } from '../db/nodes.ts'
import type { Clock } from '../domain/clock.ts'
import { interfaceTypes } from '../domain/interfaces.ts'
import { allInterfaces } from './all-interfaces.ts'
import { createDriverFactory, type DriverFactory } from '../drivers/factory.ts'
import type { InterfaceClasses } from '../drivers/interface-classes.ts'
import { SharedParts } from '../drivers/shared-parts.ts'
import { ConductorAlreadyRegistered, ConductorNotFound } from '../errors/conductor.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import type { Conductor } from '../objects/index.ts'
import { OwnApi } from '../openstack/own-api.ts'
import type { ConductorService } from '../rpc/conductor.ts'
import type { ConductorRing } from '../rpc/ring.ts'
import { resumeFlow } from './flows/continue.ts'
import { Images } from '../images/images.ts'
import { silentNotifier, type Notifier } from '../notifications/notifier.ts'
import { periodicTasks } from './periodic/index.ts'
import { Scheduler } from './periodic/scheduler.ts'
import { publishedMedia } from './published-media.ts'
import { conductorService } from './service/index.ts'
import type { ServiceParts } from './service/parts.ts'
import { failStuckNodes, releaseOwnLocks, resumeAllocations, startConsoles } from './start-up.ts'
import { Tasks, type TaskParts } from './tasks.ts'
import { Workers } from './workers.ts'

type Hooks = Pick<
  TaskParts,
  | 'powerChanged'
  | 'sendSensors'
  | 'applyInspectionRules'
  | 'storeInventory'
  | 'forgetInventory'
  | 'repairConfigDrive'
  | 'publishMedia'
  | 'unpublishMedia'
>

export interface ConductorParts extends Hooks {
  readonly config: Config
  readonly db: Db
  readonly log: Logger
  readonly clock: Clock
  readonly ring: ConductorRing
  /** Default: `[DEFAULT]host`, with the port when JSON-RPC does not use its stock one. */
  readonly host?: string
  readonly notifier?: Pick<Notifier, 'emit'>
  /** Default: all that this release has. */
  readonly interfaces?: InterfaceClasses
}

export interface StopOptions {
  /** Seconds that running work gets. Default: `[conductor]graceful_shutdown_timeout`. */
  readonly timeout?: number
  /** The entry in the `conductors` table stays (SIGUSR1): a restart follows, and no other conductor takes the nodes over. */
  readonly keepRegistration?: boolean
}

export interface RunningConductor {
  readonly host: string
  /** the entry in the `conductors` table */
  readonly row: Conductor
  readonly service: ConductorService
  readonly parts: ServiceParts
  /** Takes no new work, lets the running work end, and removes the registration. A second call waits for the first. */
  stop(options?: StopOptions): Promise<void>
  /** The same with `[DEFAULT]drain_shutdown_timeout` (SIGUSR2): as good as no work is cut off. */
  drain(options?: Omit<StopOptions, 'timeout'>): Promise<void>
}

/** The name under which the conductor is known. */
export function conductorHost(config: Config): string {
  const { host, rpc_transport: transport } = config.DEFAULT
  if (transport !== 'json-rpc' || config.json_rpc.port === 8089) return host
  return `${host.includes(':') ? `[${host}]` : host}:${config.json_rpc.port}`
}

/** @throws IncorrectConfiguration, DriverLoadError, DriverNotFoundInEntrypoint, NoDriversLoaded, NoValidDefaultForInterface … */
export async function startConductor(given: ConductorParts): Promise<RunningConductor> {
  const { config, db, clock } = given
  const host = given.host ?? conductorHost(config)
  const log = given.log.named('ironic.conductor')
  const workers = new Workers(config, log)
  const driverParts = new SharedParts()
  const ownApi = new OwnApi(config)
  const forDrivers = { config, db, log, clock, host, shared: driverParts }
  const drivers = createDriverFactory(forDrivers, given.interfaces ?? allInterfaces)
  const offers = offeredInterfaces(drivers)
  await releaseOwnLocks(db, host, log)
  const row = await register(given, host, drivers, offers)
  const stopWork = new AbortController()
  const { interfaces: _classes, host: _host, ...shared } = given
  const taskParts: TaskParts = {
    ...publishedMedia(config, driverParts.of(Images, forDrivers)),
    ...shared,
    host,
    log,
    workers,
    ownApi,
    drivers,
    conductorId: row.id,
    notifier: given.notifier ?? silentNotifier(log),
    signal: stopWork.signal,
  }
  const tasks = new Tasks(taskParts)
  tasks.resume = resumeFlow
  const parts: ServiceParts = { ...taskParts, tasks, ring: given.ring }
  await failStuckNodes(parts)
  workers.start('Starting consoles', () => startConsoles(parts))
  workers.start('Resuming allocations', () => resumeAllocations(parts))

  const stopPeriodics = new AbortController()
  const scheduler = new Scheduler(clock, log)
  scheduler.start(periodicTasks(config, drivers), parts, stopPeriodics.signal)
  const heartbeat = keepAlive(parts, stopPeriodics.signal, () => register(given, host, drivers, offers))
  log.info(`Conductor ${host} is running, with the hardware types ${drivers.hardwareTypes.join(', ')}`)

  let stopping: Promise<void> | undefined
  const stop = async (timeout: number, keepRegistration: boolean): Promise<void> => {
    workers.close()
    stopPeriodics.abort()
    await waitForWork(parts, stopWork, timeout)
    // periodic work may still be waiting for a BMC
    stopWork.abort()
    await Promise.all([scheduler.ended(), heartbeat])
    await driverParts.close()
    await ownApi.close()
    await clearReservations(db, host)
    if (!keepRegistration) await unregister(db, host)
    given.ring.reset()
    log.info(`Conductor ${host} has stopped`)
  }
  return {
    host,
    row,
    parts,
    service: conductorService(parts),
    stop: ({ timeout = config.conductor.graceful_shutdown_timeout, keepRegistration = false } = {}) =>
      (stopping ??= stop(timeout, keepRegistration)),
    drain: ({ keepRegistration = false } = {}) =>
      (stopping ??= stop(config.DEFAULT.drain_shutdown_timeout, keepRegistration)),
  }
}

/** What each hardware type offers here. A type without a default for one of its interfaces cannot be served. */
function offeredInterfaces(drivers: DriverFactory): HardwareInterface[] {
  return drivers.hardwareTypes.flatMap((type) => {
    const supported = drivers.supportedInterfaces(type)
    return interfaceTypes.flatMap((kind) => {
      const standard = drivers.defaultInterface(type, kind)
      return supported[kind].map((name) => ({
        hardware_type: type,
        interface_type: kind,
        interface_name: name,
        default: name === standard,
      }))
    })
  })
}

async function register(
  { db, config, log, ring }: ConductorParts,
  host: string,
  drivers: DriverFactory,
  offers: readonly HardwareInterface[],
): Promise<Conductor> {
  const values = {
    hostname: host,
    drivers: [...drivers.hardwareTypes],
    conductor_group: config.conductor.conductor_group,
  }
  let row: Conductor
  try {
    row = await registerConductor(db, values)
  } catch (error) {
    if (!(error instanceof ConductorAlreadyRegistered)) throw error
    log.warning(`A conductor named ${host} was registered already; its entry is taken over`)
    row = await registerConductor(db, values, { update: true })
  }
  try {
    await unregisterHardwareInterfaces(db, row.id)
    await registerHardwareInterfaces(db, row.id, offers)
  } catch (error) {
    await unregister(db, host)
    throw error
  }
  ring.reset()
  return row
}

async function unregister(db: Db, host: string): Promise<void> {
  try {
    await unregisterConductor(db, host)
  } catch (error) {
    if (!(error instanceof ConductorNotFound)) throw error
  }
}

/** Tells the others that this conductor lives. An entry that somebody removed is made again. */
async function keepAlive(
  parts: ServiceParts,
  signal: AbortSignal,
  registerAgain: () => Promise<Conductor>,
): Promise<void> {
  const { config, db, clock, host, log } = parts
  for (;;) {
    try {
      await clock.sleep(config.conductor.heartbeat_interval * 1000, signal)
    } catch (error) {
      if (signal.aborted) return
      throw error
    }
    try {
      await touchConductor(db, host)
    } catch (error) {
      if (signal.aborted) return
      log.error(`The heartbeat of conductor ${host} did not reach the database: ${String(error)}`)
      if (error instanceof ConductorNotFound)
        await registerAgain().catch((failure: unknown) => log.error(String(failure)))
    }
  }
}

/** Running work gets its time; then it is told to end, and gets a moment to say so in its rows. */
async function waitForWork(
  { workers, log, clock }: ServiceParts,
  stopWork: AbortController,
  seconds: number,
): Promise<void> {
  const idleWithin = async (ms: number): Promise<boolean> => {
    const over = new AbortController()
    const timer = clock.sleep(ms, over.signal).then(
      () => over.abort(),
      () => undefined,
    )
    const idle = await workers.idle(over.signal)
    over.abort()
    await timer
    return idle
  }
  if (await idleWithin(seconds * 1000)) return
  log.warning(`${workers.busy} pieces of work did not end within ${seconds} s and are cut off`)
  stopWork.abort()
  if (!(await idleWithin(2000))) log.error('Some work does not end; what it was doing is repaired at the next start')
}
