import { MissingParameterValue } from '../../errors/driver.ts'
import type { Resource } from '../../lib/redfish/bmc.ts'
import type { SystemResource } from '../../lib/redfish/computer-system.ts'
import { RedfishProblem } from '../../lib/redfish/problems.ts'
import { Chassis, Drive, type indicatorLed, Storage } from '../../lib/redfish/resources.ts'
import type { Shape } from '../../lib/redfish/shape.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { Task } from '../task.ts'

/** Lamp states of Redfish as the API names them. */
const lampStates = { Lit: 'on', Off: 'off', Blinking: 'blinking', Unknown: 'unknown' } as const
const settable: JsonDict = { readonly: false, states: ['blinking', 'off', 'on'] }

type Lamp = Resource<Shape & { IndicatorLED: typeof indicatorLed }>
/** Indicator id to the resource whose lamp it is. */
type Lamps = Map<string, Lamp>

const lit = (resource: Lamp): boolean => resource.data.IndicatorLED !== undefined

async function ofSystem(system: SystemResource): Promise<Lamps> {
  return new Map(lit(system) ? [[system.data.UUID ?? system.id, system]] : [])
}

async function ofChassis(system: SystemResource): Promise<Lamps> {
  const lamps: Lamps = new Map()
  for (const path of system.data.Links?.Chassis ?? []) {
    const chassis = await system.bmc.find(Chassis, path)
    if (chassis !== null && lit(chassis)) lamps.set(chassis.data.UUID ?? chassis.id, chassis)
  }
  return lamps
}

async function ofDisks(system: SystemResource): Promise<Lamps> {
  const lamps: Lamps = new Map()
  for (const storage of await system.bmc.membersIfAny(Storage, system.data.Storage)) {
    for (const path of storage.data.Drives ?? []) {
      const drive = await system.bmc.find(Drive, path)
      if (drive !== null && lit(drive)) lamps.set(`${storage.id}:${drive.id}`, drive)
    }
  }
  return lamps
}

/** Components that have lamps, and where these are found. */
const components: Readonly<Record<string, (system: SystemResource) => Promise<Lamps>>> = {
  chassis: ofChassis,
  system: ofSystem,
  disk: ofDisks,
}

/** @param component null: all */
export async function listIndicators(
  system: SystemResource,
  component: string | null,
): Promise<Record<string, Record<string, JsonDict>>> {
  const found: Record<string, Record<string, JsonDict>> = {}
  for (const [name, read] of Object.entries(components)) {
    if (component !== null && component !== name) continue
    try {
      const lamps = await read(system)
      if (lamps.size > 0 || name !== 'system')
        found[name] = Object.fromEntries([...lamps.keys()].map((id) => [id, settable]))
    } catch (error) {
      if (!(error instanceof RedfishProblem)) throw error // a part that cannot be read shows no lamps
    }
  }
  return found
}

async function lampOf(task: Task, system: SystemResource, component: string, indicator: string): Promise<Lamp> {
  const lamp = (await components[component]?.(system))?.get(indicator)
  if (lamp === undefined)
    throw new MissingParameterValue(`Node ${task.node.uuid} has no indicator ${indicator} of component ${component}.`)
  return lamp
}

export async function readIndicator(
  task: Task,
  system: SystemResource,
  component: string,
  indicator: string,
): Promise<string> {
  const { IndicatorLED } = (await lampOf(task, system, component, indicator)).data
  return IndicatorLED === undefined ? 'unknown' : lampStates[IndicatorLED]
}

export async function writeIndicator(
  task: Task,
  system: SystemResource,
  component: string,
  indicator: string,
  state: string,
): Promise<void> {
  const led = Object.entries(lampStates).find(([, name]) => name === state)?.[0]
  if (led === undefined) throw new MissingParameterValue(`${state} is no state of an indicator.`)
  await (await lampOf(task, system, component, indicator)).patch({ IndicatorLED: led })
}
