import { addTrait, removeAllTraits, removeTrait, setTraits } from '../../db/traits.ts'
import type { Methods, ServiceParts } from './parts.ts'

export const traitMethods = (parts: ServiceParts): Methods<'add_node_traits' | 'remove_node_traits'> => ({
  add_node_traits: (context, { node_id, traits, replace }) =>
    parts.tasks.exclusive(context, node_id, 'adding traits', async ({ node, db }) => {
      if (replace === true) await setTraits(db, node.id, traits ?? [])
      else for (const trait of traits ?? []) await addTrait(db, node.id, trait)
    }),
  remove_node_traits: (context, { node_id, traits }) =>
    parts.tasks.exclusive(context, node_id, 'removing traits', async ({ node, db }) => {
      if (traits === null) await removeAllTraits(db, node.id)
      else for (const trait of traits) await removeTrait(db, node.id, trait)
    }),
})
