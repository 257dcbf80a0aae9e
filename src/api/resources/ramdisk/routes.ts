/** What the ramdisk calls. These endpoints need no authentication and can be closed by `[api]enable_ramdisk_endpoints`. */
import { randomUUID } from 'node:crypto'
import { agentTokenIsValid, agentTokenPresent } from '../../../agent/token.ts'
import { findNodesByPortAddresses, getNode } from '../../../db/nodes.ts'
import { FASTTRACK_LOOKUP_ALLOWED_STATES, LOOKUP_ALLOWED_STATES } from '../../../domain/states.ts'
import { BadRequest, HTTPForbidden, Invalid, InvalidParameterValue, NotFound } from '../../../errors/base.ts'
import { IncompleteLookup } from '../../../errors/general.ts'
import { IronicError } from '../../../errors/define.ts'
import { NodeNotFound } from '../../../errors/node.ts'
import { readBoolean } from '../../../lib/text/booleans.ts'
import { normalMac } from '../../../lib/text/names.ts'
import type { Node } from '../../../objects/node.ts'
import { jsonText, optional, required, route, type AnyCall, type ArgumentsOf } from '../../resource.ts'
import { checked, listOf, members, nullable, Text, TextList, Uuid, UuidOrName, type Members } from '../../values.ts'
import { conductorOf } from '../nodes/conductor-of.ts'
import { completeNode } from '../nodes/create.ts'
import { nodeText } from '../nodes/view.ts'
import { agentConfig } from './config.ts'
import { inspectedNode } from './inspection-lookup.ts'

function mustBeOpen(call: AnyCall, path: string): void {
  if (!call.api.config.api.enable_ramdisk_endpoints) throw new HTTPForbidden({ resource: path })
}

const shownToAgent = ['uuid', 'properties', 'instance_info', 'driver_internal_info']

/** The node and how its agent shall behave. Only here the token is told. */
async function agentAnswer(call: AnyCall, node: Node): Promise<string> {
  const token: unknown = node.driver_internal_info?.['agent_secret_token']
  const shown = await nodeText(call, node, shownToAgent)
  return `{"node":${shown},"config":${JSON.stringify(agentConfig(call.api.config, node, token))}}`
}

/** Valid MAC addresses, normal form; others are passed over. */
const validMacs = (addresses: readonly string[]): string[] =>
  addresses.map((address) => normalMac(address)).filter((mac) => mac !== undefined)

/** `fast_track` of a node lets its agent come back in more states. */
function mayLookUp(call: AnyCall, node: Node): boolean {
  const own: unknown = node.driver_info?.['fast_track']
  const fastTrack = own === undefined || own === null ? call.api.config.deploy.fast_track : readBoolean(own)
  if (fastTrack === undefined)
    throw new InvalidParameterValue(`fast_track in driver_info of node ${node.uuid} must be a boolean.`)
  return (fastTrack ? FASTTRACK_LOOKUP_ALLOWED_STATES : LOOKUP_ALLOWED_STATES).has(node.provision_state)
}

/** Unknown, ambiguous and in a wrong state are answered alike. @throws NotFound */
async function lookedUp(call: AnyCall, macs: readonly string[], uuid: string | undefined): Promise<Node> {
  let found: Node[]
  try {
    found = uuid === undefined ? await findNodesByPortAddresses(call.api.db, macs) : [await getNode(call.api.db, uuid)]
  } catch (error) {
    if (!(error instanceof NodeNotFound)) throw error
    found = []
  }
  const [node] = found
  if (node === undefined || found.length > 1) {
    call.api.log.error(
      `Lookup of ${uuid ?? macs.join(', ')}: ${found.length === 0 ? 'no node' : 'several nodes'} found`,
    )
    throw new NotFound({})
  }
  if (call.api.config.api.restrict_lookup && !mayLookUp(call, node)) {
    call.api.log.error(`Lookup of node ${node.uuid} is not allowed in provision state ${node.provision_state}`)
    throw new NotFound({})
  }
  return node
}

