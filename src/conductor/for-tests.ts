/** A conductor in this process on an empty database in memory, for tests. */
import type { ConfigOverrides } from '../config/for-tests.ts'
import { openDatabase, type Db } from '../db/database.ts'
import { getNode } from '../db/nodes.ts'
import { createSchema } from '../db/migrations/index.ts'
import type { Clock } from '../domain/clock.ts'
import { adminContext } from '../domain/context.ts'
import { fakeHardwareConfig } from '../drivers/fake/for-tests.ts'
import type { InterfaceClasses } from '../drivers/interface-classes.ts'
import { silentLogger, type Logger } from '../lib/oslo-log/logger.ts'
import type { Notification } from '../notifications/notifier.ts'
import type { Node } from '../objects/index.ts'
import { conductorContract, type ConductorClient } from '../rpc/conductor.ts'
import { conductorRing } from '../rpc/ring.ts'
import { localTransport } from '../rpc/transports/local.ts'
import { startConductor, type ConductorParts, type RunningConductor } from './conductor.ts'

export const testContext = adminContext('req-test')

/** The real time, in which periodic work never comes to its turn by chance: tests run it by hand. */
export const realClock: Clock = {
  now: () => new Date(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error)
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }, ms)
      const stop = () => {
        clearTimeout(timer)
        reject(signal!.reason as Error)
      }
      signal?.addEventListener('abort', stop, { once: true })
    }),
}

export interface TestConductor extends AsyncDisposable {
  readonly db: Db
  readonly rpc: ConductorClient
  readonly running: RunningConductor
  /** every notification, with the node as it was then */
  readonly notifications: Notification[]
  node(ident: string): Promise<Node>
  /** Waits until no work runs and no node is locked. */
  settled(): Promise<void>
  /** Starts the conductor anew on the same database, as after a crash when `crash`. */
  restart(options?: { crash?: boolean }): Promise<TestConductor>
}

export interface TestConductorOptions {
  readonly config?: ConfigOverrides
  readonly db?: Db
  readonly interfaces?: InterfaceClasses
  readonly clock?: Clock
  readonly log?: Logger
  readonly more?: Partial<ConductorParts>
}

export async function startTestConductor(options: TestConductorOptions = {}): Promise<TestConductor> {
  const config = fakeHardwareConfig(options.config)
  const clock = options.clock ?? realClock
  const db = options.db ?? (await openDatabase('sqlite://', { clock }))
  if (options.db === undefined) await createSchema(db)
  const log = options.log ?? silentLogger
  const notifications: Notification[] = []
  const running = await startConductor({
    config,
    db,
    log,
    clock,
    ring: conductorRing({ db, config, clock }),
    notifier: { emit: (event) => void notifications.push({ ...event, source: structuredClone(event.source) }) },
    ...(options.interfaces === undefined ? {} : { interfaces: options.interfaces }),
    ...options.more,
  })
  const transport = localTransport(log)
  const server = await transport.serve(conductorContract, running.host, running.service)
  const stop = async () => {
    await server[Symbol.asyncDispose]()
    await running.stop({ timeout: 1 })
  }
  return {
    db,
    running,
    notifications,
    rpc: transport.client(conductorContract, running.host),
    node: (ident) => getNode(db, ident),
    async settled() {
      await running.parts.workers.idle(AbortSignal.timeout(10_000))
    },
    async restart({ crash = false } = {}) {
      await server[Symbol.asyncDispose]()
      if (!crash) await running.stop({ timeout: 1 })
      return startTestConductor({ ...options, db })
    },
    async [Symbol.asyncDispose]() {
      await stop()
      if (options.db === undefined) await db.close()
    },
  }
}

/** Creates a node of fake hardware. */
export async function createTestNode({ rpc }: TestConductor, values: Partial<Node> = {}): Promise<Node> {
  const data = { uuid: crypto.randomUUID(), driver: 'fake-hardware', provision_state: 'enroll', ...values } as Node
  return rpc.create_node(testContext, { node_obj: { data, changes: Object.keys(data) as (keyof Node)[] } })
}
