import {
  createPort,
  destroyPort,
  getPortById,
  listPortsByPortgroupId,
  updatePort,
  type PortValues,
} from '../../db/ports.ts'
import { destroyPortgroup, getPortgroupById, updatePortgroup, type PortgroupValues } from '../../db/portgroups.ts'
import { Conflict, InvalidState } from '../../errors/base.ts'
import { PortgroupNotEmpty, PortgroupPhysnetInconsistent } from '../../errors/port.ts'
import type { Node, Port, Portgroup } from '../../objects/index.ts'
import type { WithChanges } from '../../objects/versioned-object.ts'
import type { ConductorTask } from '../conductor-task.ts'
import type { Methods, ServiceParts } from './parts.ts'

const changeable: readonly (string | null)[] = ['enroll', 'inspecting', 'inspect wait', 'manageable']
const connectivity: readonly string[] = ['portgroup_id', 'pxe_enabled', 'local_link_connection', 'physical_network']

export const portMethods = (
  parts: ServiceParts,
): Methods<
  | 'create_port'
  | 'update_port'
  | 'destroy_port'
  | 'update_portgroup'
  | 'destroy_portgroup'
  | 'update_portgroup_physical_network'
> => ({
  create_port: (context, { port_obj: { data, changes } }) =>
    parts.tasks.shared(context, data.node_id!, 'port creation', async (task) => {
      await checkPhysicalNetwork(task, data, changes)
      return createPort(parts.db, insertable(data))
    }),

  update_port: (context, { port_obj }) =>
    parts.tasks.exclusive(context, port_obj.data.node_id!, 'port update', (task) => changePort(task, port_obj)),

  destroy_port: (context, { port: { data } }) =>
    parts.tasks.exclusive(context, data.node_id!, 'port deletion', async (task) => {
      const vif = task.driver.network.currentVif(task, data)
      if (vif !== null && !task.node.maintenance) {
        throw new InvalidState(
          `Port ${data.uuid} cannot be deleted while VIF ${vif} is attached to it; detach that first.`,
        )
      }
      await destroyPort(parts.db, data.id)
      task.log.info(`Port ${data.uuid} of node ${task.node.uuid} is deleted`)
    }),

  update_portgroup: (context, { portgroup_obj }) =>
    parts.tasks.exclusive(context, portgroup_obj.data.node_id!, 'portgroup update', (task) =>
      changePortgroup(task, portgroup_obj),
    ),

  destroy_portgroup: (context, { portgroup: { data } }) =>
    parts.tasks.exclusive(context, data.node_id!, 'portgroup deletion', async (task) => {
      await destroyPortgroup(parts.db, data.id)
      task.log.info(`Portgroup ${data.uuid} of node ${task.node.uuid} is deleted`)
    }),

  update_portgroup_physical_network: (context, { portgroup: { data }, new_physical_network }) =>
    parts.tasks.exclusive(context, data.node_id!, 'portgroup physical network update', async () => {
      await updatePortgroup(parts.db, data.id, { physical_network: new_physical_network })
      for (const port of await listPortsByPortgroupId(parts.db, data.id)) {
        if (port.physical_network !== new_physical_network) {
          await updatePort(parts.db, port.id, { physical_network: new_physical_network })
        }
      }
    }),
})

function insertable({
  id: _id,
  node_uuid: _node,
  created_at: _created,
  updated_at: _updated,
  ...values
}: Port): PortValues {
  return values
}

const changed = <T extends object>(data: T, changes: readonly (keyof T & string)[]): Partial<T> =>
  Object.fromEntries(
    changes.filter((field) => !notWritten.has(field)).map((field) => [field, data[field]]),
  ) as Partial<T>
const notWritten: ReadonlySet<string> = new Set(['id', 'uuid', 'node_uuid', 'created_at', 'updated_at'])

const mayChange = (node: Node): boolean => changeable.includes(node.provision_state) || node.maintenance

async function changePort(task: ConductorTask, { data, changes }: WithChanges<Port>): Promise<Port> {
  const { node } = task
  if (
    changes.includes('address') &&
    (node.provision_state === 'active' || node.instance_uuid !== null) &&
    !node.maintenance
  ) {
    throw new InvalidState(
      `The address of port ${data.uuid} cannot be changed while node ${node.uuid} is active or has an instance.`,
    )
  }
  const touched = connectivity.filter((field) => (changes as readonly string[]).includes(field))
  if (touched.length > 0 && !mayChange(node)) {
    throw new InvalidState(
      `${touched.join(', ')} of port ${data.uuid} can be changed only while node ${node.uuid} is in one of ${changeable.join(', ')} or in maintenance; it is in ${node.provision_state}.`,
    )
  }
  await checkPhysicalNetwork(task, data, changes)
  await task.driver.network.validate(task)
  const port = { ...(await getPortById(task.db, data.id)), ...changed(data, changes) }
  await task.driver.network.portChanged(task, port)
  return updatePort(task.db, data.id, changed(data, changes) as PortValues)
}

async function changePortgroup(task: ConductorTask, { data, changes }: WithChanges<Portgroup>): Promise<Portgroup> {
  const { node } = task
  if (changes.includes('node_id')) {
    if (!mayChange(node)) {
      throw new InvalidState(
        `Portgroup ${data.uuid} can move to node ${node.uuid} only while that is in one of ${changeable.join(', ')} or in maintenance; it is in ${node.provision_state}.`,
      )
    }
    if ((await listPortsByPortgroupId(task.db, data.id)).length > 0) {
      throw new PortgroupNotEmpty(`Portgroup ${data.uuid} has ports, so it cannot move to node ${node.uuid}.`)
    }
  }
  await task.driver.network.validate(task)
  const portgroup = { ...(await getPortgroupById(task.db, data.id)), ...changed(data, changes) }
  await task.driver.network.portgroupChanged(task, portgroup)
  return updatePortgroup(task.db, data.id, changed(data, changes) as PortgroupValues)
}

/**
 * All ports of a portgroup are in one physical network, the portgroup's own when it has one; the first port gives it its own.
 * @throws Conflict, PortgroupPhysnetInconsistent
 */
async function checkPhysicalNetwork(task: ConductorTask, port: Port, changes: readonly string[]): Promise<void> {
  if (port.portgroup_id === null || port.portgroup_id === undefined) return
  if (!changes.includes('portgroup_id') && !changes.includes('physical_network')) return
  const wanted = port.physical_network ?? null
  const portgroup = await getPortgroupById(task.db, port.portgroup_id)
  const others = (await listPortsByPortgroupId(task.db, port.portgroup_id)).filter(({ id }) => id !== port.id)
  const networks = new Set(others.map(({ physical_network }) => physical_network))
  if (networks.size > 1) {
    throw new PortgroupPhysnetInconsistent({ portgroup: portgroup.uuid, physical_networks: [...networks].join(', ') })
  }
  if (networks.size === 0) {
    if (portgroup.physical_network === null) {
      if (wanted !== null) await updatePortgroup(task.db, portgroup.id, { physical_network: wanted })
      return
    }
    networks.add(portgroup.physical_network)
  }
  const [network] = networks
  if (network === wanted) return
  throw new Conflict(
    `Port ${port.uuid} in physical network ${wanted} cannot join portgroup ${portgroup.uuid}, whose ports are in ${network ?? 'none'}.`,
  )
}
