import type { Row } from '../../../db/codec.ts'
import { portgroupUuids } from '../../../db/portgroups.ts'
import { NotAcceptable } from '../../../errors/base.ts'
import type { Port } from '../../../objects/port.ts'
import type { AnyCall } from '../../resource.ts'
import { defineView, rowOf, textOf, type ViewContext } from '../../view.ts'
import { portFields } from './fields.ts'
import { vtepParts } from './link.ts'

export interface PortViewContext extends ViewContext {
  readonly portgroups: ReadonlyMap<number, string>
  /** VTEP links exist from 1.90 to 1.104 only; other versions see an empty link in their place */
  readonly showVtep: boolean
}

export const portView = defineView<PortViewContext>({
  fields: portFields,
  resource: 'ports',
  extrasNamed: true,
  made: {
    local_link_connection: (row, { showVtep }) => {
      const text = (row['local_link_connection'] as string | null) ?? '{}'
      return !showVtep && vtepParts.some((part) => text.includes(part)) ? '{}' : text
    },
    portgroup_uuid: (row, { portgroups }) =>
      textOf(row['portgroup_id'] === null ? null : portgroups.get(row['portgroup_id'] as number)),
  },
  tooNew: (name, { since }) =>
    // this one was never bound to its version: older ones just do not see it
    name === 'internal_info'
      ? undefined
      : new NotAcceptable(`The field ${name} needs API version 1.${since} or newer.`),
})

export async function portViewContext(
  call: AnyCall,
  rows: readonly Row[],
  shown: readonly string[] | null,
): Promise<PortViewContext> {
  const ids = rows.map((row) => (row['portgroup_id'] ?? null) as number | null)
  return {
    url: call.url,
    showVtep: call.minor >= 90 && call.minor < 105,
    portgroups: shown === null || shown.includes('portgroup_uuid') ? await portgroupUuids(call.api.db, ids) : new Map(),
  }
}

/** One port as JSON text. */
export async function portText(call: AnyCall, port: Port, names: readonly string[] | null = null): Promise<string> {
  const row = rowOf(port)
  return portView.writer(call.minor, names)(row, await portViewContext(call, [row], names))
}