const lookup = route({
  method: 'GET',
  path: '/v1/lookup',
  since: 22,
  policy: 'baremetal:driver:ipa_lookup',
  args: { addresses: optional(TextList), node_uuid: optional(Uuid) },
  async handler(call) {
    mustBeOpen(call, '/v1/lookup')
    const { addresses = [], node_uuid: uuid } = call.args
    const macs = validMacs(addresses)
    if (macs.length === 0 && uuid === undefined) throw new IncompleteLookup({})
    const node = await lookedUp(call, macs, uuid)
    if (call.minor < 62) return jsonText(await agentAnswer(call, node))
    const conductor = await conductorOf(call, node, 400)
    return jsonText(
      await agentAnswer(call, await conductor.get_node_with_token(call.context, { node_id: node.uuid ?? '' })),
    )
  },
})

const agentStates = ['start', 'end', 'error']

/** The address of the agent; empty for one that only reports. @throws InvalidParameterValue */
function checkCallback(url: string): void {
  if (url === '') return
  if (/[\s\p{Cc}]/u.test(url) || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new InvalidParameterValue('An issue with the supplied "callback_url" has been detected.')
  }
}

const heartbeatArgs = {
  callback_url: required(Text),
  agent_version: optional(Text, { since: 36, below: 400 }),
  agent_token: optional(Text),
  agent_verify_ca: optional(Text, { since: 68, below: 400 }),
  agent_status: optional(Text, { since: 72, below: 400 }),
  agent_status_message: optional(Text, { since: 72, below: 400 }),
}

type HeartbeatArgs = ArgumentsOf<typeof heartbeatArgs>

async function tellOfAgent(call: AnyCall, ident: string, args: HeartbeatArgs): Promise<void> {
  mustBeOpen(call, '/v1/heartbeat')
  const { callback_url, agent_token, agent_status, ...more } = args
  const node = await getNode(call.api.db, ident).catch((error: unknown) => {
    if (error instanceof NodeNotFound && call.jsonSuffix) return getNode(call.api.db, `${ident}.json`)
    throw error
  })
  checkCallback(callback_url)
  if (agent_token === undefined) throw new InvalidParameterValue('Agent token is required for heartbeat processing.')
  // before anything else is done or told: is this the agent?
  if (agentTokenPresent(node) && !agentTokenIsValid(node, agent_token)) {
    call.api.log.error(`A heartbeat for node ${node.uuid} had a wrong agent token`)
    throw new InvalidParameterValue('Invalid or missing agent token received.')
  }
  const known: unknown = node.driver_internal_info?.['agent_url']
  if (known !== undefined && known !== null && known !== callback_url) {
    call.api.log.error(`A heartbeat for node ${node.uuid} came with another callback URL and is not processed`)
    throw new Invalid('Detected change in ramdisk provided "callback_url"')
  }
  if (agent_status !== undefined && !agentStates.includes(agent_status)) {
    throw new InvalidParameterValue(`Agent status is invalid. Valid states are ${agentStates.join(', ')}.`)
  }
  const conductor = await conductorOf(call, node, 400)
  await conductor.heartbeat(call.context, {
    node_id: node.uuid ?? '',
    callback_url,
    agent_token,
    agent_status: agent_status ?? null,
    agent_verify_ca: more.agent_verify_ca ?? null,
    agent_status_message: more.agent_status_message ?? null,
    ...(more.agent_version === undefined ? {} : { agent_version: more.agent_version }),
  })
}

const heartbeat = route({
  method: 'POST',
  path: '/v1/heartbeat/:node',
  since: 22,
  status: 202,
  policy: 'baremetal:node:ipa_heartbeat',
  args: heartbeatArgs,
  handler: (call) => tellOfAgent(call, UuidOrName.read('node_ident', call.params['node']), call.args),
})

