import { addRunbookTrait, removeAllRunbookTraits, removeRunbookTrait, setRunbookTraits } from '../../../db/runbooks.ts'
import { Invalid } from '../../../errors/base.ts'
import { RunbookTraitNotFound } from '../../../errors/runbook.ts'
import { resourceUrl } from '../../links.ts'
import { at, route } from '../../resource.ts'
import { Anything, isMembers, listOf, members } from '../../values.ts'
import { TraitName } from '../deploy-templates/fields.ts'
import { authorizedRunbook } from './routes.ts'

const versions = { since: 112, outside: 'routing 404' } as const
const changing = { policy: 'baremetal:runbook:update', asks: 'handler', status: 204 } as const
const update = ['baremetal:runbook:update']

const listTraits = route({
  method: 'GET',
  path: '/v1/runbooks/:runbook/traits',
  ...versions,
  policy: 'baremetal:runbook:get',
  asks: 'handler',
  handler: async (call) => ({ traits: (await authorizedRunbook(call, ['baremetal:runbook:get'])).traits }),
})

const traitsBody = members({ traits: listOf(TraitName) }, { optional: ['traits'] })

const setTraits = route({
  method: 'PUT',
  path: '/v1/runbooks/:runbook/traits',
  ...versions,
  ...changing,
  body: traitsBody,
  async handler(call) {
    const runbook = await authorizedRunbook(call, update)
    const { traits } = call.body
    if (traits === undefined)
      throw new Invalid('Send {"traits": [...]} to replace all traits, or PUT /traits/<trait> to add one.')
    await setRunbookTraits(call.api.db, runbook.id, traits)
  },
})

const addTrait = route({
  method: 'PUT',
  path: '/v1/runbooks/:runbook/traits/:trait',
  ...versions,
  ...changing,
  body: Anything,
  async handler(call) {
    const trait = TraitName.read('trait', call.params['trait'])
    const runbook = await authorizedRunbook(call, update)
    if (isMembers(call.body) && Object.keys(call.body).length > 0) {
      throw new Invalid('A trait is added by its path alone; send no body.')
    }
    await addRunbookTrait(call.api.db, runbook.id, trait)
    return at(resourceUrl(call.url, 'runbooks', `${call.params['runbook']}/traits/${trait}`))
  },
})

const removeTraits = route({
  method: 'DELETE',
  path: '/v1/runbooks/:runbook/traits',
  ...versions,
  ...changing,
  async handler(call) {
    await removeAllRunbookTraits(call.api.db, (await authorizedRunbook(call, update)).id)
  },
})

const removeTrait = route({
  method: 'DELETE',
  path: '/v1/runbooks/:runbook/traits/:trait',
  ...versions,
  ...changing,
  async handler(call) {
    const runbook = await authorizedRunbook(call, update)
    try {
      await removeRunbookTrait(call.api.db, runbook.id, call.params['trait'] ?? '')
    } catch (error) {
      // gone already, which is what was wanted
      if (!(error instanceof RunbookTraitNotFound)) throw error
    }
  },
})

export const runbookTraitRoutes = [listTraits, setTraits, addTrait, removeTraits, removeTrait]
