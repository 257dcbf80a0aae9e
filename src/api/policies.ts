/**
 * Every policy rule of the API: who may do what by default, and which requests ask it. An operator replaces a check in
 * `policy.yaml`; names, checks and scopes are those of Ironic 2026.2.
 */
import type { RuleDefault } from '../lib/oslo-policy/rules.ts'

export interface PolicyRule extends RuleDefault {
  /** requests that ask this rule, as `METHOD /path`; empty for rules that only other rules refer to */
  readonly operations: readonly string[]
}

const either = (...checks: readonly string[]): string => checks.map((check) => `(${check})`).join(' or ')

// Roles of the whole system. The service role of one named project counts as a member and reader of it.
const systemAdmin = 'role:admin and system_scope:all'
const systemService = 'role:service and system_scope:all'
const systemMember = '(role:member and system_scope:all) or rule:service_role'
const systemReader = `(role:reader and system_scope:all) or (${systemService}) or rule:service_role`

// Roles in the project that owns or leases a node, owns an allocation or a runbook.
const nodeOwner = (role: string) => `role:${role} and project_id:%(node.owner)s`
const nodeLessee = (role: string) => `role:${role} and project_id:%(node.lessee)s`
const nodeProject = (role: string) => `role:${role} and (project_id:%(node.owner)s or project_id:%(node.lessee)s)`
const allocationOwner = (role: string) => `role:${role} and project_id:%(allocation.owner)s`
const runbookOwner = (role: string) => `role:${role} and project_id:%(runbook.owner)s`

const anyReader = either('role:reader', 'role:service')
const anyAdminOrService = either('role:admin', 'role:service')
const systemAdminOrService = either(systemAdmin, systemService)
const readers = either(systemReader, nodeProject('reader'), nodeOwner('service'))
const members = either(systemMember, nodeProject('member'), systemService)
const ownerReaders = either(systemReader, systemService, nodeOwner('reader'), nodeOwner('service'))
const ownerMembers = either(systemMember, systemService, nodeOwner('member'), nodeOwner('service'))
const ownerManagers = either(
  systemMember,
  systemService,
  nodeOwner('admin'),
  nodeOwner('manager'),
  nodeOwner('service'),
)
const ownerAdminsAndServices = either(
  systemAdmin,
  systemService,
  nodeOwner('admin'),
  nodeOwner('manager'),
  nodeOwner('service'),
)
const ownerMembersLesseeManagers = either(
  systemMember,
  systemService,
  nodeOwner('member'),
  nodeLessee('admin'),
  nodeLessee('manager'),
  nodeOwner('service'),
)
const managers = either(
  systemMember,
  systemService,
  nodeOwner('admin'),
  nodeOwner('manager'),
  nodeLessee('admin'),
  nodeLessee('manager'),
  nodeOwner('service'),
)
const runbookReaders = `${either(systemReader, runbookOwner('reader'))} or role:service`
const runbookManagers = `${either(systemMember, runbookOwner('manager'))} or role:service`
const runbookCreators = `${either(systemMember)} or role:manager or role:service`

// Who could before scopes and project roles came; counts beside the new check unless `enforce_new_defaults`.
const formerAdmin = 'rule:is_admin'
const formerReader = 'rule:is_admin or rule:is_observer'

/** A building block that other rules refer to. */
const base = (name: string, check: string): PolicyRule => ({ name, check, operations: [] })

interface RuleOptions {
  /** which tokens may use the rule; null: every one */
  readonly scopes?: readonly string[] | null
  /** the former check, with the former name where that was another */
  readonly was?: string | readonly [name: string, check: string]
}

function rule(
  name: string,
  check: string,
  operations: readonly string[],
  { scopes = ['system', 'project'], was }: RuleOptions = {},
): PolicyRule {
  const [formerName, formerCheck] = typeof was === 'string' ? [name, was] : (was ?? [])
  return {
    name: `baremetal:${name}`,
    check,
    operations,
    ...(scopes === null ? {} : { scope_types: scopes }),
    ...(formerName === undefined || formerCheck === undefined
      ? {}
      : { deprecated_rule: { name: `baremetal:${formerName}`, check: formerCheck } }),
  }
}

