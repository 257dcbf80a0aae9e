/** `local_link_connection` of a port: where its cable ends. */
import { Invalid, InvalidParameterValue } from '../../../errors/base.ts'
import { InvalidSwitchID } from '../../../errors/general.ts'
import { normalDatapathId, normalMac } from '../../../lib/text/names.ts'
import { anyOf, checked, Dict, members, Text, text, type Members, type Value } from '../../values.ts'

const parts = {
  port_id: Text,
  switch_id: Text,
  hostname: Text,
  switch_info: Text,
  network_type: text({ oneOf: ['managed', 'unmanaged'] }),
  'vtep-logical-switch': Text,
  'vtep-physical-switch': Text,
}
type Part = keyof typeof parts
export const vtepParts = ['vtep-logical-switch', 'vtep-physical-switch'] as const

const withParts = (table: Partial<typeof parts>, ...needed: Part[]): Value<Members> =>
  members(table as typeof parts, { optional: (Object.keys(table) as Part[]).filter((name) => !needed.includes(name)) })

const both = (link: Members): Members => {
  if (vtepParts[0] in link !== vtepParts[1] in link) {
    throw new InvalidParameterValue(`local_link_connection: ${vtepParts.join(' and ')} go together`)
  }
  return link
}

const smartNic = withParts(parts, 'port_id', 'hostname')

/** A switch is told by a MAC address or an OpenFlow datapath id, kept in lower case. */
function normalSwitch(link: Members): Members {
  if (!Object.hasOwn(link, 'switch_id')) return link
  const id = normalMac(link['switch_id']) ?? normalDatapathId(link['switch_id'])
  if (id === undefined) throw new InvalidSwitchID({ switch_id: link['switch_id'] })
  return { ...link, switch_id: id }
}

export const LocalLink: Value<Members> = checked(
  anyOf<Members>(
    checked(withParts(parts, 'port_id', 'switch_id'), both),
    checked(smartNic, both),
    checked(withParts({ ...parts, network_type: text({ oneOf: ['unmanaged'] }) }, 'network_type'), both),
    withParts(parts, 'port_id', ...vtepParts),
    members({}),
  ),
  normalSwitch,
)

/** A Smart NIC must say where it is found. @throws Invalid */
export function checkSmartNic(link: unknown): void {
  try {
    smartNic.read('local_link_connection', Dict.read('local_link_connection', link ?? {}))
  } catch (cause) {
    if (!(cause instanceof InvalidParameterValue)) throw cause
    throw new Invalid('Smart NIC port must have port_id and hostname in local_link_connection', { cause })
  }
}
