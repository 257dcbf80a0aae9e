import { touchNodeProvisioning } from '../../db/nodes.ts'
import { dropInternal, internalInfo, internalTime, setInternal } from '../../domain/internal-info.ts'
import { IronicError } from '../../errors/define.ts'
import { RedfishConnectionError, RedfishError } from '../../errors/driver.ts'
import type { SystemResource } from '../../lib/redfish/computer-system.ts'
import { managersOf, systemPaths } from '../../lib/redfish/computer-system.ts'
import { ActionMissing, BmcUnreachable, PropertyMissing } from '../../lib/redfish/problems.ts'
import { Chassis, NetworkAdapter, UpdateService } from '../../lib/redfish/resources.ts'
import { link } from '../../lib/redfish/shape.ts'
import { lookAtTask, type TaskReport, taskUri } from '../../lib/redfish/task.ts'
import { setAsyncStep } from '../async-steps.ts'
import type { DriverParts, Task } from '../task.ts'
import { Bmcs } from './bmcs.ts'
import { FirmwareFiles } from './firmware-files.ts'
import { type ComponentType, componentTypeOf, versionOf } from './firmware-inventory.ts'

/**
 * One update as it is stored. The phase is written before what it stands for is done, so that a restart goes on from the row:
 * `submit` the file, follow the `task`, see the new `version` of a BMC, `wait` as the user asked, let things `settle`.
 */
export interface Update {
  readonly component: string
  readonly url: string
  readonly wait?: number
  readonly checksum?: string
  readonly source?: string
  phase?: 'submit' | 'task' | 'version' | 'wait' | 'settle'
  /** where the task is followed */
  task_monitor?: string
  version_before?: string | null
  /** the machine was restarted for this update */
  rebooted?: boolean
  /** when the phase began, or the task was first seen starting */
  since?: string
  starting_since?: string
  warnings?: readonly string[]
}

/** Where a kind of update keeps its state, and what happens at its end. */
export interface UpdateKind {
  /** key of `driver_internal_info` */
  readonly key: string
  /** after the last update, before the flow goes on */
  readonly finished: (task: Task) => Promise<void>
}

const startKey = 'redfish_fw_update_start_time'

/** Firmware updates by `UpdateService.SimpleUpdate`, one component after another, each followed to its end by a poller. */
export class FirmwareUpdates {
  private readonly bmcs: Bmcs
  private readonly files: FirmwareFiles
  private readonly kind: UpdateKind

  constructor(parts: DriverParts, kind: UpdateKind) {
    this.bmcs = parts.shared.of(Bmcs, parts)
    this.files = new FirmwareFiles(parts)
    this.kind = kind
  }

  /** Starts with the first; the rest is the poller's. */
  async start(task: Task, updates: readonly Update[]): Promise<'wait'> {
    setInternal(task.node, startKey, internalTime(task.clock.now()))
    setAsyncStep(task.node, { reboot: false, skipCurrentStep: true, polling: true })
    await this.store(task, updates)
    await this.submit(task)
    return 'wait'
  }

  /** One look; goes on as far as it can. */
  async poll(task: Task): Promise<void> {
    await task.upgradeLock('following a firmware update')
    const [current] = this.stored(task)
    if (current === undefined || (await this.outOfTime(task, current))) return
    try {
      await this.step(task, current)
    } catch (error) {
      if (isAway(error)) {
        // BMCs restart themselves in the course of an update: only time tells when one is lost
        task.log.info(`The BMC of node ${task.node.uuid} is away during its firmware update`, { error })
        return
      }
      if (!(error instanceof IronicError)) throw error
      await this.fail(task, error.message, error)
    }
  }

  /** Forgets updates of a flow that has ended badly, and takes their files away. */
  async discard(task: Task): Promise<void> {
    await task.upgradeLock('discarding firmware updates')
    await this.forget(task)
  }

  private async step(task: Task, current: Update): Promise<void> {
    await touchNodeProvisioning(task.db, task.node.id)
    switch (current.phase) {
      case 'task':
        return this.followTask(task, current)
      case 'version':
        return this.watchVersion(task, current)
      case 'wait':
        return this.waitAsTold(task, current)
      case 'settle':
        return this.settle(task)
      default:
        return this.submit(task)
    }
  }

