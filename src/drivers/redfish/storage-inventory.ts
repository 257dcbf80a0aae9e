import type { Resource } from '../../lib/redfish/bmc.ts'
import type { SystemResource } from '../../lib/redfish/computer-system.ts'
import { RedfishProblem } from '../../lib/redfish/problems.ts'
import { Drive, SimpleStorage, Storage, Volume } from '../../lib/redfish/resources.ts'
import { isObject, listOf, number, text } from '../../lib/redfish/shape.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { Task } from '../task.ts'

export interface StorageFacts {
  readonly disks: readonly JsonDict[]
  readonly controllers: readonly JsonDict[]
  /** sizes in bytes, by where they were told */
  readonly simple: readonly number[]
  readonly volumes: readonly number[]
  readonly drives: readonly number[]
}

const gib = 1024 ** 3
/** What is smaller is a stick or a virtual medium, not the disk of a machine. */
const smallestDisk = 4 * gib

type DriveResource = Resource<typeof Drive.shape>
type StorageResource = Resource<typeof Storage.shape>

/** Everything that the BMC says of storage; a part that fails is left out. */
export async function readStorage(task: Task, system: SystemResource): Promise<StorageFacts> {
  const part = async <T>(read: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof RedfishProblem)) throw error
      task.log.debug(`The BMC of node ${task.node.uuid} does not tell all of its storage`, { error })
      return otherwise
    }
  }
  const { bmc } = system
  const devices = await part(
    async () =>
      (await bmc.membersIfAny(SimpleStorage, system.data.SimpleStorage)).flatMap(({ data }) => data.Devices ?? []),
    [],
  )
  const storages = await part(() => bmc.membersIfAny(Storage, system.data.Storage), [])
  const drives = new Map<StorageResource, DriveResource[]>()
  const volumes: number[] = []
  for (const storage of storages) {
    volumes.push(...(await part(() => volumeSizes(storage), [])))
    drives.set(storage, await part(() => drivesOf(storage), []))
  }
  const allDrives = [...drives.values()].flat()
  const simpleDisks = devices.map((device) => ({ name: device.Name ?? null, size: device.CapacityBytes ?? null }))
  return {
    disks: system.data.Storage === undefined ? simpleDisks : allDrives.map(disk),
    controllers: storages.map((storage) => controller(storage, drives.get(storage) ?? [])),
    simple: sizes(devices.filter((device) => device.Status?.State === 'Enabled').map((device) => device.CapacityBytes)),
    volumes: sizes(volumes),
    drives: sizes(allDrives.map((drive) => drive.data.CapacityBytes)),
  }
}

/** Size of the root disk in GiB, one less to leave room for alignment: the smallest that could be one, volumes before drives. */
export function localGb({ simple, volumes, drives }: StorageFacts): number {
  const first = (bytes: readonly number[]) => bytes.find((size) => size >= smallestDisk) ?? 0
  const full = first(volumes) || first(drives)
  const plain = first(simple)
  const size = full > 0 && plain > 0 ? Math.min(full, plain) : Math.max(full, plain)
  return Math.max(0, Math.floor(size / gib - 1))
}

const sizes = (values: readonly (number | undefined)[]): number[] =>
  values.filter((size) => size !== undefined).toSorted((a, b) => a - b)

async function volumeSizes(storage: StorageResource): Promise<number[]> {
  const volumes = await storage.bmc.membersIfAny(Volume, storage.data.Volumes)
  return volumes.map(({ data }) => data.CapacityBytes).filter((size) => size !== undefined)
}

export async function drivesOf(storage: StorageResource): Promise<DriveResource[]> {
  const found: DriveResource[] = []
  for (const path of storage.data.Drives ?? storage.data.Links?.Drives ?? []) {
    const drive = await storage.bmc.find(Drive, path.replace(/\/+$/, ''))
    if (drive !== null) found.push(drive)
  }
  return found
}

function disk({ data }: DriveResource): JsonDict {
  return {
    name: data.Name ?? null,
    size: data.CapacityBytes ?? null,
    vendor: data.Manufacturer ?? null,
    model: data.Model ?? null,
    serial: data.SerialNumber ?? null,
    ...(data.MediaType !== undefined && { rotational: data.MediaType === 'HDD' }),
  }
}

interface Status {
  readonly Health?: string | undefined
  readonly State?: string | undefined
  readonly HealthRollup?: string | undefined
}

function status(told: Status | undefined): JsonDict {
  const facts = Object.entries({ health: told?.Health, state: told?.State, health_rollup: told?.HealthRollup }).filter(
    ([, value]) => value !== undefined,
  )
  return facts.length === 0 ? {} : { status: Object.fromEntries(facts) }
}

function controller(storage: StorageResource, drives: readonly DriveResource[]): JsonDict {
  return {
    id: storage.id,
    name: storage.data.Name ?? null,
    storage_controllers: (storage.data.StorageControllers ?? []).map((part) => ({
      member_id: text(part['MemberId']) ?? null,
      name: text(part['Name']) ?? null,
      raid_types: listOf(text)(part['SupportedRAIDTypes']) ?? [],
      speed_gbps: number(part['SpeedGbps']) ?? null,
      controller_protocols: listOf(text)(part['SupportedControllerProtocols']) ?? [],
      device_protocols: listOf(text)(part['SupportedDeviceProtocols']) ?? [],
      ...(isObject(part['Status']) && status(statusOf(part['Status']))),
    })),
    drives: drives.map(({ data, id }) => ({
      name: data.Name ?? null,
      size: data.CapacityBytes ?? null,
      id,
      media_type: data.MediaType ?? null,
      serial_number: data.SerialNumber ?? null,
      manufacturer: data.Manufacturer ?? null,
      model: data.Model ?? null,
      revision: data.Revision ?? null,
      ...(data.Protocol !== undefined && { protocol: data.Protocol }),
      ...status(data.Status),
    })),
  }
}

const statusOf = (told: Readonly<Record<string, unknown>>): Status => ({
  Health: text(told['Health']),
  State: text(told['State']),
  HealthRollup: text(told['HealthRollup']),
})
