import { isTrait } from '../../../domain/traits.ts'
import { Invalid, InvalidParameterValue } from '../../../errors/base.ts'
import { NodeTraitNotFound } from '../../../errors/node.ts'
import type { Node } from '../../../objects/node.ts'
import { announced } from '../../announce.ts'
import { resourceUrl } from '../../links.ts'
import { at, route, type AnyCall } from '../../resource.ts'
import { checked, listOf, members, refuse, Text, type Value } from '../../values.ts'
import { conductorOf } from './conductor-of.ts'
import { chassisOf } from './rules.ts'
import { visibleNode } from './visible.ts'

export const Trait: Value<string> = checked(Text, (name, where) =>
  isTrait(name) ? name : refuse(where, 'a standard trait or CUSTOM_ with A-Z, 0-9 and _', name),
)
const TraitsBody = members({ traits: listOf(Trait) }, { optional: ['traits'] })

/** The endpoint came with 1.37; before, its name was just a word behind the node. */
const window = { since: 37, outside: 'absent' } as const

const listTraits = route({
  ...window,
  method: 'GET',
  path: '/v1/nodes/:node/traits',
  policy: ['baremetal:node:get', 'baremetal:node:traits:list'],
  asks: 'handler',
  async handler(call) {
    const node = await visibleNode(call, 'baremetal:node:traits:list')
    return { traits: namesOf(node) }
  },
})

/** Changes traits and tells of the node as it is then. */
async function changeTraits(call: AnyCall, node: Node, after: Iterable<string>, change: () => Promise<void>) {
  const told = { ...node, traits: [...new Set(after)].toSorted() }
  await announced(call, 'node.update', told, change, await chassisOf(call, node))
}

const namesOf = (node: Node): string[] => (node.traits ?? []).map((each) => each['trait'] as string)

async function addTraits(call: AnyCall, traits: string[], replace: boolean): Promise<void> {
  const node = await visibleNode(call, 'baremetal:node:traits:set')
  const conductor = await conductorOf(call, node)
  await changeTraits(call, node, replace ? traits : [...namesOf(node), ...traits], () =>
    conductor.add_node_traits(call.context, { node_id: node.id, traits, replace }),
  )
}

const setTraits = route({
  ...window,
  method: 'PUT',
  path: '/v1/nodes/:node/traits',
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:node:traits:set'],
  asks: 'handler',
  body: TraitsBody,
  async handler(call) {
    const { traits } = call.body as { traits?: string[] }
    if (traits === undefined)
      throw new Invalid('Give the list of all traits as "traits", or a single trait at the end of the path.')
    await addTraits(call, traits, true)
  },
})

const addTrait = route({
  ...window,
  method: 'PUT',
  path: '/v1/nodes/:node/traits/:trait',
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:node:traits:set'],
  asks: 'handler',
  body: members({}, { others: true }),
  async handler(call) {
    const trait = Trait.read('trait', call.params['trait'])
    if (Object.keys(call.body).length > 0)
      throw new InvalidParameterValue('No body should be provided when adding a trait')
    await addTraits(call, [trait], false)
    return at(resourceUrl(call.url, 'nodes', `${call.params['node']}/traits/${trait}`))
  },
})

async function removeTraits(call: AnyCall, traits: string[] | null): Promise<void> {
  const node = await visibleNode(call, 'baremetal:node:traits:delete')
  const conductor = await conductorOf(call, node)
  try {
    const after = traits === null ? [] : namesOf(node).filter((name) => !traits.includes(name))
    await changeTraits(call, node, after, () =>
      conductor.remove_node_traits(call.context, { node_id: node.id, traits }),
    )
  } catch (cause) {
    if (!(cause instanceof NodeTraitNotFound)) throw cause
    throw new NodeTraitNotFound({ node_id: node.uuid, trait: traits?.join(', ') ?? '' }, { cause })
  }
}

const deleteTraits = route({
  ...window,
  method: 'DELETE',
  path: '/v1/nodes/:node/traits',
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:node:traits:delete'],
  asks: 'handler',
  handler: (call) => removeTraits(call, null),
})

const deleteTrait = route({
  ...window,
  method: 'DELETE',
  path: '/v1/nodes/:node/traits/:trait',
  status: 204,
  policy: ['baremetal:node:get', 'baremetal:node:traits:delete'],
  asks: 'handler',
  handler: (call) => removeTraits(call, [call.params['trait']!]),
})

export const nodeTraitRoutes = [listTraits, setTraits, addTrait, deleteTraits, deleteTrait]
