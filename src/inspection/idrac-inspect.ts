import { EthernetInterface, Bios } from '../lib/redfish/resources.ts'
import { bootOf, type SystemResource } from '../lib/redfish/computer-system.ts'
import { RedfishProblem } from '../lib/redfish/problems.ts'
import { isObject, text } from '../lib/redfish/shape.ts'
import type { HardwareFacts } from '../drivers/redfish/inventory.ts'
import type { Task } from '../drivers/task.ts'
import type { JsonDict } from '../objects/versioned-object.ts'
import { RedfishInspect } from './redfish-inspect.ts'

/** The network boot devices of the firmware, by the BIOS attributes that say whether and which. */
const pxeDevices = [1, 2, 3, 4].map((index) => ({ enabled: `PxeDev${index}EnDis`, nic: `PxeDev${index}Interface` }))
const noLink = 'No Link'

/** iDRACs know more: the service tag, which interfaces boot from the network, and the switch ports that they are connected to. */
export class DracRedfishInspect extends RedfishInspect {
  override readonly name: string = 'idrac-redfish'

  protected override async adjust(task: Task, system: SystemResource, facts: HardwareFacts): Promise<void> {
    const { SKU } = system.data
    if (SKU) facts.inventory['system_vendor'] = { ...facts.inventory['system_vendor'], serial_number: SKU }
    const switches = await this.optional(task, () => switchPorts(system), {})
    if (Object.keys(switches).length > 0) facts.pluginData['parsed_lldp'] = switches
    const [mac] = await this.optional(task, () => pxeMacs(system), [])
    if (mac !== undefined) facts.inventory['boot'] = { ...facts.inventory['boot'], pxe_interface: mac }
  }

  private async optional<T>(task: Task, read: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof RedfishProblem)) throw error
      task.log.debug(`The iDRAC of node ${task.node.uuid} does not tell all of itself`, { error })
      return otherwise
    }
  }
}

/** MACs of the interfaces that UEFI boots the network from. */
async function pxeMacs(system: SystemResource): Promise<string[]> {
  if ((await bootOf(system)).BootSourceOverrideMode !== 'UEFI') return []
  const attributes = (await system.bmc.find(Bios, system.data.Bios))?.data.Attributes ?? {}
  const nics = await system.bmc.membersIfAny(EthernetInterface, system.data.EthernetInterfaces)
  return pxeDevices
    .filter(({ enabled }) => attributes[enabled] === 'Enabled')
    .map(({ nic }) => nics.find((each) => each.id === attributes[nic])?.data.MACAddress?.toLowerCase())
    .filter((mac) => mac !== undefined)
}

async function switchPorts(system: SystemResource): Promise<JsonDict> {
  const { bmc } = system
  const path = `${system.path.replace(/\/+$/, '')}/NetworkPorts/Oem/Dell/DellSwitchConnections`
  const { body } = await bmc.client.call('GET', path, { signal: bmc.signal })
  const members = isObject(body) && Array.isArray(body['Members']) ? body['Members'].filter(isObject) : []
  const heard: JsonDict = {}
  for (const member of members) {
    const [nic, mac, port] = [
      text(member['FQDD']),
      text(member['SwitchConnectionID']),
      text(member['SwitchPortConnectionID']),
    ]
    if (!nic || !mac || !port || mac === noLink || port === noLink) continue
    heard[nic] = { switch_chassis_id: mac, switch_port_id: port }
  }
  return heard
}
