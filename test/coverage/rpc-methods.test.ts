/** Every RPC method of the contract is called once on a conductor; the list is the contract's. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestNode, startTestConductor, testContext, type TestConductor } from '../../src/conductor/for-tests.ts'
import { createPortgroup } from '../../src/db/portgroups.ts'
import { updateNode } from '../../src/db/nodes.ts'
import { createVolumeConnector } from '../../src/db/volume-connectors.ts'
import { createVolumeTarget } from '../../src/db/volume-targets.ts'
import type { Node, Port } from '../../src/objects/index.ts'
import { conductorContract } from '../../src/rpc/conductor.ts'

type Method = keyof typeof conductorContract.methods
interface Call {
  readonly state?: string
  readonly row?: Partial<Node>
  readonly args: (node: Node, conductor: TestConductor) => object | Promise<object>
  /** `ends`, or the name of the error that refuses it */
  readonly expected?: string
}

const step = { interface: 'bios', step: 'cache_bios_settings' }
const byId = ({ uuid }: Node) => ({ node_id: uuid! })
const notThere = 'UnsupportedDriverExtension'
const data = (values: object) => ({ data: values, changes: Object.keys(values) })

async function aPort({ id }: Node, { rpc }: TestConductor): Promise<Port> {
  const values = { node_id: id, address: '52:54:00:12:34:56', uuid: crypto.randomUUID(), pxe_enabled: true }
  return rpc.create_port(testContext, { port_obj: data(values) as never })
}
const aPortgroup = ({ id }: Node, { db }: TestConductor) =>
  createPortgroup(db, { node_id: id, uuid: crypto.randomUUID() })
const aConnector = ({ id }: Node, { db }: TestConductor) =>
  createVolumeConnector(db, { node_id: id, uuid: crypto.randomUUID(), type: 'iqn', connector_id: 'iqn.x' })
const aTarget = ({ id }: Node, { db }: TestConductor) =>
  createVolumeTarget(db, {
    node_id: id,
    uuid: crypto.randomUUID(),
    volume_type: 'iscsi',
    volume_id: 'x',
    boot_index: 0,
  })
const changed = <T extends object>(object: T, values: Partial<T>) => ({
  data: { ...object, ...values },
  changes: Object.keys(values),
})
const anAllocation = (values: object = {}) =>
  data({
    uuid: crypto.randomUUID(),
    resource_class: 'rc',
    traits: [],
    candidate_nodes: [],
    extra: {},
    ...values,
  })