  /** Hands the file to the BMC. */
  private async submit(task: Task): Promise<void> {
    const [current] = this.stored(task)
    if (current === undefined) return
    const { firmware_source: usual } = task.config.redfish
    const source = current.source ?? usual
    const address = await this.files.addressFor(task, current.url, { source, checksum: current.checksum })
    await this.bmcs.withSystem(task, `update the firmware of ${current.component}`, async (system) => {
      const { bmc } = system
      const path = link((await bmc.root())['UpdateService'])
      if (path === undefined) throw new PropertyMissing('UpdateService', bmc.client.rootPrefix)
      const service = await bmc.get(UpdateService, path)
      if (service.action('#UpdateService.SimpleUpdate') === undefined)
        throw new ActionMissing('#UpdateService.SimpleUpdate', path)
      const others = (await systemPaths(bmc)).length > 1
      current.version_before = await versionOf(task, system, current.component)
      const body = {
        ImageURI: address,
        TransferProtocol: address.startsWith('https:') ? 'HTTPS' : 'HTTP',
        ...(others && { Targets: [system.path] }),
      }
      const answer = await service.act('#UpdateService.SimpleUpdate', body, { repeatable: false })
      current.task_monitor = taskUri(answer, path)
    })
    await this.enter(task, current, 'task')
  }

  private async followTask(task: Task, current: Update): Promise<void> {
    const type = componentTypeOf(current.component)
    const report = await this.bmcs.telling(task, 'follow the firmware update', () =>
      this.bmcs.connected(task, (bmc) => lookAtTask(bmc, current.task_monitor!)),
    )
    if (report.outcome === 'failed')
      throw new RedfishError({
        error: `the firmware update of ${current.component} with ${current.url} failed${report.state === null ? '' : ` (task state ${report.state})`}: ${report.messages.join(' ') || 'the BMC gives no reason'}`,
      })
    if (report.outcome === 'running') return this.whileRunning(task, current, report, type)
    await this.noteEnd(task, current, report)
    if (type === 'bmc') return this.enter(task, current, 'version')
    if (current.rebooted !== true) await this.restart(task, current)
    await this.enter(task, current, current.wait === undefined ? 'settle' : 'wait')
  }

  /** Files that are staged take effect at a restart; which state means that differs by component. */
  private async whileRunning(
    task: Task,
    current: Update,
    { state }: TaskReport,
    type: ComponentType | null,
  ): Promise<void> {
    if (current.rebooted === true) return
    if (type === 'bmc') return
    if (type !== 'nic')
      return ['Starting', 'Running', 'Pending'].includes(state ?? '') ? this.restart(task, current) : undefined
    if (state !== 'Starting') return
    // some adapters begin by themselves, and others wait for the restart
    const now = task.clock.now()
    if (current.starting_since === undefined) {
      current.starting_since = internalTime(now)
      return this.keep(task, current)
    }
    const waited = secondsSince(current.starting_since, now)
    if (waited >= task.config.redfish.firmware_update_nic_starting_wait) await this.restart(task, current)
  }

  /** Ends that look alike and are not: done, done with warnings, and vanished. */
  private async noteEnd(task: Task, current: Update, { outcome, messages }: TaskReport): Promise<void> {
    if (outcome === 'done') return
    const text =
      outcome === 'gone'
        ? `The BMC of node ${task.node.uuid} no longer knows the task of the firmware update of ${current.component}; whether it worked is told by the version only.`
        : `The firmware update of ${current.component} of node ${task.node.uuid} ended with warnings: ${messages.join(' ')}`
    task.log.warning(text)
    current.warnings = [...(current.warnings ?? []), text]
    await task.addHistory(text, 'firmware update', 'INFO')
  }

  /** A BMC restarts with its new firmware: the version changes, or the time for that is over. */
  private async watchVersion(task: Task, current: Update): Promise<void> {
    const { firmware_update_reboot_delay: usual } = task.config.redfish
    const limit = current.wait ?? usual
    let version: string | null = null
    try {
      version = await this.bmcs.withSystem(task, 'read the BMC version', (system) => versionOf(task, system, 'bmc'))
    } catch (error) {
      if (!isAway(error)) throw error
    }
    const changed = version !== null && version !== current.version_before
    const over = secondsSince(current.since!, task.clock.now()) >= limit
    if (!changed && !over) return
    if (version === null) await this.restart(task, current) // not to be read at all: a restart is what is left to do
    await this.enter(task, current, 'settle')
  }

  private async waitAsTold(task: Task, current: Update): Promise<void> {
    if (secondsSince(current.since!, task.clock.now()) >= (current.wait ?? 0)) await this.enter(task, current, 'settle')
  }

