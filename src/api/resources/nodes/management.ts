import { InvalidParameterValue } from '../../../errors/base.ts'
import { required, route, withFallback } from '../../resource.ts'
import { Flag, Text } from '../../values.ts'
import { linksOf } from '../../links.ts'
import { conductorOf } from './conductor-of.ts'
import { idOf } from './states.ts'
import { visibleNode } from './visible.ts'

const getBootDevice = route({
  method: 'GET',
  path: '/v1/nodes/:node/management/boot_device',
  policy: ['baremetal:node:get', 'baremetal:node:get_boot_device'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:get_boot_device')
    return (await conductorOf(call, node)).get_boot_device(call.context, idOf(node))
  },
})

const setBootDevice = route({
  method: 'PUT',
  path: '/v1/nodes/:node/management/boot_device',
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:node:set_boot_device'],
  asks: 'handler',
  args: { boot_device: required(Text), persistent: withFallback(Flag, false) },
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:set_boot_device')
    const { boot_device: device, persistent } = call.args
    await (await conductorOf(call, node)).set_boot_device(call.context, { ...idOf(node), device, persistent })
  },
})

const supportedBootDevices = route({
  method: 'GET',
  path: '/v1/nodes/:node/management/boot_device/supported',
  action: true,
  policy: ['baremetal:node:get', 'baremetal:node:get_boot_device'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:get_boot_device')
    const conductor = await conductorOf(call, node)
    return { supported_boot_devices: await conductor.get_supported_boot_devices(call.context, idOf(node)) }
  },
})

const injectNmi = route({
  method: 'PUT',
  path: '/v1/nodes/:node/management/inject_nmi',
  since: 29,
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:node:inject_nmi'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:inject_nmi')
    await (await conductorOf(call, node)).inject_nmi(call.context, idOf(node))
  },
})

const listIndicators = route({
  method: 'GET',
  path: '/v1/nodes/:node/management/indicators',
  policy: ['baremetal:node:get', 'baremetal:node:get_indicator_state'],
  asks: 'handler',
  lenient: true,
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:get_indicator_state')
    const conductor = await conductorOf(call, node)
    const found = await conductor.get_supported_indicators(call.context, idOf(node))
    const indicators = Object.entries(found).flatMap(([component, names]) =>
      Object.entries(names as Record<string, { readonly?: boolean; states?: string[] }>).map(([indicator, about]) => {
        const name = `${indicator}@${component}`
        return {
          name,
          component,
          readonly: about.readonly ?? true,
          states: about.states ?? [],
          links: linksOf(call.url, 'nodes', `${call.params['node']}/management/indicators/${name}`),
        }
      }),
    )
    return { indicators }
  },
})

/** `led-0@chassis`: an indicator and its component. */
function indicatorNamed(unique: string): { indicator: string; component: string } {
  const at = unique.indexOf('@')
  if (at === -1)
    throw new InvalidParameterValue(
      `Malformed indicator name "${unique.slice(0, 64)}": it must be indicator@component.`,
    )
  return { indicator: unique.slice(0, at), component: unique.slice(at + 1) }
}

const showIndicator = route({
  method: 'GET',
  path: '/v1/nodes/:node/management/indicators/:indicator',
  policy: ['baremetal:node:get', 'baremetal:node:get_indicator_state'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:get_indicator_state')
    const conductor = await conductorOf(call, node)
    const which = indicatorNamed(call.params['indicator']!)
    return { state: await conductor.get_indicator_state(call.context, { ...idOf(node), ...which }) }
  },
})

const setIndicator = route({
  method: 'PUT',
  path: '/v1/nodes/:node/management/indicators/:indicator',
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:node:set_indicator_state'],
  asks: 'handler',
  args: { state: required(Text) },
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:set_indicator_state')
    const conductor = await conductorOf(call, node)
    const which = indicatorNamed(call.params['indicator']!)
    await conductor.set_indicator_state(call.context, { ...idOf(node), ...which, state: call.args.state })
  },
})

export const nodeManagementRoutes = [
  getBootDevice,
  setBootDevice,
  supportedBootDevices,
  injectNmi,
  listIndicators,
  showIndicator,
  setIndicator,
]
