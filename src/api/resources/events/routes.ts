import { route } from '../../resource.ts'
import { listOf, MacAddress, members, nullable, Text, text, Uuid } from '../../values.ts'

/** What Neutron tells of a port. */
const networkEvent = members(
  {
    event: text({ oneOf: ['network.bind_port', 'network.unbind_port', 'network.delete_port'] }),
    port_id: Uuid,
    mac_address: MacAddress,
    status: Text,
    device_id: nullable(Uuid),
    'binding:host_id': nullable(Uuid),
    'binding:vnic_type': nullable(Text),
  },
  { optional: ['device_id', 'binding:host_id', 'binding:vnic_type'] },
)

const postEvents = route({
  method: 'POST',
  path: '/v1/events',
  since: 54,
  outside: 404,
  status: 204,
  policy: 'baremetal:events:post',
  body: members({ events: listOf(networkEvent, { min: 1 }) }),
  summary: 'Takes events of other services; they are logged.',
  handler({ api, body }) {
    for (const event of body.events) {
      api.log.debug(`External event ${event.event}: port ${event.port_id}, ${event.mac_address}, ${event.status}`)
    }
  },
})

export const eventRoutes = [postEvents]
