import type { Bmc, Resource } from '../../lib/redfish/bmc.ts'
import type { SystemResource } from '../../lib/redfish/computer-system.ts'
import { RedfishProblem } from '../../lib/redfish/problems.ts'
import { Chassis, Drive, Power, SimpleStorage, Storage, Thermal } from '../../lib/redfish/resources.ts'
import { isObject, type ResourceKind, type Shape } from '../../lib/redfish/shape.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { Task } from '../task.ts'

type Readings = Record<string, JsonDict>
interface Status {
  readonly Health?: string | undefined
  readonly State?: string | undefined
}

const expand = '?$expand=.($levels=1)'

const withStatus = (readings: JsonDict, status: Status | undefined): JsonDict => ({
  ...readings,
  ...(status !== undefined && { state: status.State ?? null, health: lower(status.Health) }),
})
const lower = (health: string | undefined): string | null => health ?? null

/**
 * What the BMC measures: fans, temperatures, power supplies of the first chassis, and drives; each under a name that is unique in
 * the machine. A part that is missing or fails is left out.
 */
export async function readSensors(task: Task, system: SystemResource): Promise<JsonDict> {
  const { Manufacturer, Model, UUID } = system.data
  const part = async (what: string, read: () => Promise<Readings>): Promise<Readings> => {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof RedfishProblem)) throw error
      task.log.debug(`No ${what} sensors of node ${task.node.uuid}`, { error })
      return {}
    }
  }
  const [chassisPath] = system.data.Links?.Chassis ?? []
  let chassis: Resource<typeof Chassis.shape> | null = null
  await part('chassis', async () => {
    if (chassisPath !== undefined) chassis = await system.bmc.get(Chassis, `${chassisPath}${expand}`)
    return {}
  })
  const inChassis = (read: (chassis: Resource<typeof Chassis.shape>) => Promise<Readings>) => async () =>
    chassis === null ? {} : read(chassis)
  const thermal = once(async (from: Resource<typeof Chassis.shape>) => within(from, Thermal, 'Thermal'))
  return {
    Extra: { Manufacturer: Manufacturer ?? null, Model: Model ?? null, UUID: UUID ?? null },
    Fan: await part(
      'fan',
      inChassis(async (from) => fans(await thermal(from), from.id)),
    ),
    Temperature: await part(
      'temperature',
      inChassis(async (from) => temperatures(await thermal(from), from.id)),
    ),
    Power: await part(
      'power',
      inChassis(async (from) => supplies(await within(from, Power, 'Power'), from.id)),
    ),
    Drive: await part('drive', () => drives(system)),
  }
}

const once = <A, T>(work: (argument: A) => Promise<T>) => {
  let result: Promise<T> | undefined
  return (argument: A) => (result ??= work(argument))
}

/** A part of the chassis: expanded in it already, or at its link. */
async function within<S extends Shape>(
  chassis: Resource<typeof Chassis.shape>,
  kind: ResourceKind<S>,
  property: 'Thermal' | 'Power',
): Promise<Resource<S> | null> {
  const given = chassis.json[property]
  const path = chassis.data[property]
  if (path === undefined || !isObject(given)) return null
  if (Object.keys(given).some((name) => !name.startsWith('@'))) return chassisPart(chassis.bmc, kind, path, given)
  return chassis.bmc.find(kind, path)
}

const chassisPart = <S extends Shape>(bmc: Bmc, kind: ResourceKind<S>, path: string, body: Record<string, unknown>) =>
  bmc.read(kind, path, { status: 200, headers: {}, body, url: new URL(bmc.client.address) })

const given = (values: JsonDict): JsonDict =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value ?? null]))

function fans(thermal: Resource<typeof Thermal.shape> | null, chassis: string): Readings {
  const rows = (thermal?.data.Fans ?? []).map((fan): [string, JsonDict] => [
    `${fan.MemberId ?? fan.Name ?? fan.FanName}@${chassis}`,
    withStatus(
      given({
        identity: fan.MemberId,
        max_reading_range: fan.MaxReadingRange,
        min_reading_range: fan.MinReadingRange,
        reading: fan.Reading,
        reading_units: fan.ReadingUnits,
        serial_number: fan.SerialNumber,
        physical_context: fan.PhysicalContext,
      }),
      fan.Status,
    ),
  ])
  return Object.fromEntries(rows)
}

function temperatures(thermal: Resource<typeof Thermal.shape> | null, chassis: string): Readings {
  const rows = (thermal?.data.Temperatures ?? []).map((sensor): [string, JsonDict] => [
    `${sensor.MemberId ?? sensor.Name}@${chassis}`,
    withStatus(
      given({
        identity: sensor.MemberId,
        max_reading_range_temp: sensor.MaxReadingRangeTemp,
        min_reading_range_temp: sensor.MinReadingRangeTemp,
        reading_celsius: sensor.ReadingCelsius,
        physical_context: sensor.PhysicalContext,
        sensor_number: sensor.SensorNumber,
      }),
      sensor.Status,
    ),
  ])
  return Object.fromEntries(rows)
}

function supplies(power: Resource<typeof Power.shape> | null, chassis: string): Readings {
  const rows = (power?.data.PowerSupplies ?? []).map((supply): [string, JsonDict] => [
    `${supply.MemberId ?? supply.Name}:${power!.id}@${chassis}`,
    withStatus(
      given({
        power_capacity_watts: supply.PowerCapacityWatts,
        line_input_voltage: supply.LineInputVoltage,
        last_power_output_watts: supply.LastPowerOutputWatts,
        serial_number: supply.SerialNumber,
      }),
      supply.Status,
    ),
  ])
  return Object.fromEntries(rows)
}

interface DriveData {
  readonly Name?: string | undefined
  readonly Model?: string | undefined
  readonly CapacityBytes?: number | undefined
  readonly Status?: Status | undefined
}

function drive(data: DriveData, storage: string, system: string): [string, JsonDict] {
  const sensor = withStatus(
    given({ name: data.Name, model: data.Model, capacity_bytes: data.CapacityBytes }),
    data.Status,
  )
  // a drive that is healthy is there
  if (!sensor['state'] && sensor['health']) sensor['state'] = 'Enabled'
  return [`${data.Name}:${storage}@${system}`, sensor]
}

/** Drives by the simple resource where there is one, else by the full one. */
async function drives(system: SystemResource): Promise<Readings> {
  const { bmc } = system
  const systemId = system.path.split('/').at(-1) ?? system.id
  if (system.data.SimpleStorage !== undefined) {
    const storages = await bmc.membersIfAny(SimpleStorage, `${system.data.SimpleStorage}${expand}`)
    return Object.fromEntries(
      storages.flatMap((storage) =>
        (storage.data.Devices ?? [])
          .filter((device) => Boolean(device.CapacityBytes))
          .map((device) => drive(device, storage.id, systemId)),
      ),
    )
  }
  if (system.data.Storage === undefined) return {}
  const found: Readings = {}
  for (const storage of await bmc.membersIfAny(Storage, `${system.data.Storage}${expand}`)) {
    for (const path of storage.data.Drives ?? []) {
      const resource = await bmc.find(Drive, path)
      if (resource === null) continue
      const [name, sensor] = drive(resource.data, storage.id, systemId)
      found[name] = sensor
    }
  }
  return found
}
