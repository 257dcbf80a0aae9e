import { getNodeHistory, listNodeHistoryRows } from '../../../db/node-history.ts'
import { NodeHistoryNotFound } from '../../../errors/node.ts'
import { listAnswer, listReply, pageArgs, pageOf } from '../../listing.ts'
import { field, jsonText, route, withFallback } from '../../resource.ts'
import { Flag, Integer, nullable, Text, Time, Uuid } from '../../values.ts'
import { defineView, rowOf, textOf, type ViewContext } from '../../view.ts'
import { visibleNode } from './visible.ts'

interface HistoryContext extends ViewContext {
  readonly node: string
  /** long events are cut in a list without details */
  readonly cut: boolean
}

const historyView = defineView<HistoryContext>({
  fields: {
    uuid: field(Uuid, { list: true }),
    created_at: field(Time, { list: true }),
    severity: field(nullable(Text), { list: true }),
    event: field(nullable(Text), { list: true }),
    event_type: field(nullable(Text)),
    conductor: field(nullable(Text)),
    user: field(nullable(Text)),
    project: field(nullable(Text), { since: 113 }),
    state: field(nullable(Text), { since: 115 }),
    target_provision_state: field(nullable(Text), { since: 115 }),
    duration_seconds: field(nullable(Integer), { since: 115 }),
  },
  resource: 'nodes',
  links: false,
  made: {
    event: (row, { cut }) => {
      const event = row['event'] as string | null
      return textOf(cut && event !== null && event.length > 255 ? `${event.slice(0, 251)}...` : event)
    },
  },
  extrasNamed: true,
  extras: {
    links: {
      text: (row, { url, node }) =>
        JSON.stringify([{ href: `${url}/v1/nodes/${node}/history/${String(row['uuid'])}`, rel: 'self' }]),
    },
  },
})

const window = { since: 78, outside: 'routing 404' } as const

const listHistory = route({
  ...window,
  method: 'GET',
  path: '/v1/nodes/:node/history',
  answer: listAnswer('history', historyView),
  policy: ['baremetal:node:get', 'baremetal:node:history:get'],
  asks: 'handler',
  args: { ...pageArgs, detail: withFallback(Flag, false) },
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:history:get')
    const { detail, ...args } = call.args
    const page = pageOf({ ...args, sort_key: args.sort_key ?? 'created_at' }, call.api.config)
    const rows = await listNodeHistoryRows(call.api.db, node.id, page)
    return listReply(call, {
      name: 'history',
      rows,
      view: historyView,
      context: { url: call.url, node: node.uuid ?? '', cut: !detail },
      shown: detail ? null : [...historyView.listed, 'links'],
      named: false,
      path: `nodes/${call.params['node']}/history`,
      page,
      parameters: { detail: detail || undefined },
    })
  },
})

const showHistory = route({
  ...window,
  method: 'GET',
  path: '/v1/nodes/:node/history/:event',
  answer: historyView,
  policy: ['baremetal:node:get', 'baremetal:node:history:get'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:history:get')
    const uuid = call.params['event']!
    const entry = await getNodeHistory(call.api.db, uuid)
    // what another node went through is not told under this one's name
    if (entry.node_id !== node.id) throw new NodeHistoryNotFound({ history: uuid })
    const write = historyView.writer(call.minor, null)
    return jsonText(write(rowOf(entry), { url: call.url, node: node.uuid ?? '', cut: false }))
  },
})

export const nodeHistoryRoutes = [listHistory, showHistory]
