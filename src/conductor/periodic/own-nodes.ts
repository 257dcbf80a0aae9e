/** The nodes that periodic work looks at: those of this conductor, in one query. */
import { setImmediate } from 'node:timers/promises'
import { listNodes, type NodeFilters } from '../../db/nodes.ts'
import { adminContext, type RequestContext } from '../../domain/context.ts'
import { NoFreeConductorWorker } from '../../errors/conductor.ts'
import { NodeLocked, NodeNotFound } from '../../errors/node.ts'
import type { Node } from '../../objects/index.ts'
import type { ServiceParts } from '../service/parts.ts'

export const periodicContext = (name: string): RequestContext =>
  adminContext(`req-periodic-${name.replaceAll(' ', '-')}`)

const always = ['id', 'uuid', 'driver', 'conductor_group'] as const

export interface OwnNodesQuery {
  readonly filters: NodeFilters
  /** beside those that say whose node it is */
  readonly fields?: readonly (keyof Node)[]
  readonly sortKey?: string
}

/** Nodes of this conductor, children too. Only the fields asked for are filled. */
export async function ownNodes(
  { db, ring, host }: ServiceParts,
  { filters, fields = [], sortKey }: OwnNodesQuery,
): Promise<Node[]> {
  const nodes = await listNodes(db, {
    filters: { include_children: true, ...filters },
    fields: [...new Set([...always, ...fields])],
    ...(sortKey === undefined ? {} : { sortKey }),
  })
  const own: Node[] = []
  for (const node of nodes) if (await ring.maps(host, node)) own.push(node)
  return own
}

const pageSize = 200

/**
 * Whole rows of this conductor's nodes, a page at a time: one query for many nodes, and never all of them in memory.
 * What is read is as old as its page; who changes something takes the lock, which reads the row anew.
 */
export async function* ownNodePages({ db, ring, host }: ServiceParts, filters: NodeFilters): AsyncGenerator<Node[]> {
  let marker: string | undefined
  for (;;) {
    const page = await listNodes(db, {
      filters: { include_children: true, ...filters },
      limit: pageSize,
      ...(marker === undefined ? {} : { marker }),
    })
    const own: Node[] = []
    for (const node of page) if (await ring.maps(host, node)) own.push(node)
    if (own.length > 0) yield own
    if (page.length < pageSize) return
    marker = page.at(-1)!.uuid ?? undefined
  }
}

/** Runs the work for each, so many at a time; what was locked or deleted meanwhile is passed over. */
export async function forEachNode(
  parts: ServiceParts,
  nodes: readonly Node[],
  atOnce: number,
  work: (node: Node) => Promise<void>,
): Promise<void> {
  const waiting = [...nodes]
  let done = 0
  const worker = async () => {
    for (let node = waiting.shift(); node !== undefined && !parts.signal.aborted; node = waiting.shift()) {
      // work that waits for nothing must still let others in
      if (++done % 25 === 0) await setImmediate()
      try {
        await work(node)
      } catch (error) {
        if (error instanceof NodeNotFound || error instanceof NodeLocked) continue
        if (error instanceof NoFreeConductorWorker) return
        // one node's trouble is not the others'
        parts.log.error(`Periodic work on node ${node.uuid} failed: ${String(error)}`, { error })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, Math.min(atOnce, nodes.length)) }, worker))
}
