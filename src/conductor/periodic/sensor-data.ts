import { randomUUID } from 'node:crypto'
import type { Config } from '../../config/index.ts'
import { UnsupportedDriverExtension } from '../../errors/driver.ts'
import type { Node } from '../../objects/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { messageOf } from '../power-action.ts'
import type { ServiceParts } from '../service/parts.ts'
import { forEachNode, ownNodePages, periodicContext } from './own-nodes.ts'
import type { PeriodicTask } from './scheduler.ts'

const context = periodicContext('sensor data')

/** Sends what the sensors of nodes say as notifications (`hardware.<driver>.metrics`). */
export function sensorData(config: Config): PeriodicTask {
  const { send_sensor_data: on, enable_for_nodes: ofNodes, interval, workers, wait_timeout: limit } = config.sensor_data
  return {
    name: 'sensor data',
    interval: on && ofNodes ? interval : 0,
    async run(parts) {
      if (parts.sendSensors === undefined) return
      const filters = config.sensor_data.enable_for_undeployed_nodes ? {} : { provision_state: 'active' }
      const started = parts.clock.now().getTime()
      for await (const page of ownNodePages(parts, { maintenance: false, ...filters })) {
        if (parts.clock.now().getTime() - started > limit * 1000) {
          parts.log.warning(
            `The sensors of all nodes were not read within ${limit} s; the rest waits for the next turn`,
          )
          return
        }
        await forEachNode(parts, page, workers, (node) => sendSensors(parts, node))
      }
    },
  }
}

async function sendSensors(parts: ServiceParts, node: Node): Promise<void> {
  const read = await readSensors(parts, node)
  const payload = read === undefined ? {} : wanted(read, parts.config.sensor_data.data_types)
  if (Object.keys(payload).length === 0) return
  const type = `hardware.${node.driver}.metrics`
  parts.sendSensors!(context, type, {
    message_id: randomUUID(),
    instance_uuid: node.instance_uuid,
    node_uuid: node.uuid,
    timestamp: `${parts.clock.now().toISOString().slice(0, 23)}000`,
    node_name: node.name,
    event_type: `${type}.update`,
    payload,
  })
}

/** Undefined when the node has none, or they cannot be read: told in the log, and tried again next time. */
async function readSensors(parts: ServiceParts, node: Node): Promise<JsonDict | undefined> {
  try {
    return await parts.tasks.sharedOn(context, node, 'reading sensors', async (task) => {
      await task.driver.management.validate(task)
      return task.driver.management.getSensorsData(task)
    })
  } catch (error) {
    if (error instanceof UnsupportedDriverExtension) return undefined
    parts.log.warning(`The sensors of node ${node.uuid} could not be read: ${messageOf(error)}`)
    return undefined
  }
}

/** `[sensor_data]data_types`: kinds of sensors, or ALL. */
function wanted(read: JsonDict, types: readonly string[]): JsonDict {
  const names = new Set(types.map((type) => type.toLowerCase()))
  if (names.has('all')) return read
  return Object.fromEntries(Object.entries(read).filter(([type]) => names.has(type.toLowerCase())))
}
