import { testConfig } from '../config/for-tests.ts'
import type { Db } from '../db/database.ts'
import type { Task } from '../drivers/task.ts'
import { MACAlreadyExists } from '../errors/index.ts'
import { silentLogger } from '../lib/oslo-log/logger.ts'
import type { Node, Port } from '../objects/index.ts'

/** A task on one node whose ports are kept in memory: enough for hooks and rules, which only read and save through it. */
export interface MemoryTask {
  readonly task: Task
  readonly ports: Port[]
  readonly deleted: string[]
  /** how often the node was saved */
  saves: number
}

const newPort = (values: Partial<Port>): Port =>
  ({
    uuid: crypto.randomUUID(),
    pxe_enabled: true,
    extra: {},
    local_link_connection: {},
    physical_network: null,
    ...values,
  }) as Port

export function memoryTask(options: {
  node?: Partial<Node>
  ports?: readonly Partial<Port>[]
  /** MAC addresses that ports of other nodes have */
  taken?: readonly string[]
  config?: Parameters<typeof testConfig>[0]
  db?: Db
}): MemoryTask {
  const ports = (options.ports ?? []).map(newPort)
  const deleted: string[] = []
  const memory = { ports, deleted, saves: 0 }
  const node = {
    id: 1,
    uuid: crypto.randomUUID(),
    properties: {},
    extra: {},
    driver_info: {},
    instance_info: {},
    ...options.node,
  } as Node
  const task = {
    node,
    config: testConfig(options.config),
    db: options.db as Db,
    log: silentLogger,
    signal: AbortSignal.timeout(30_000),
    clock: { now: () => new Date(), sleep: () => Promise.resolve() },
    ports: () => Promise.resolve(ports),
    forgetPorts: () => {},
    save() {
      memory.saves++
      return Promise.resolve()
    },
    savePort: () => Promise.resolve(),
    createPort(values: Partial<Port>) {
      if (ports.some((port) => port.address === values.address) || options.taken?.includes(values.address ?? ''))
        return Promise.reject(new MACAlreadyExists({ mac: values.address }))
      const port = newPort(values)
      ports.push(port)
      return Promise.resolve(port)
    },
    destroyPort(port: Port) {
      ports.splice(ports.indexOf(port), 1)
      deleted.push(port.address ?? '')
      return Promise.resolve()
    },
  } as unknown as Task
  return Object.assign(memory, { task })
}