/** The same with the node among the arguments; only the path with the node is open without authentication. */
const heartbeatByArgument = route({
  method: 'POST',
  path: '/v1/heartbeat',
  since: 22,
  status: 202,
  policy: 'baremetal:node:ipa_heartbeat',
  args: { ...heartbeatArgs, node_ident: required(UuidOrName) },
  handler: (call) => tellOfAgent(call, call.args.node_ident, call.args),
})

/** More network interfaces than any machine has. */
const mostInterfaces = 1024

const Interfaces = checked(listOf(members({ mac_address: Text }, { others: true }), { min: 1 }), (interfaces) => {
  if (interfaces.length > mostInterfaces)
    throw new InvalidParameterValue(`The inventory has more than ${mostInterfaces} interfaces.`)
  return interfaces
})
const InspectionData = members(
  {
    inventory: members(
      { interfaces: Interfaces, bmc_address: nullable(Text), bmc_v6address: nullable(Text) },
      { optional: ['bmc_address', 'bmc_v6address'], others: true },
    ),
  },
  { others: true },
)

/** A machine that nobody enrolled. Strangers learn nothing of what goes wrong. */
async function autoEnroll(call: AnyCall, macs: readonly string[], bmcAddresses: readonly string[]): Promise<Node> {
  const { config, log } = call.api
  if (!config.auto_discovery.enabled) throw new NotFound({})
  const values = {
    uuid: randomUUID(),
    driver: config.auto_discovery.driver,
    conductor_group: config.DEFAULT.default_conductor_group ?? '',
    resource_class: config.DEFAULT.default_resource_class,
    provision_state: 'enroll',
  }
  const data = completeNode(values)
  try {
    const conductor = await conductorOf(call, data)
    log.info(
      `Enrolling the discovered node ${values.uuid}, MAC addresses ${macs.join(', ')}, BMC ${bmcAddresses.join(', ')}`,
    )
    return await conductor.create_node(call.context, {
      node_obj: { data, changes: Object.keys(values) as (keyof Node)[] },
    })
  } catch (cause) {
    if (!(cause instanceof IronicError)) throw cause
    log.error(`The discovered node could not be enrolled with driver ${values.driver}: ${cause.message}`, {
      error: cause,
    })
    throw new IronicError({}, { cause })
  }
}

const addressesOf = (inventory: Members): string[] =>
  [inventory['bmc_address'], inventory['bmc_v6address']].filter(
    (address): address is string =>
      typeof address === 'string' && address !== '' && address !== '0.0.0.0' && !address.startsWith('::/'),
  )

const continueInspection = route({
  method: 'POST',
  path: '/v1/continue_inspection',
  since: 84,
  // the inspector's clients ask in the first version
  also: [1],
  status: 202,
  policy: 'baremetal:driver:ipa_continue_inspection',
  args: { node_uuid: optional(Uuid, { since: 84, below: 404 }) },
  body: InspectionData,
  async handler(call) {
    mustBeOpen(call, '/v1/continue_inspection')
    const { inventory, ...pluginData } = call.body as { inventory: Members } & Members
    const macs = validMacs((inventory['interfaces'] as { mac_address: string }[]).map((each) => each.mac_address))
    const bmcAddresses = addressesOf(inventory)
    const uuid = call.args.node_uuid
    if (macs.length === 0 && bmcAddresses.length === 0 && uuid === undefined)
      throw new BadRequest('No lookup information provided')
    let node = await inspectedNode(call, { macs, bmcAddresses, uuid })
    if (node === undefined) {
      node = await autoEnroll(call, macs, bmcAddresses)
      pluginData['auto_discovered'] = true
    }
    const conductor = await conductorOf(call, node, 400)
    const node_id = node.uuid ?? ''
    const modern = call.minor >= 84
    // first: processing takes long, and a token needs the lock
    const told = modern ? await conductor.get_node_with_token(call.context, { node_id }) : node
    await conductor.continue_inspection(call.context, { node_id, inventory, plugin_data: pluginData })
    return modern ? jsonText(await agentAnswer(call, told)) : { uuid: node.uuid }
  },
})

export const ramdiskRoutes = [lookup, heartbeat, heartbeatByArgument, continueInspection]
