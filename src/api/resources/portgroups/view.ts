import { MAXIMUM_MINOR } from '../../microversions.ts'
import { NotAcceptable } from '../../../errors/base.ts'
import type { Portgroup } from '../../../objects/portgroup.ts'
import { linksText } from '../../links.ts'
import type { AnyCall } from '../../resource.ts'
import { defineView, rowOf } from '../../view.ts'
import { portgroupFields } from './fields.ts'

/** Fields that a request of an older version may not name; the others are just not shown to it. */
export const gatedFields: readonly string[] = ['mode', 'properties', 'dynamic_portgroup']

export const portgroupView = defineView({
  fields: portgroupFields,
  resource: 'portgroups',
  extrasNamed: true,
  extras: {
    ports: { text: (row, { url }) => linksText(url, 'portgroups', `${String(row['uuid'])}/ports`) },
  },
  tooNew: (name, { since }) =>
    gatedFields.includes(name)
      ? new NotAcceptable(`The field ${name} needs API version 1.${since} or newer.`)
      : undefined,
})

/** One port group as JSON text. */
export const portgroupText = (call: AnyCall, portgroup: Portgroup, names: readonly string[] | null = null): string =>
  portgroupView.writer(call.minor, names)(rowOf(portgroup), { url: call.url })

/** Lists in full show everything to every version: clients got used to it. */
export const portgroupDetailView: typeof portgroupView = {
  ...portgroupView,
  schema: () => portgroupView.schema(MAXIMUM_MINOR),
  writer: (_minor, names) => portgroupView.writer(MAXIMUM_MINOR, names),
}
