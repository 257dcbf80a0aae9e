import { setTimeout } from 'node:timers/promises'
import { type ConfigOverrides, testConfig } from '../../config/for-tests.ts'
import type { Db } from '../../db/database.ts'
import { silentLogger } from '../../lib/oslo-log/logger.ts'
import { type ScriptedBmc, StoppedClock, systemPath } from '../../lib/redfish/for-tests.ts'
import type { Node, Port } from '../../objects/index.ts'
import type { Driver } from '../interfaces/driver.ts'
import { SharedParts } from '../shared-parts.ts'
import type { DriverParts, FlowFailure, Task } from '../task.ts'
import { RedfishVirtualMediaBoot } from './boot.ts'
import { RedfishManagement } from './management.ts'
import { RedfishPower } from './power.ts'

export interface RedfishBench {
  readonly task: Task
  readonly node: Node
  readonly parts: DriverParts
  readonly clock: StoppedClock
  readonly power: RedfishPower
  readonly management: RedfishManagement
  readonly boot: RedfishVirtualMediaBoot
  readonly ports: Port[]
  readonly failures: FlowFailure[]
  /** what the driver asked the flow to do */
  readonly flow: string[]
  readonly warnings: string[]
  saves: number
  fastTrack: boolean
  [Symbol.asyncDispose](): Promise<void>
}

const realClock = {
  now: () => new Date(),
  sleep: async (ms: number, signal?: AbortSignal): Promise<void> => {
    await setTimeout(ms, undefined, { signal })
  },
}

/** A node whose BMC is that one, with the real Redfish interfaces and a task that keeps all else in memory. */
export function redfishBench(
  bmc: Pick<ScriptedBmc, 'address'>,
  options: {
    node?: Partial<Node>
    config?: ConfigOverrides
    db?: Db
    /** the clock of the host instead of one that waits for nobody */
    realTime?: boolean
    driver?: Partial<Driver>
    ports?: readonly Partial<Port>[]
  } = {},
): RedfishBench {
  const stopped = new StoppedClock()
  const clock = options.realTime === true ? Object.assign(stopped, realClock) : stopped
  const shared = new SharedParts()
  const warnings: string[] = []
  const log = { ...silentLogger, warning: (text: string) => void warnings.push(text), named: () => log }
  const { redfish, ...others } = options.config ?? {}
  const config = testConfig({ redfish: { read_timeout: 2, connect_timeout: 2, ...redfish }, ...others })
  const parts: DriverParts = { config, db: options.db as Db, log, clock, host: 'test-host', shared }
  const node = {
    id: 1,
    uuid: 'a0000000-0000-4000-8000-000000000001',
    driver: 'redfish',
    provision_state: 'manageable',
    driver_internal_info: {},
    instance_info: {},
    properties: { capabilities: 'boot_mode:uefi' },
    deploy_interface: 'direct',
    management_interface: 'redfish',
    disable_power_off: false,
    automated_clean: null,
    last_error: null,
    boot_mode: null,
    secure_boot: null,
    ...options.node,
    driver_info: {
      redfish_address: bmc.address,
      redfish_system_id: systemPath,
      redfish_username: 'admin',
      redfish_password: 'secret',
      ...options.node?.driver_info,
    },
  } as unknown as Node
  const power = new RedfishPower(parts)
  const management = new RedfishManagement(parts)
  const boot = new RedfishVirtualMediaBoot(parts)
  const ports = (options.ports ?? []).map((port) => ({
    uuid: crypto.randomUUID(),
    pxe_enabled: true,
    ...port,
  })) as Port[]
  const bench = {
    node,
    parts,
    clock,
    power,
    management,
    boot,
    ports,
    warnings,
    failures: [] as FlowFailure[],
    flow: [] as string[],
    saves: 0,
    fastTrack: false,
    [Symbol.asyncDispose]: () => shared.close(),
  }
  const network = { currentVif: () => null, nodeNetworkData: () => Promise.resolve({}) }
  const storage = { shouldWriteImage: () => Promise.resolve(true) }
  const task = {
    node,
    config,
    db: options.db as Db,
    clock,
    log,
    ports: () => Promise.resolve(ports),
    context: { request_id: 'req-test' },
    driver: { power, management, boot, network, storage, ...options.driver },
    shared: false,
    signal: AbortSignal.timeout(600_000),
    traits: () => Promise.resolve([]),
    async save() {
      bench.saves++
    },
    upgradeLock: () => Promise.resolve(),
    refresh: () => Promise.resolve(),
    forgetPorts: () => {},
    destroyPort: () => Promise.resolve(),
    isFastTrack: () => Promise.resolve(bench.fastTrack),
    setBootDevice: (device: string, persistent = false) => management.setBootDevice(task, device, persistent),
    async powerAction(target: string, timeout: number | null = null) {
      if (target === 'rebooting') return power.reboot(task, { timeout })
      if ((await power.getPowerState(task)) === (target === 'power on' ? 'power on' : 'power off')) return
      await power.setPowerState(task, target, { timeout })
    },
    async createPort(values: Partial<Port>) {
      const port = { uuid: crypto.randomUUID(), ...values } as Port
      ports.push(port)
      return port
    },
    savePort: () => Promise.resolve(),
    async failFlow(failure: FlowFailure) {
      bench.failures.push(failure)
    },
    async resumeFlow() {
      bench.flow.push('resume')
    },
    addHistory: () => Promise.resolve(),
  } as unknown as Task
  return Object.assign(bench, { task })
}
