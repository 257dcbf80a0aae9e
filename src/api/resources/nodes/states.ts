import { powerTargets, UNSTABLE_STATES } from '../../../domain/states.ts'
import { Conflict, Invalid, InvalidParameterValue, NotAcceptable } from '../../../errors/base.ts'
import { PowerStateFailure, UnsupportedDriverExtension } from '../../../errors/driver.ts'
import { InvalidStateRequested, NodeConsoleNotEnabled } from '../../../errors/node.ts'
import type { Node } from '../../../objects/node.ts'
import { resourceUrl } from '../../links.ts'
import { at, field, jsonText, optional, required, route, type AnyCall } from '../../resource.ts'
import { Dict, Flag, Integer, nullable, Text, Time } from '../../values.ts'
import { defineView } from '../../view.ts'
import { conductorOf } from './conductor-of.ts'
import { stateShownAs } from './fields.ts'
import { nodeRowOf } from './view.ts'
import { visibleNode } from './visible.ts'

const idOf = (node: Node): { node_id: string } => ({ node_id: node.uuid ?? '' })
const statesUrl = (call: AnyCall, more = ''): string =>
  resourceUrl(call.url, 'nodes', `${call.params['node']}/states${more}`)

const statesView = defineView({
  fields: {
    console_enabled: field(Flag),
    last_error: field(nullable(Text)),
    power_state: field(nullable(Text)),
    provision_state: field(nullable(Text), { shownAs: stateShownAs }),
    target_power_state: field(nullable(Text)),
    target_provision_state: field(nullable(Text)),
    provision_updated_at: field(Time),
    raid_config: field(Dict, { since: 12 }),
    target_raid_config: field(Dict, { since: 12 }),
    boot_mode: field(nullable(Text), { since: 75 }),
    secure_boot: field(nullable(Flag), { since: 75 }),
  },
  resource: 'nodes',
  links: false,
})

const showStates = route({
  method: 'GET',
  path: '/v1/nodes/:node/states',
  answer: statesView,
  policy: ['baremetal:node:get', 'baremetal:node:get_states'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:get_states')
    return jsonText(statesView.writer(call.minor, null)(nodeRowOf(node), { url: call.url }))
  },
})

const softTargets: readonly string[] = ['soft rebooting', 'soft power off']

const setPower = route({
  method: 'PUT',
  path: '/v1/nodes/:node/states/power',
  action: true,
  status: 202,
  policy: ['baremetal:node:get', 'baremetal:node:set_power_state'],
  asks: 'handler',
  args: { target: required(Text), timeout: optional(Integer, { since: 27 }) },
  async handler(call) {
    const { target, timeout } = call.args
    const node = await visibleNode(call, 'baremetal:node:set_power_state')
    const conductor = await conductorOf(call, node)
    if (softTargets.includes(target) && call.minor < 27) {
      throw new NotAcceptable(`The power target "${target}" needs API version 1.27 or newer.`)
    }
    if (timeout !== undefined && timeout < 1) throw new Invalid('timeout has to be a positive number of seconds')
    if (!Object.hasOwn(powerTargets, target)) {
      throw new InvalidStateRequested({ action: target, node: node.uuid, state: node.power_state })
    }
    if (node.provision_state === 'clean wait' || node.provision_state === 'cleaning') {
      throw new InvalidStateRequested({ action: target, node: node.uuid, state: node.provision_state })
    }
    if (node.disable_power_off && (target === 'power off' || target === 'soft power off')) {
      throw new PowerStateFailure({ pstate: target })
    }
    await conductor.change_node_power_state(call.context, {
      ...idOf(node),
      new_state: target,
      timeout: timeout ?? null,
    })
    return at(statesUrl(call))
  },
})

/** @throws Conflict while the node goes from state to state */
function mustRest(node: Node, what: string): void {
  if (UNSTABLE_STATES.has(node.provision_state)) {
    throw new Conflict(
      `Node ${node.uuid} is in state "${node.provision_state}"; ${what} cannot be changed before that ends. Try again later.`,
    )
  }
}

const setBootMode = route({
  method: 'PUT',
  path: '/v1/nodes/:node/states/boot_mode',
  action: true,
  since: 76,
  status: 202,
  policy: ['baremetal:node:get', 'baremetal:node:set_boot_mode'],
  asks: 'handler',
  args: { target: required(Text) },
  async handler(call) {
    const { target } = call.args
    const node = await visibleNode(call, 'baremetal:node:set_boot_mode')
    const conductor = await conductorOf(call, node)
    if (target !== 'bios' && target !== 'uefi') {
      throw new InvalidParameterValue(
        `Invalid boot mode ${target.slice(0, 64)} requested for node. Allowed boot modes are: bios, uefi`,
      )
    }
    mustRest(node, 'the boot mode')
    await conductor.change_node_boot_mode(call.context, { ...idOf(node), new_state: target })
    return at(statesUrl(call))
  },
})

const setSecureBoot = route({
  method: 'PUT',
  path: '/v1/nodes/:node/states/secure_boot',
  action: true,
  since: 76,
  status: 202,
  policy: ['baremetal:node:get', 'baremetal:node:set_secure_boot'],
  asks: 'handler',
  args: { target: required(Flag) },
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:set_secure_boot')
    const conductor = await conductorOf(call, node)
    mustRest(node, 'secure boot')
    await conductor.change_node_secure_boot(call.context, { ...idOf(node), new_state: call.args.target })
    return at(statesUrl(call))
  },
})

const setRaid = route({
  method: 'PUT',
  path: '/v1/nodes/:node/states/raid',
  action: true,
  since: 12,
  outside: 406,
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:node:set_raid_state'],
  asks: 'handler',
  body: Dict,
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:set_raid_state')
    const conductor = await conductorOf(call, node)
    try {
      await conductor.set_target_raid_config(call.context, { ...idOf(node), target_raid_config: call.body })
    } catch (cause) {
      if (!(cause instanceof UnsupportedDriverExtension)) throw cause
      // RAID is a standard interface, which not every driver has
      throw new UnsupportedDriverExtension(cause.message, { code: 404, cause })
    }
  },
})

const showConsole = route({
  method: 'GET',
  path: '/v1/nodes/:node/states/console',
  policy: ['baremetal:node:get', 'baremetal:node:get_console'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:get_console')
    const conductor = await conductorOf(call, node)
    try {
      return { console_enabled: true, console_info: await conductor.get_console_information(call.context, idOf(node)) }
    } catch (error) {
      if (error instanceof NodeConsoleNotEnabled) return { console_enabled: false, console_info: null }
      throw error
    }
  },
})

const setConsole = route({
  method: 'PUT',
  path: '/v1/nodes/:node/states/console',
  status: 202,
  policy: ['baremetal:node:get', 'baremetal:node:set_console_state'],
  asks: 'handler',
  // null means off, as it always did
  args: { enabled: required(nullable(Flag)) },
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:set_console_state')
    const conductor = await conductorOf(call, node)
    await conductor.set_console_mode(call.context, { ...idOf(node), enabled: call.args.enabled ?? false })
    return at(statesUrl(call, '/console'))
  },
})

export const nodeStatesRoutes = [showStates, setPower, setBootMode, setSecureBoot, setRaid, showConsole, setConsole]
export { idOf, statesUrl }