const calls: Readonly<Record<Method, Call>> = {
  add_node_traits: { args: (node) => ({ ...byId(node), traits: ['CUSTOM_A'] }) },
  attach_virtual_media: { args: (node) => ({ ...byId(node), device_type: 'cdrom', image_url: 'http://x/i.iso' }) },
  change_node_boot_mode: { args: (node) => ({ ...byId(node), new_state: 'uefi' }) },
  change_node_power_state: { args: (node) => ({ ...byId(node), new_state: 'power on' }) },
  change_node_secure_boot: { args: (node) => ({ ...byId(node), new_state: true }) },
  continue_inspection: { args: (node) => ({ ...byId(node), inventory: {} }), expected: 'NotFound' },
  continue_node_clean: { args: byId },
  continue_node_deploy: { args: byId },
  continue_node_service: { args: byId },
  create_allocation: { args: () => ({ allocation: anAllocation() }) },
  create_node: { args: () => ({ node_obj: data({ uuid: crypto.randomUUID(), driver: 'fake-hardware' }) }) },
  create_port: {
    args: ({ id }) => ({
      port_obj: data({ node_id: id, address: '52:54:00:00:00:01', uuid: crypto.randomUUID() }),
    }),
  },
  destroy_allocation: {
    args: async (_node, { rpc }) => {
      const created = await rpc.create_allocation(testContext, { allocation: anAllocation() as never })
      return { allocation: changed(created, {}) }
    },
  },
  destroy_node: { args: byId },
  destroy_port: { args: async (node, c) => ({ port: changed(await aPort(node, c), {}) }) },
  destroy_portgroup: { args: async (node, c) => ({ portgroup: changed(await aPortgroup(node, c), {}) }) },
  destroy_volume_connector: { args: async (node, c) => ({ connector: changed(await aConnector(node, c), {}) }) },
  destroy_volume_target: { args: async (node, c) => ({ target: changed(await aTarget(node, c), {}) }) },
  detach_virtual_media: { args: byId },
  do_node_clean: { args: (node) => ({ ...byId(node), clean_steps: [step] }) },
  do_node_deploy: { state: 'available', args: byId },
  do_node_rescue: { state: 'active', args: (node) => ({ ...byId(node), rescue_password: 'pw' }) },
  do_node_service: {
    state: 'active',
    args: (node) => ({ ...byId(node), service_steps: [{ interface: 'vendor', step: 'log_passthrough' }] }),
  },
  do_node_tear_down: { state: 'active', args: byId },
  do_node_unrescue: { state: 'rescue', args: byId },
  do_provisioning_action: { args: (node) => ({ ...byId(node), action: 'provide' }) },
  driver_vendor_passthru: {
    args: () => ({ driver_name: 'fake-hardware', driver_method: 'none', http_method: 'POST', info: {} }),
    expected: 'InvalidParameterValue',
  },
  get_boot_device: { args: byId },
  get_console_information: { row: { console_enabled: true, console_interface: 'fake' }, args: byId },
  get_driver_properties: { args: () => ({ driver_name: 'fake-hardware' }) },
  get_driver_vendor_passthru_methods: { args: () => ({ driver_name: 'fake-hardware' }) },
  get_indicator_state: { args: (node) => ({ ...byId(node), component: 'system', indicator: 'led' }) },
  get_node_vendor_passthru_methods: { args: byId },
  get_node_with_token: { args: byId },
  get_raid_logical_disk_properties: { args: () => ({ driver_name: 'fake-hardware' }) },
  get_supported_boot_devices: { args: byId },
  get_supported_indicators: { args: byId },
  get_virtual_media: { args: byId, expected: notThere },
  heartbeat: {
    row: { driver_internal_info: { agent_secret_token: 'secret', agent_url: 'https://x' } },
    args: (node) => ({
      ...byId(node),
      callback_url: 'https://192.0.2.1:9999',
      agent_version: '13.0.0',
      agent_token: 'secret',
    }),
  },
  inject_nmi: { args: byId, expected: notThere },
  inspect_hardware: { args: byId },
  object_action: {
    args: () => ({ objinst: {}, objmethod: 'save', args: [], kwargs: {} }),
    expected: 'InvalidParameterValue',
  },
  object_backport_versions: { args: () => ({ objinst: {}, object_versions: {} }), expected: 'InvalidParameterValue' },
  object_class_action_versions: {
    args: () => ({ objname: 'Node', objmethod: 'list', object_versions: {}, args: [], kwargs: {} }),
    expected: 'InvalidParameterValue',
  },
  remove_node_traits: { args: (node) => ({ ...byId(node), traits: null }) },
  set_boot_device: { args: (node) => ({ ...byId(node), device: 'pxe' }) },
  set_console_mode: { row: { console_interface: 'fake' }, args: (node) => ({ ...byId(node), enabled: true }) },
  set_indicator_state: {
    args: (node) => ({ ...byId(node), component: 'system', indicator: 'led', state: 'on' }),
    expected: notThere,
  },
  set_target_raid_config: {
    args: (node) => ({ ...byId(node), target_raid_config: { logical_disks: [{ raid_level: '1', size_gb: 10 }] } }),
  },
  update_node: { args: (node) => ({ node_obj: changed(node, { description: 'new' }) }) },
  update_port: { args: async (node, c) => ({ port_obj: changed(await aPort(node, c), { extra: { a: 1 } }) }) },
  update_portgroup: {
    args: async (node, c) => ({ portgroup_obj: changed(await aPortgroup(node, c), { extra: { a: 1 } }) }),
  },
  update_portgroup_physical_network: {
    args: async (node, c) => ({ portgroup: changed(await aPortgroup(node, c), {}), new_physical_network: 'net' }),
  },
  update_volume_connector: {
    args: async (node, c) => ({ connector: changed(await aConnector(node, c), { extra: { a: 1 } }) }),
  },
  update_volume_target: { args: async (node, c) => ({ target: changed(await aTarget(node, c), { extra: { a: 1 } }) }) },
  validate_driver_interfaces: { args: byId },
  vendor_passthru: {
    args: (node) => ({ ...byId(node), driver_method: 'third_method_sync', http_method: 'post', info: { bar: 'meow' } }),
  },
  vif_attach: { args: (node) => ({ ...byId(node), vif_info: { id: 'vif' } }) },
  vif_detach: { args: (node) => ({ ...byId(node), vif_id: 'vif' }) },
  vif_list: { args: byId },
}

for (const [method, { state = 'manageable', row = {}, args, expected = 'ends' }] of Object.entries(calls)) {
  test(`${method}: ${expected}`, async () => {
    await using conductor = await startTestConductor({ config: { conductor: { node_locked_retry_interval: 0 } } })
    const { id, uuid } = await createTestNode(conductor)
    await updateNode(conductor.db, id, { provision_state: state, power_state: 'power off', ...row })
    const call = conductor.rpc[method as Method] as (context: object, args: object) => Promise<unknown>
    const outcome = await call(testContext, await args(await conductor.node(uuid!), conductor)).then(
      () => 'ends',
      (error: unknown) => (error as Error).name,
    )
    await conductor.settled()
    assert.equal(outcome, expected)
    // a cast has only been sent: its work may be under way
    const locked = () => conductor.db.query('select uuid from nodes where reservation is not null')
    for (let tries = 0; tries < 100 && (await locked()).length > 0; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.deepEqual(await locked(), [], 'a lock is left')
  })
}

test('the list above is the contract', () => {
  assert.deepEqual(Object.keys(calls).toSorted(), Object.keys(conductorContract.methods).toSorted())
})
