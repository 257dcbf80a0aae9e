import { booleanOr } from '../../domain/booleans.ts'
import { dropInternal, internalInfo, setInternal } from '../../domain/internal-info.ts'
import { wantedRaidConfig } from '../../domain/raid-target.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { IronicError } from '../../errors/define.ts'
import { RedfishConnectionError, RedfishError } from '../../errors/driver.ts'
import type { Resource } from '../../lib/redfish/bmc.ts'
import type { SystemResource } from '../../lib/redfish/computer-system.ts'
import { Storage, StorageController, Volume, VolumeCollection } from '../../lib/redfish/resources.ts'
import { isObject, listOf, text } from '../../lib/redfish/shape.ts'
import { lookAtTask, taskUri } from '../../lib/redfish/task.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { updateRaidInfo } from '../agent/post-step-hooks.ts'
import { rebootToFinishStep } from '../agent/ramdisk-boot.ts'
import { failStates, setAsyncStep, waitStates } from '../async-steps.ts'
import type { NodePeriodic, StepSpec } from '../interfaces/base.ts'
import { RaidInterface } from '../interfaces/driver.ts'
import type { DriverParts, Task } from '../task.ts'
import { Bmcs } from './bmcs.ts'
import { redfishProperties } from './driver-info.ts'
import { levelOfRaidType, type PhysicalDisk, type PlannedVolume, planVolumes, type WantedVolume } from './raid-plan.ts'
import { drivesOf } from './storage-inventory.ts'

const stateKey = 'raid_configs'
const gib = 1024 ** 3

type StorageResource = Resource<typeof Storage.shape>

/**
 * What is stored while volumes come and go. Volumes to delete stand before those to create; a volume is taken off the list before
 * its request is sent, and its task is followed before the next.
 */
interface RaidState {
  readonly operation: 'create' | 'delete'
  /** paths of volumes */
  readonly to_delete: readonly string[]
  readonly pending: readonly PlannedVolume[]
  readonly task_monitor_uri: readonly string[]
}

const argument = (description: string) => ({ description, required: false })
const createArguments = {
  create_root_volume: argument('Whether the root volume is created. True when left out.'),
  create_nonroot_volumes: argument('Whether the other volumes are created.'),
  delete_existing: argument('Whether existing volumes are deleted first. False when left out.'),
}

export class RedfishRaid extends RaidInterface {
  readonly name: string = 'redfish'
  protected readonly bmcs: Bmcs

  constructor(parts: DriverParts) {
    super(parts)
    this.bmcs = parts.shared.of(Bmcs, parts)
  }

  override properties() {
    return redfishProperties
  }

  override async validateRaidConfig(task: Task, config: JsonDict): Promise<void> {
    await super.validateRaidConfig(task, config)
    const disks = config['logical_disks'] as JsonDict[]
    if (disks.some((disk) => disk['interface_type'] === 'scsi'))
      throw new InvalidParameterValue('Redfish knows no disks of interface type scsi; use sas or sata.')
  }

  override steps(): readonly StepSpec[] {
    return [
      ...(['deploy', 'service'] as const).map((phase): StepSpec => ({
        phase,
        step: 'apply_configuration',
        priority: 0,
        args: { raid_config: { description: 'The RAID configuration to apply.', required: true }, ...createArguments },
        run: (task, args) => this.applyConfiguration(task, args),
      })),
      {
        phase: 'clean',
        step: 'create_configuration',
        priority: 0,
        abortable: false,
        args: createArguments,
        run: (task, args) => this.createConfiguration(task, args, true),
      },
      ...(['clean', 'deploy', 'service'] as const).map((phase): StepSpec => ({
        phase,
        step: 'delete_configuration',
        priority: 0,
        run: (task) =>
          this.change(task, 'delete', async (system) => ({ to_delete: await volumePaths(system), pending: [] })),
      })),
    ]
  }