/** All verbs of a vendor method, and the list of methods. */
const vendorPassthru = (what: string): string[] => [
  `GET ${what}/vendor_passthru/methods`,
  ...['GET', 'PUT', 'POST', 'PATCH', 'DELETE'].map((verb) => `${verb} ${what}/vendor_passthru?method={method_name}`),
]

export const policies: readonly PolicyRule[] = [
  base('admin_api', 'role:admin or role:administrator'),
  base('public_api', 'is_public_api:True'),
  base('show_password', '!'),
  base('show_instance_secrets', '!'),
  base('service_role', 'role:service and project_name:%(config.service_project_name)s'),
  base(
    'is_member',
    '(project_domain_id:default or project_domain_id:None) and (project_name:demo or project_name:baremetal)',
  ),
  base('is_observer', 'rule:is_member and (role:observer or role:baremetal_observer)'),
  base('is_admin', 'rule:admin_api or (rule:is_member and role:baremetal_admin)'),
  base('is_node_owner', 'project_id:%(node.owner)s'),
  base('is_node_lessee', 'project_id:%(node.lessee)s'),
  base('is_allocation_owner', 'project_id:%(allocation.owner)s'),

  // Nodes
  rule('node:create', systemAdminOrService, ['POST /nodes'], { was: formerAdmin }),
  rule('node:create:self_owned_node', anyAdminOrService, ['POST /nodes']),
  rule('node:list', anyReader, ['GET /nodes', 'GET /nodes/detail'], { was: 'rule:baremetal:node:get' }),
  rule('node:list_all', systemReader, ['GET /nodes', 'GET /nodes/detail'], { was: 'rule:baremetal:node:get' }),
  rule('node:get', readers, ['GET /nodes/{node_ident}'], { was: formerReader }),
  rule('node:get:filter_threshold', systemReader, ['GET /nodes/{node_ident}'], { was: ['node:get', formerReader] }),
  rule('node:get:last_error', ownerReaders, ['GET /nodes/{node_ident}'], { was: ['node:get', formerReader] }),
  rule('node:get:reservation', ownerReaders, ['GET /nodes/{node_ident}'], { was: ['node:get', formerReader] }),
  rule('node:get:driver_internal_info', ownerReaders, ['GET /nodes/{node_ident}'], { was: ['node:get', formerReader] }),
  rule('node:get:driver_info', ownerReaders, ['GET /nodes/{node_ident}'], { was: ['node:get', formerReader] }),
  rule('node:update:driver_info', ownerMembers, ['PATCH /nodes/{node_ident}'], { was: ['node:update', formerAdmin] }),
  rule('node:update:properties', ownerMembers, ['PATCH /nodes/{node_ident}'], { was: ['node:update', formerAdmin] }),
  rule('node:update:chassis_uuid', systemAdmin, ['PATCH /nodes/{node_ident}'], { was: ['node:update', formerAdmin] }),
  rule('node:update:instance_uuid', ownerMembers, ['PATCH /nodes/{node_ident}'], { was: ['node:update', formerAdmin] }),
  rule('node:update:lessee', ownerMembers, ['PATCH /nodes/{node_ident}'], { was: ['node:update', formerAdmin] }),
  rule('node:update:owner', systemMember, ['PATCH /nodes/{node_ident}'], { was: ['node:update', formerAdmin] }),
  rule('node:update:driver_interfaces', ownerManagers, ['PATCH /nodes/{node_ident}'], {
    was: ['node:update', formerAdmin],
  }),
  rule('node:update:network_data', ownerMembers, ['PATCH /nodes/{node_ident}'], { was: ['node:update', formerAdmin] }),
  rule('node:update:conductor_group', systemMember, ['PATCH /nodes/{node_ident}'], {
    was: ['node:update', formerAdmin],
  }),
  rule('node:update:name', ownerMembers, ['PATCH /nodes/{node_ident}'], { was: ['node:update', formerAdmin] }),
  rule('node:update:retired', ownerMembers, ['PATCH /nodes/{node_ident}'], { was: ['node:update', formerAdmin] }),
  rule('node:update', members, ['PATCH /nodes/{node_ident}'], { was: formerAdmin }),
  rule('node:update_extra', members, ['PATCH /nodes/{node_ident}'], { was: 'rule:baremetal:node:update' }),
  rule('node:update_instance_info', ownerMembersLesseeManagers, ['PATCH /nodes/{node_ident}'], {
    was: 'rule:baremetal:node:update',
  }),
  rule('node:update_owner_provisioned', systemAdmin, ['PATCH /nodes/{node_ident}'], {
    scopes: ['system'],
    was: formerAdmin,
  }),
  rule('node:delete', systemAdmin, ['DELETE /nodes/{node_ident}'], { was: formerAdmin }),
  rule('node:delete:self_owned_node', nodeOwner('admin'), ['DELETE /nodes/{node_ident}']),
  rule('node:validate', ownerMembersLesseeManagers, ['GET /nodes/{node_ident}/validate'], { was: formerAdmin }),
  rule('node:set_maintenance', ownerMembersLesseeManagers, ['PUT /nodes/{node_ident}/maintenance'], {
    was: formerAdmin,
  }),
  rule('node:clear_maintenance', ownerMembersLesseeManagers, ['DELETE /nodes/{node_ident}/maintenance'], {
    was: formerAdmin,
  }),
  rule(
    'node:get_boot_device',
    ownerManagers,
    ['GET /nodes/{node_ident}/management/boot_device', 'GET /nodes/{node_ident}/management/boot_device/supported'],
    { was: formerReader },
  ),
  rule('node:set_boot_device', ownerManagers, ['PUT /nodes/{node_ident}/management/boot_device'], {
    was: ['node:set_maintenance', formerAdmin],
  }),
  rule(
    'node:get_indicator_state',
    readers,
    [
      'GET /nodes/{node_ident}/management/indicators/{component}/{indicator}',
      'GET /nodes/{node_ident}/management/indicators',
    ],
    { was: formerReader },
  ),
  rule(
    'node:set_indicator_state',
    ownerMembers,
    ['PUT /nodes/{node_ident}/management/indicators/{component}/{indicator}'],
    { was: formerAdmin },
  ),
  rule('node:inject_nmi', ownerManagers, ['PUT /nodes/{node_ident}/management/inject_nmi'], { was: formerAdmin }),
  rule('node:get_states', readers, ['GET /nodes/{node_ident}/states'], { was: formerReader }),
  rule('node:set_power_state', members, ['PUT /nodes/{node_ident}/states/power'], { was: formerAdmin }),
  rule('node:set_boot_mode', members, ['PUT /nodes/{node_ident}/states/boot_mode'], {
    was: ['node:set_power_state', formerAdmin],
  }),
  rule('node:set_secure_boot', members, ['PUT /nodes/{node_ident}/states/secure_boot'], {
    was: ['node:set_power_state', formerAdmin],
  }),
  rule('node:set_provision_state', ownerMembersLesseeManagers, ['PUT /nodes/{node_ident}/states/provision'], {
    was: formerAdmin,
  }),
  rule('node:set_provision_state:clean_steps', ownerMembersLesseeManagers, [
    'PUT /nodes/{node_ident}/states/provision',
  ]),
  rule('node:set_provision_state:service_steps', ownerMembersLesseeManagers, [
    'PUT /nodes/{node_ident}/states/provision',
  ]),
  rule('node:set_raid_state', ownerMembers, ['PUT /nodes/{node_ident}/states/raid'], { was: formerAdmin }),
  rule('node:get_console', ownerMembers, ['GET /nodes/{node_ident}/states/console'], { was: formerAdmin }),
  rule('node:set_console_state', ownerMembers, ['PUT /nodes/{node_ident}/states/console'], { was: formerAdmin }),
  rule('node:vif:list', readers, ['GET /nodes/{node_ident}/vifs'], { was: formerAdmin }),
  rule('node:vif:attach', ownerMembersLesseeManagers, ['POST /nodes/{node_ident}/vifs'], { was: formerAdmin }),
  rule('node:vif:detach', ownerMembersLesseeManagers, ['DELETE /nodes/{node_ident}/vifs/{node_vif_ident}'], {
    was: formerAdmin,
  }),
  rule('node:traits:list', readers, ['GET /nodes/{node_ident}/traits'], { was: formerReader }),
  rule('node:traits:set', ownerManagers, ['PUT /nodes/{node_ident}/traits', 'PUT /nodes/{node_ident}/traits/{trait}'], {
    was: formerAdmin,
  }),
  rule(
    'node:traits:delete',
    ownerManagers,
    ['DELETE /nodes/{node_ident}/traits', 'DELETE /nodes/{node_ident}/traits/{trait}'],
    { was: formerAdmin },
  ),
  rule('node:bios:get', readers, ['GET /nodes/{node_ident}/bios', 'GET /nodes/{node_ident}/bios/{setting}'], {
    was: formerReader,
  }),
  rule('node:disable_cleaning', systemAdmin, ['PATCH /nodes/{node_ident}'], { was: 'rule:baremetal:node:update' }),
  rule(
    'node:history:get',
    ownerReaders,
    ['GET /nodes/{node_ident}/history', 'GET /nodes/{node_ident}/history/{event_ident}'],
    { was: ['node:get', formerReader] },
  ),
  rule('node:inventory:get', ownerReaders, ['GET /nodes/{node_ident}/inventory'], { was: ['node:get', formerReader] }),
  rule('node:update:shard', systemAdmin, ['PATCH /nodes/{node_ident}']),

  // Shards
  rule('shards:get', systemReader, ['GET /shards']),

  // Nodes: what came later
  rule('node:update:parent_node', systemMember, ['PATCH /nodes/{node_ident}']),
  rule('node:update:disable_power_off', systemAdmin, ['PATCH /nodes/{node_ident}']),
  rule('node:firmware:get', readers, ['GET /nodes/{node_ident}/firmware']),
  rule('node:vmedia:attach', members, ['POST /nodes/{node_ident}/vmedia']),
  rule('node:vmedia:detach', members, ['DELETE /nodes/{node_ident}/vmedia']),
  rule('node:vmedia:get', readers, ['GET /nodes/{node_ident}/vmedia']),

  // Ports
  rule(
    'port:get',
    readers,
    [
      'GET /ports/{port_id}',
      'GET /nodes/{node_ident}/ports',
      'GET /nodes/{node_ident}/ports/detail',
      'GET /portgroups/{portgroup_ident}/ports',
      'GET /portgroups/{portgroup_ident}/ports/detail',
    ],
    { was: formerReader },
  ),
  rule('port:list', anyReader, ['GET /ports', 'GET /ports/detail'], { was: 'rule:baremetal:port:get' }),
  rule('port:list_all', systemReader, ['GET /ports', 'GET /ports/detail'], { was: 'rule:baremetal:port:get' }),
  rule('port:create', ownerAdminsAndServices, ['POST /ports'], { was: formerAdmin }),
  rule('port:delete', ownerAdminsAndServices, ['DELETE /ports/{port_id}'], { was: formerAdmin }),
  rule('port:update', ownerManagers, ['PATCH /ports/{port_id}'], { was: formerAdmin }),

  // Port groups
  rule(
    'portgroup:get',
    readers,
    [
      'GET /portgroups',
      'GET /portgroups/detail',
      'GET /portgroups/{portgroup_ident}',
      'GET /nodes/{node_ident}/portgroups',
      'GET /nodes/{node_ident}/portgroups/detail',
    ],
    { was: formerReader },
  ),
  rule('portgroup:create', ownerAdminsAndServices, ['POST /portgroups'], { was: formerAdmin }),
  rule('portgroup:delete', ownerAdminsAndServices, ['DELETE /portgroups/{portgroup_ident}'], { was: formerAdmin }),
  rule('portgroup:update', ownerManagers, ['PATCH /portgroups/{portgroup_ident}'], { was: formerAdmin }),
  rule('portgroup:list', anyReader, ['GET /portgroups', 'GET /portgroups/detail'], {
    was: ['portgroup:get', formerReader],
  }),
  rule('portgroup:list_all', systemReader, ['GET /portgroups', 'GET /portgroups/detail'], {
    was: ['portgroup:get', formerReader],
  }),

  // Chassis
  rule('chassis:get', systemReader, ['GET /chassis', 'GET /chassis/detail', 'GET /chassis/{chassis_id}'], {
    scopes: ['system'],
    was: formerReader,
  }),
  rule('chassis:create', systemAdmin, ['POST /chassis'], { scopes: ['system'], was: formerAdmin }),
  rule('chassis:delete', systemAdmin, ['DELETE /chassis/{chassis_id}'], { scopes: ['system'], was: formerAdmin }),
  rule('chassis:update', systemMember, ['PATCH /chassis/{chassis_id}'], { scopes: ['system'], was: formerAdmin }),

  // Drivers
  rule('driver:get', systemReader, ['GET /drivers', 'GET /drivers/{driver_name}'], {
    scopes: ['system'],
    was: formerReader,
  }),
  rule('driver:get_properties', systemReader, ['GET /drivers/{driver_name}/properties'], {
    scopes: ['system'],
    was: formerReader,
  }),
  rule(
    'driver:get_raid_logical_disk_properties',
    systemReader,
    ['GET /drivers/{driver_name}/raid/logical_disk_properties'],
    { scopes: ['system'], was: formerReader },
  ),

  // Vendor methods
  rule('node:vendor_passthru', systemAdmin, vendorPassthru('nodes/{node_ident}'), { was: formerAdmin }),
  rule('driver:vendor_passthru', systemAdmin, vendorPassthru('drivers/{driver_name}'), {
    scopes: ['system'],
    was: formerAdmin,
  }),

  // What the ramdisk calls
  rule('node:ipa_heartbeat', '', ['POST /heartbeat/{node_ident}'], { scopes: null, was: 'rule:public_api' }),
  rule('driver:ipa_lookup', '', ['GET /lookup'], { scopes: null, was: 'rule:public_api' }),
  rule('driver:ipa_continue_inspection', '', ['POST /continue_inspection'], { scopes: null }),

  // Volume connectors and targets
  rule(
    'volume:list_all',
    systemReader,
    [
      'GET /volume/connectors',
      'GET /volume/targets',
      'GET /nodes/{node_ident}/volume/connectors',
      'GET /nodes/{node_ident}/volume/targets',
    ],
    { was: ['volume:get', formerReader] },
  ),
  rule(
    'volume:list',
    anyReader,
    [
      'GET /volume/connectors',
      'GET /volume/targets',
      'GET /nodes/{node_ident}/volume/connectors',
      'GET /nodes/{node_ident}/volume/targets',
    ],
    { was: ['volume:get', formerReader] },
  ),
  rule(
    'volume:get',
    readers,
    [
      'GET /volume',
      'GET /volume/connectors',
      'GET /volume/connectors/{volume_connector_id}',
      'GET /volume/targets',
      'GET /volume/targets/{volume_target_id}',
      'GET /nodes/{node_ident}/volume',
      'GET /nodes/{node_ident}/volume/connectors',
      'GET /nodes/{node_ident}/volume/targets',
    ],
    { was: formerReader },
  ),
  rule('volume:create', managers, ['POST /volume/connectors', 'POST /volume/targets'], { was: formerAdmin }),
  rule(
    'volume:delete',
    managers,
    ['DELETE /volume/connectors/{volume_connector_id}', 'DELETE /volume/targets/{volume_target_id}'],
    { was: formerAdmin },
  ),
  rule(
    'volume:update',
    ownerMembersLesseeManagers,
    ['PATCH /volume/connectors/{volume_connector_id}', 'PATCH /volume/targets/{volume_target_id}'],
    { was: formerAdmin },
  ),
  rule(
    'volume:view_target_properties',
    either(systemReader, 'role:admin'),
    ['GET /volume/connectors/{volume_connector_id}', 'GET /volume/targets/{volume_target_id}'],
    { was: ['volume:update', formerAdmin] },
  ),

  // Conductors
  rule('conductor:get', systemReader, ['GET /conductors', 'GET /conductors/{hostname}'], { was: formerReader }),

  // Allocations
  rule(
    'allocation:get',
    either(systemReader, allocationOwner('reader')),
    ['GET /allocations/{allocation_id}', 'GET /nodes/{node_ident}/allocation'],
    { was: formerReader },
  ),
  rule('allocation:list', anyReader, ['GET /allocations'], { was: 'rule:baremetal:allocation:get' }),
  rule('allocation:list_all', systemReader, ['GET /allocations'], {
    was: 'rule:baremetal:allocation:get and is_admin_project:True',
  }),
  rule('allocation:create', either(systemMember, 'role:member'), ['POST /allocations'], {
    was: 'rule:is_admin and is_admin_project:True',
  }),
  rule('allocation:create_restricted', systemMember, ['POST /allocations'], {
    was: 'rule:baremetal:allocation:create',
  }),
  rule(
    'allocation:delete',
    either(systemMember, allocationOwner('member')),
    ['DELETE /allocations/{allocation_id}', 'DELETE /nodes/{node_ident}/allocation'],
    { was: formerAdmin },
  ),
  rule('allocation:update', either(systemMember, allocationOwner('member')), ['PATCH /allocations/{allocation_id}'], {
    was: formerAdmin,
  }),
  rule(
    'allocation:create_pre_rbac',
    '(rule:is_member and role:baremetal_admin) or (is_admin_project:True and role:admin)',
    ['PATCH /allocations/{allocation_id}'],
    { scopes: ['project'] },
  ),

  // Events of other services
  rule('events:post', systemAdmin, ['POST /events'], { scopes: ['system'], was: formerAdmin }),

  // Deploy templates
  rule(
    'deploy_template:get',
    systemReader,
    ['GET /deploy_templates', 'GET /deploy_templates/{deploy_template_ident}'],
    { was: formerReader },
  ),
  rule('deploy_template:create', systemAdmin, ['POST /deploy_templates'], { was: formerAdmin }),
  rule('deploy_template:delete', systemAdmin, ['DELETE /deploy_templates/{deploy_template_ident}'], {
    was: formerAdmin,
  }),
  rule('deploy_template:update', systemAdmin, ['PATCH /deploy_templates/{deploy_template_ident}'], {
    was: formerAdmin,
  }),

  // Runbooks
  rule('runbook:get', runbookReaders, ['GET /runbooks/{runbook_ident}']),
  rule('runbook:list', anyReader, ['GET /runbooks']),
  rule('runbook:list_all', systemReader, ['GET /runbooks']),
  rule('runbook:create', runbookCreators, ['POST /runbooks']),
  rule('runbook:delete', runbookManagers, ['DELETE /runbooks/{runbook_ident}']),
  rule('runbook:update', runbookManagers, ['PATCH /runbooks/{runbook_ident}']),
  rule('runbook:update:public', systemMember, ['PATCH /runbooks/{runbook_ident}/public']),
  rule('runbook:update:owner', systemMember, ['PATCH /runbooks/{runbook_ident}/owner']),
  rule('runbook:use', runbookManagers, ['PUT /nodes/{node_ident}/states/provision']),

  // Inspection rules
  rule('inspection_rule:get', systemReader, ['GET /inspection_rules', 'GET /inspection_rules/{rule_id}']),
  rule('inspection_rule:list_all', systemReader, ['GET /inspection_rules']),
  rule('inspection_rule:create', systemAdmin, ['POST /inspection_rules']),
  rule('inspection_rule:update', systemAdmin, ['PATCH /inspection_rules/{rule_id}']),
  rule('inspection_rule:delete', systemAdmin, ['DELETE /inspection_rules', 'DELETE /inspection_rules/{rule_id}']),
]