  /** Waits until the BMC answers steadily, then goes on with the next component or with the flow. */
  private async settle(task: Task): Promise<void> {
    await this.steady(task)
    const [done, ...others] = this.stored(task)
    await this.readBack(task, done!)
    if (others.length > 0) {
      await this.store(task, others)
      return this.submit(task)
    }
    await this.forget(task)
    await this.kind.finished(task)
    await task.resumeFlow()
  }

  private async readBack(task: Task, update: Update): Promise<void> {
    if (componentTypeOf(update.component) === null) return
    const version = await this.bmcs.withSystem(task, 'read the firmware version', (system) =>
      versionOf(task, system, update.component),
    )
    if (version !== null && version === update.version_before)
      task.log.warning(
        `The firmware of ${update.component} of node ${task.node.uuid} is ${version} after the update as before`,
      )
  }

  /** So many readings in a row must work. @throws RedfishError when they do not in time */
  private async steady(task: Task): Promise<void> {
    const {
      firmware_update_required_successes: needed,
      firmware_update_validation_interval: interval,
      firmware_update_resource_validation_timeout: limit,
    } = task.config.redfish
    if (needed === 0 || limit === 0) return
    const deadline = task.clock.now().getTime() + limit * 1000
    let last: unknown
    for (let row = 0; ;) {
      try {
        await this.bmcs.withSystem(task, 'read the BMC', readAll)
        row++
      } catch (error) {
        if (!(error instanceof IronicError)) throw error
        last = error
        row = 0
      }
      if (row >= needed) return
      if (task.clock.now().getTime() + interval * 1000 > deadline)
        throw new RedfishError(
          {
            error: `the BMC of node ${task.node.uuid} does not answer steadily within ${limit} s after its firmware update`,
          },
          { cause: last },
        )
      await task.clock.sleep(interval * 1000, task.signal)
    }
  }

  private async restart(task: Task, current: Update): Promise<void> {
    current.rebooted = true
    delete current.starting_since
    await this.keep(task, current)
    await task.powerAction('rebooting', task.config.redfish.firmware_update_reboot_delay || null)
  }

  private async outOfTime(task: Task, current: Update): Promise<boolean> {
    const limit = task.config.redfish.firmware_update_overall_timeout
    const started = internalInfo(task.node)[startKey]
    if (limit === 0 || typeof started !== 'string' || secondsSince(started, task.clock.now()) < limit) return false
    await this.fail(
      task,
      `The firmware update of ${current.component} did not end within ${limit} s ([redfish]firmware_update_overall_timeout); it was in phase "${current.phase ?? 'submit'}". Look into the tasks of the BMC before it is started again.`,
    )
    return true
  }

  private async fail(task: Task, message: string, cause?: unknown): Promise<void> {
    await this.forget(task)
    await task.failFlow({ message: `Firmware update of node ${task.node.uuid}: ${message}`, cause })
  }

  private stored(task: Task): Update[] {
    const stored = internalInfo(task.node)[this.kind.key]
    return Array.isArray(stored) ? (stored as Update[]) : []
  }

  private async store(task: Task, updates: readonly Update[]): Promise<void> {
    setInternal(
      task.node,
      this.kind.key,
      updates.map((update) => ({ ...update })),
    )
    await task.save()
  }

  /** Writes the current update; those behind it stay. */
  private keep(task: Task, current: Update): Promise<void> {
    return this.store(task, [current, ...this.stored(task).slice(1)])
  }

  private async enter(task: Task, current: Update, phase: NonNullable<Update['phase']>): Promise<void> {
    current.phase = phase
    current.since = internalTime(task.clock.now())
    await this.keep(task, current)
  }

  private async forget(task: Task): Promise<void> {
    dropInternal(task.node, [
      this.kind.key,
      startKey,
      'firmware_cleanup',
      'bmc_fw_version_before_update',
      'firmware_reboot_requested',
    ])
    await task.save()
    await this.files.remove(task)
  }
}

const isAway = (error: unknown): boolean =>
  error instanceof RedfishConnectionError ||
  error instanceof BmcUnreachable ||
  (error instanceof IronicError && error.cause instanceof BmcUnreachable)

/** What must be readable for the BMC to count as back. */
async function readAll(system: SystemResource): Promise<void> {
  await managersOf(system)
  const [path] = system.data.Links?.Chassis ?? []
  const chassis = await system.bmc.find(Chassis, path)
  await system.bmc.membersIfAny(NetworkAdapter, chassis?.data.NetworkAdapters)
}

/** Times are stored without an offset, in UTC. */
const secondsSince = (stored: string, now: Date): number =>
  (now.getTime() - Date.parse(/Z|[+-]\d\d:\d\d$/.test(stored) ? stored : `${stored}Z`)) / 1000