  override periodics(): readonly NodePeriodic[] {
    const { raid_config_status_interval: status, raid_config_fail_interval: fail } = this.parts.config.redfish
    const concerns = (node: { driver_internal_info: Record<string, unknown> | null }) =>
      Boolean(node.driver_internal_info?.[stateKey])
    return [
      {
        name: 'volumes being made',
        interval: status,
        filters: { reserved: false, provision_state_in: waitStates },
        concerns,
        run: (task) => this.poll(task),
      },
      {
        name: 'volumes of failed nodes',
        interval: fail,
        filters: { reserved: false, provision_state_in: failStates },
        concerns,
        run: (task) => this.discard(task),
      },
    ]
  }

  private async applyConfiguration(task: Task, args: Record<string, unknown>): Promise<'wait' | void> {
    const config = args['raid_config']
    if (!isObject(config)) throw new InvalidParameterValue('raid_config of step apply_configuration must be an object.')
    await this.validateRaidConfig(task, config)
    task.node.target_raid_config = { ...config }
    await task.save()
    return this.createConfiguration(task, args, false)
  }

  private createConfiguration(task: Task, args: Record<string, unknown>, nonRootToo: boolean): Promise<'wait' | void> {
    const root = booleanOr(args['create_root_volume'], true)
    const nonRoot = booleanOr(args['create_nonroot_volumes'], nonRootToo)
    const target = task.node.target_raid_config ?? {}
    wantedRaidConfig(task.node, { root, nonRoot }) // says what is wrong when nothing is wanted
    return this.change(task, 'create', async (system) => {
      const planned = planVolumes((target['logical_disks'] ?? []) as WantedVolume[], await physicalDisks(system))
      return {
        to_delete: booleanOr(args['delete_existing'], false) ? await volumePaths(system) : [],
        pending: planned.filter((volume) => (volume.isRoot ? root : nonRoot)),
      }
    })
  }

  private async change(
    task: Task,
    operation: RaidState['operation'],
    plan: (system: SystemResource) => Promise<Pick<RaidState, 'to_delete' | 'pending'>>,
  ): Promise<'wait' | void> {
    const planned = await this.bmcs.withSystem(task, 'plan the volumes', plan)
    await this.store(task, { operation, task_monitor_uri: [], ...planned })
    const outcome = await this.goOn(task)
    if (outcome === 'done') return this.finish(task)
    setAsyncStep(task.node, { reboot: outcome === 'reboot', skipCurrentStep: true, polling: true })
    await task.save()
    if (outcome === 'reboot') await rebootToFinishStep(task)
    return 'wait'
  }

  /** Sends what is left until a task must be waited for. `reboot`: it begins at the next start of the machine. */
  private async goOn(task: Task): Promise<'done' | 'wait' | 'reboot'> {
    for (;;) {
      const state = stateOf(task)
      const [path, ...pathsLeft] = state.to_delete
      const [volume, ...volumesLeft] = state.pending
      if (path === undefined && volume === undefined) return 'done'
      const rest = path === undefined ? { ...state, pending: volumesLeft } : { ...state, to_delete: pathsLeft }
      await this.store(task, rest)
      const sent = await this.bmcs.withSystem(
        task,
        path === undefined ? 'create a volume' : `delete volume ${path}`,
        (system) => (path === undefined ? createVolume(system, volume!) : deleteVolume(system, path)),
      )
      if (sent === null) continue
      await this.store(task, { ...rest, task_monitor_uri: [sent.uri] })
      return sent.onReset ? 'reboot' : 'wait'
    }
  }

