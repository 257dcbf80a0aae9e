import type { Row } from '../../../db/codec.ts'
import { getConductor, listConductors } from '../../../db/conductors.ts'
import type { Conductor } from '../../../objects/conductor.ts'
import { listAnswer, detailArgs, fieldArgs, listReply, pageArgs, pageOf, shownFields } from '../../listing.ts'
import { field, jsonText, optional, route, type AnyCall } from '../../resource.ts'
import { Flag, HostPort, Text, TextList, Time } from '../../values.ts'
import { defineView, rowOf } from '../../view.ts'

const conductorView = defineView({
  fields: {
    created_at: field(Time),
    updated_at: field(Time),
    hostname: field(Text, { list: true }),
    conductor_group: field(Text, { list: true }),
    drivers: field(TextList),
    alive: field(Flag, { list: true }),
  },
  resource: 'conductors',
  ident: (row) => row['hostname'] as string,
  extrasNamed: true,
})

/** A conductor answers when it is on line and its last heartbeat is young. */
function rowFor({ api: { config, clock } }: AnyCall, conductor: Conductor): Row {
  const age = clock.now().getTime() - (conductor.updated_at?.getTime() ?? 0)
  return { ...rowOf(conductor), alive: (conductor.online ?? false) && age <= config.conductor.heartbeat_timeout * 1000 }
}

const window = { since: 49 } as const

const listConductorsRoute = route({
  ...window,
  method: 'GET',
  path: '/v1/conductors',
  answer: listAnswer('conductors', conductorView),
  policy: 'baremetal:conductor:get',
  args: { ...pageArgs, marker: optional(HostPort), ...fieldArgs, ...detailArgs },
  async handler(call) {
    const { fields, detail } = call.args
    conductorView.check(fields, call.minor)
    const shown = shownFields(call.args, conductorView.listed)
    const page = pageOf(call.args, call.api.config, ['alive', 'drivers'])
    const rows = (await listConductors(call.api.db, page)).map((conductor) => rowFor(call, conductor))
    return listReply(call, {
      name: 'conductors',
      rows,
      view: conductorView,
      context: { url: call.url },
      shown,
      path: 'conductors',
      page,
      parameters: { detail },
      key: 'hostname',
    })
  },
})

const showConductor = route({
  ...window,
  method: 'GET',
  path: '/v1/conductors/:conductor',
  answer: conductorView,
  policy: 'baremetal:conductor:get',
  args: fieldArgs,
  async handler(call) {
    const conductor = await getConductor(call.api.db, HostPort.read('hostname', call.params['conductor']))
    conductorView.check(call.args.fields, call.minor)
    return jsonText(
      conductorView.writer(call.minor, call.args.fields ?? null)(rowFor(call, conductor), { url: call.url }),
    )
  },
})

export const conductorRoutes = [listConductorsRoute, showConductor]
