import type { Row } from '../../../db/codec.ts'
import { chassisUuids } from '../../../db/chassis.ts'
import { allocationUuids } from '../../../db/allocations.ts'
import type { NodeRow } from '../../../db/nodes.ts'
import { NoValidHost } from '../../../errors/conductor.ts'
import { TemporaryFailure } from '../../../errors/base.ts'
import type { Node } from '../../../objects/index.ts'
import type { PolicyTarget } from '../../authorizer.ts'
import { linksText } from '../../links.ts'
import type { AnyCall } from '../../resource.ts'
import { defineView, rowOf, textOf, type Extra, type ViewContext } from '../../view.ts'
import { nodeFields } from './fields.ts'
import {
  hideDriverInfo,
  hideInstanceInfo,
  hideInternalInfo,
  redactable,
  redacted,
  type RedactedField,
} from './secrets.ts'

/** What the writer needs beside the row: other rows that it points to, and what the caller may see. */
export interface NodeViewContext extends ViewContext {
  readonly showDriverSecrets: boolean
  readonly showInstanceSecrets: boolean
  /** fields hidden in this row */
  readonly hidden: (row: Row) => readonly RedactedField[]
  readonly conductors: ReadonlyMap<number, string>
  readonly chassis: ReadonlyMap<number, string>
  readonly allocations: ReadonlyMap<number, string>
}

const raw = (value: unknown): string =>
  value === null || value === undefined || value === '' ? '{}' : (value as string)
const linked = (ids: ReadonlyMap<number, string>, id: unknown): string =>
  textOf(id === null ? null : ids.get(id as number))

const below = (name: string, since = 1): Extra<NodeViewContext> => ({
  since,
  text: (row, { url }) => linksText(url, 'nodes', `${String(row['uuid'])}/${name}`),
})

export const nodeView = defineView<NodeViewContext>({
  fields: nodeFields,
  resource: 'nodes',
  made: {
    driver_info: (row, context) => {
      if (context.hidden(row).includes('driver_info')) return redacted.driver_info
      const text = raw(row['driver_info'])
      return context.showDriverSecrets ? text : hideDriverInfo(text)
    },
    instance_info: (row, { showInstanceSecrets }) => {
      const text = raw(row['instance_info'])
      return showInstanceSecrets ? text : hideInstanceInfo(text)
    },
    driver_internal_info: (row, context) => {
      if (context.hidden(row).includes('driver_internal_info')) return redacted.driver_internal_info
      const text = raw(row['driver_internal_info'])
      return context.showDriverSecrets ? text : hideInternalInfo(text)
    },
    last_error: (row, context) =>
      context.hidden(row).includes('last_error') ? redacted.last_error : textOf(row['last_error']),
    reservation: (row, context) =>
      context.hidden(row).includes('reservation') ? redacted.reservation : textOf(row['reservation']),
    conductor: (row, { conductors }) => textOf(conductors.get(row['id'] as number)),
    chassis_uuid: (row, { chassis }) => linked(chassis, row['chassis_id']),
    allocation_uuid: (row, { allocations }) => linked(allocations, row['allocation_id']),
    traits: (row) => JSON.stringify(row['traits'] ?? []),
  },
  extras: {
    ports: below('ports'),
    states: below('states', 14),
    portgroups: below('portgroups', 24),
    volume: below('volume', 32),
  },
})

/** A node object as a row of the view. */
export const nodeRowOf = (node: Node): NodeRow => {
  const { traits, ...columns } = node
  return {
    ...rowOf(columns),
    id: node.id,
    uuid: node.uuid ?? '',
    traits: (traits ?? []).map((each) => each['trait'] as string),
  }
}

export const nodeTarget = (row: Row | Node): PolicyTarget => {
  const { owner, lessee } = row as { owner?: string | null; lessee?: string | null }
  return { 'node.owner': owner ?? null, ...(lessee ? { 'node.lessee': lessee } : {}) }
}

const nothingHidden: readonly RedactedField[] = []

/**
 * Which fields are hidden: none for who is above the threshold; else each by its own rule, asked once for each pair of owner
 * and lessee.
 * @param threshold the target that the threshold is asked for: the one node shown, or nothing in a list
 */
function hiding({ api: { policy }, context }: AnyCall, threshold: PolicyTarget | undefined): NodeViewContext['hidden'] {
  if (policy.allows(context, 'baremetal:node:get:filter_threshold', threshold)) return () => nothingHidden
  const known = new Map<string, readonly RedactedField[]>()
  return (row) => {
    const key = `${String(row['owner'])} ${String(row['lessee'])}`
    let hidden = known.get(key)
    if (hidden === undefined) {
      const target = {
        ...(row['owner'] ? { 'node.owner': row['owner'] } : {}),
        ...(row['lessee'] ? { 'node.lessee': row['lessee'] } : {}),
      }
      hidden = redactable.filter((name) => !policy.check(context, `baremetal:node:get:${name}`, target))
      known.set(key, hidden)
    }
    return hidden
  }
}

async function conductorsOf(call: AnyCall, rows: readonly Row[]): Promise<Map<number, string>> {
  const hosts = new Map<number, string>()
  for (const row of rows) {
    const host = await hostOf(call, row as unknown as Node)
    if (host !== null) hosts.set(row['id'] as number, host)
  }
  return hosts
}

/** The conductor that serves a node; null for an orphan. */
export async function hostOf(
  call: AnyCall,
  node: Pick<Node, 'uuid' | 'driver' | 'conductor_group'>,
): Promise<string | null> {
  try {
    return await call.api.conductors.hostOfNode(node)
  } catch (error) {
    if (error instanceof NoValidHost || error instanceof TemporaryFailure) return null
    throw error
  }
}

const idsOf = (rows: readonly Row[], column: string): (number | null)[] =>
  rows.map((row) => (row[column] ?? null) as number | null)
const none: ReadonlyMap<number, string> = new Map()

/** Reads what the rows point to, as far as it is shown: one query for each kind. */
export async function nodeViewContext(
  call: AnyCall,
  rows: readonly Row[],
  shown: readonly string[] | null,
  single: boolean,
): Promise<NodeViewContext> {
  const { policy, db } = call.api
  const shows = (name: string): boolean => shown === null || shown.includes(name)
  const target = single && rows[0] !== undefined ? nodeTarget(rows[0]) : undefined
  return {
    url: call.url,
    showDriverSecrets: policy.check(call.context, 'show_password', target),
    showInstanceSecrets: policy.check(call.context, 'show_instance_secrets', target),
    hidden: hiding(call, target),
    conductors: call.minor >= 49 && shows('conductor') ? await conductorsOf(call, rows) : none,
    chassis: shows('chassis_uuid') ? await chassisUuids(db, idsOf(rows, 'chassis_id')) : none,
    allocations:
      call.minor >= 52 && shows('allocation_uuid') ? await allocationUuids(db, idsOf(rows, 'allocation_id')) : none,
  }
}

/** One node as JSON text. */
export async function nodeText(
  call: AnyCall,
  node: NodeRow | Node,
  names: readonly string[] | null = null,
): Promise<string> {
  const row =
    'driver_info' in node && typeof node.driver_info === 'string' ? (node as NodeRow) : nodeRowOf(node as Node)
  const context = await nodeViewContext(call, [row], names, true)
  return nodeView.writer(call.minor, names)(row, context)
}