  private async poll(task: Task): Promise<void> {
    await task.upgradeLock('following the RAID configuration')
    const state = stateOf(task)
    try {
      const [uri] = state.task_monitor_uri
      if (uri !== undefined && !(await this.isOver(task, uri))) return
      await this.store(task, { ...state, task_monitor_uri: [] })
      const outcome = await this.goOn(task)
      if (outcome === 'reboot') await rebootToFinishStep(task)
      if (outcome !== 'done') return
      await this.finish(task)
      await task.resumeFlow()
    } catch (error) {
      if (error instanceof RedfishConnectionError) {
        task.log.info(`The BMC of node ${task.node.uuid} is away while its volumes are made`, { error })
        return
      }
      if (!(error instanceof IronicError)) throw error
      await this.forget(task)
      await task.failFlow({ message: `RAID configuration of node ${task.node.uuid}: ${error.message}`, cause: error })
    }
  }

  /** @throws RedfishError when the task has failed */
  private async isOver(task: Task, uri: string): Promise<boolean> {
    const report = await this.bmcs.telling(task, 'follow the volumes', () =>
      this.bmcs.connected(task, (bmc) => lookAtTask(bmc, uri)),
    )
    if (report.outcome === 'running') return false
    if (report.outcome === 'failed')
      throw new RedfishError({
        error: `the task ${uri} of the BMC failed${report.state === null ? '' : ` (state ${report.state})`}: ${report.messages.join(' ') || 'it gives no reason'}`,
      })
    if (report.outcome !== 'done')
      task.log.warning(
        `The task ${uri} of node ${task.node.uuid} ${report.outcome === 'gone' ? 'is no longer known to the BMC; its volumes tell' : `ended with warnings: ${report.messages.join(' ')}`}`,
      )
    return true
  }

  /** What the BMC has now becomes the node's RAID configuration. */
  private async finish(task: Task): Promise<void> {
    await this.forget(task)
    const disks = await this.bmcs.withSystem(task, 'read the volumes', presentVolumes)
    updateRaidInfo(task.node, { logical_disks: disks }, task.clock.now())
    await task.save()
  }

  private async discard(task: Task): Promise<void> {
    await task.upgradeLock('discarding the RAID configuration')
    await this.finish(task)
  }

  private async forget(task: Task): Promise<void> {
    dropInternal(task.node, [stateKey])
    await task.save()
  }

  private async store(task: Task, state: RaidState): Promise<void> {
    setInternal(task.node, stateKey, state)
    await task.save()
  }
}

function stateOf(task: Task): RaidState {
  const state = internalInfo(task.node)[stateKey]
  const told = isObject(state) ? state : {}
  const list = <T>(name: string) => (Array.isArray(told[name]) ? (told[name] as T[]) : [])
  return {
    operation: told['operation'] === 'delete' ? 'delete' : 'create',
    to_delete: list<string>('to_delete'),
    pending: list<PlannedVolume>('pending'),
    task_monitor_uri: list<string>('task_monitor_uri'),
  }
}

/** Storage whose controller says that it makes no RAID is left alone. */
async function raidStorages(system: SystemResource): Promise<StorageResource[]> {
  const found: StorageResource[] = []
  for (const storage of await system.bmc.membersIfAny(Storage, system.data.Storage)) {
    const types = await raidTypesOf(storage)
    if (types === null || types.length > 0) found.push(storage)
  }
  return found
}

async function raidTypesOf(storage: StorageResource): Promise<readonly string[] | null> {
  const [first] = storage.data.StorageControllers ?? []
  const inline = first === undefined ? undefined : listOf(text)(first['SupportedRAIDTypes'])
  if (inline !== undefined) return inline
  const [controller] = await storage.bmc.membersIfAny(StorageController, storage.data.Controllers)
  return controller?.data.SupportedRAIDTypes ?? null
}

async function physicalDisks(system: SystemResource): Promise<PhysicalDisk[]> {
  const disks: PhysicalDisk[] = []
  for (const storage of await raidStorages(system)) {
    for (const drive of await drivesOf(storage)) {
      const { CapacityBytes, MediaType, Protocol } = drive.data
      if (!CapacityBytes) continue
      disks.push({
        id: drive.id,
        path: drive.path,
        storage: storage.id,
        capacity: CapacityBytes,
        mediaType: MediaType ?? null,
        protocol: Protocol ?? null,
      })
    }
  }
  return disks
}

