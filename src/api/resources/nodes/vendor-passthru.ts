import type { VendorReply } from '../../../rpc/conductor.ts'
import { MissingParameterValue } from '../../../errors/driver.ts'
import { optional, Reply, route, type AnyCall, type Route } from '../../resource.ts'
import { Anything, isMembers, Text, type Members } from '../../values.ts'
import { conductorOf } from './conductor-of.ts'
import { idOf } from './states.ts'
import { visibleNode } from './visible.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** What a vendor method returned: 202 while it runs on, 200 with its value, or the value as a file. */
export function vendorAnswer({ return: value, async: runsOn, attach }: VendorReply): Reply {
  const status = runsOn ? 202 : 200
  if (attach && value !== null && value !== undefined) {
    const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(value as Uint8Array)
    return new Reply(bytes, { status, contentType: 'application/octet-stream' })
  }
  if ((value === null || value === undefined) && runsOn) return new Reply(undefined, { status })
  return new Reply(JSON.stringify(value ?? null), { status })
}

/** The name of the method: from the path, or from the query. @throws MissingParameterValue */
export function vendorMethod(call: AnyCall): string {
  const name = call.params['method'] ?? (call.args as { method?: string }).method
  if (!name) throw new MissingParameterValue('Missing mandatory parameter: method')
  return name
}

/** Data of a vendor method: its body, free of form. */
export const vendorData = (body: unknown): Members =>
  isMembers(body) ? body : body === undefined || body === null ? {} : { data: body }

const listMethods = route({
  method: 'GET',
  path: '/v1/nodes/:node/vendor_passthru/methods',
  action: true,
  policy: ['baremetal:node:get', 'baremetal:node:vendor_passthru'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:vendor_passthru')
    return (await conductorOf(call, node)).get_node_vendor_passthru_methods(call.context, idOf(node))
  },
})

const calls: Route[] = methods.flatMap((method) =>
  ['/v1/nodes/:node/vendor_passthru', '/v1/nodes/:node/vendor_passthru/:method'].map((path) =>
    route({
      method,
      path,
      policy: ['baremetal:node:get', 'baremetal:node:vendor_passthru'],
      asks: 'handler',
      args: path.endsWith(':method') ? {} : { method: optional(Text) },
      body: Anything,
      async handler(call) {
        const driver_method = vendorMethod(call)
        const node = await visibleNode(call, 'baremetal:node:vendor_passthru')
        const conductor = await conductorOf(call, node)
        const reply = await conductor.vendor_passthru(call.context, {
          ...idOf(node),
          driver_method,
          http_method: method,
          info: vendorData(call.body),
        })
        return vendorAnswer(reply)
      },
    }),
  ),
)

export const nodeVendorRoutes = [listMethods, ...calls]