async function volumePaths(system: SystemResource): Promise<string[]> {
  const paths: string[] = []
  for (const storage of await raidStorages(system)) {
    const volumes = await storage.bmc.membersIfAny(Volume, storage.data.Volumes)
    paths.push(...volumes.filter((volume) => volume.data.RAIDType !== undefined).map((volume) => volume.path))
  }
  return paths
}

interface Sent {
  readonly uri: string
  readonly onReset: boolean
}

/** Null when the volume is there at once. */
async function createVolume(system: SystemResource, volume: PlannedVolume): Promise<Sent | null> {
  const storages = await system.bmc.membersIfAny(Storage, system.data.Storage)
  const storage = storages.find((each) => each.id === volume.storage)
  if (storage?.data.Volumes === undefined)
    throw new RedfishError({
      error: `there is no controller ${volume.storage} that makes volumes; there are ${storages.map((each) => each.id).join(', ') || 'none'}`,
    })
  const { applyTime, path } = await applyTimeOf(storage)
  const body = {
    RAIDType: volume.raidType,
    ...(volume.bytes !== null && { CapacityBytes: volume.bytes }),
    ...(volume.drives.length > 0 && { Links: { Drives: volume.drives.map((drive) => ({ '@odata.id': drive })) } }),
    ...(volume.name !== null && { Name: volume.name }),
    ...(applyTime !== null && { '@Redfish.OperationApplyTime': applyTime }),
  }
  const answer = await system.bmc.client.call('POST', path, { body, signal: system.bmc.signal, repeatable: false })
  return answer.status === 202 ? { uri: taskUri(answer, path), onReset: applyTime === 'OnReset' } : null
}

/** Null when the volume is gone at once. */
async function deleteVolume(system: SystemResource, path: string): Promise<Sent | null> {
  const volumes = path.slice(0, path.lastIndexOf('/'))
  const storages = await system.bmc.membersIfAny(Storage, system.data.Storage)
  const storage = storages.find((each) => each.data.Volumes?.replace(/\/+$/, '') === volumes)
  const applyTime = storage === undefined ? null : (await applyTimeOf(storage)).applyTime
  const body = applyTime === null ? undefined : { '@Redfish.OperationApplyTime': applyTime }
  const answer = await system.bmc.client.call('DELETE', path, { body, signal: system.bmc.signal, repeatable: false })
  return answer.status === 202 ? { uri: taskUri(answer, path), onReset: applyTime === 'OnReset' } : null
}

/** At once where the BMC can do that, else at the next start; null when it does not say. */
async function applyTimeOf(storage: StorageResource): Promise<{ path: string; applyTime: string | null }> {
  const path = storage.need('Volumes')
  const collection = await storage.bmc.get(VolumeCollection, path)
  const supported = collection.data['@Redfish.OperationApplyTimeSupport']?.SupportedValues ?? []
  return { path, applyTime: ['Immediate', 'OnReset'].find((time) => supported.includes(time)) ?? null }
}

/** Volumes as `raid_config` shows them, with the size that they really have. */
async function presentVolumes(system: SystemResource): Promise<JsonDict[]> {
  const disks: JsonDict[] = []
  for (const storage of await system.bmc.membersIfAny(Storage, system.data.Storage)) {
    for (const volume of await storage.bmc.membersIfAny(Volume, storage.data.Volumes)) {
      const level = levelOfRaidType(volume.data.RAIDType ?? '')
      if (level === null) continue
      disks.push({
        id: volume.id,
        name: volume.data.Name ?? null,
        controller: storage.id,
        size_gb: Math.floor((volume.data.CapacityBytes ?? 0) / gib),
        raid_level: level,
      })
    }
  }
  return disks
}
