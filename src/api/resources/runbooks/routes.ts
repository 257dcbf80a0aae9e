import { randomUUID } from 'node:crypto'
import type { Row } from '../../../db/codec.ts'
import {
  createRunbook,
  destroyRunbook,
  getRunbook,
  listRunbooks,
  updateRunbook,
  type RunbookValues,
} from '../../../db/runbooks.ts'
import { Invalid } from '../../../errors/base.ts'
import { PatchError } from '../../../errors/general.ts'
import type { PatchOperation } from '../../../lib/json-patch/apply.ts'
import type { Runbook } from '../../../objects/index.ts'
import { announced } from '../../announce.ts'
import { createBody, PatchBody, patched, patchedFields, patchValues, readPatched, updatable } from '../../bodies.ts'
import { resourceUrl } from '../../links.ts'
import { listAnswer, detailArgs, fieldArgs, listReply, pageArgs, pageOf, shownFields } from '../../listing.ts'
import { projectOfList } from '../../project-lists.ts'
import { jsonText, optional, route, type AnyCall } from '../../resource.ts'
import { Anything, Flag, UuidOrName } from '../../values.ts'
import { defineView, rowOf } from '../../view.ts'
import { authorizeSteps } from '../nodes/provision.ts'
import { checkDuplicates, shownSteps } from '../steps.ts'
import { runbookFields, runbookFieldsIn } from './fields.ts'

const runbookView = defineView({ fields: runbookFields, resource: 'runbooks', extrasNamed: true })

const runbookRow = (runbook: Runbook): Row => ({ ...rowOf(runbook), steps: shownSteps(runbook.steps) })

const shown = (call: AnyCall, runbook: Runbook, names: readonly string[] | null = null): string =>
  runbookView.writer(call.minor, names)(runbookRow(runbook), { url: call.url })

const target = (runbook: Runbook) => ({ 'runbook.owner': runbook.owner })

/**
 * The runbook of the path, when the rules allow what is asked. Nothing is hidden: who may not see it gets a 403.
 * @throws RunbookNotFound, HTTPForbidden
 */
export async function authorizedRunbook(call: AnyCall, rules: readonly string[]): Promise<Runbook> {
  const runbook = await getRunbook(call.api.db, UuidOrName.read('runbook_ident', call.params['runbook']))
  for (const rule of rules) call.api.policy.authorize(call.context, rule, target(runbook))
  return runbook
}

const listRunbooksRoute = route({
  method: 'GET',
  path: '/v1/runbooks',
  answer: listAnswer('runbooks', runbookView),
  since: 92,
  outside: 'routing 404',
  policy: ['baremetal:runbook:list_all', 'baremetal:runbook:list'],
  asks: 'handler',
  args: { ...pageArgs, ...fieldArgs, ...detailArgs, project: optional(Flag) },
  async handler(call) {
    const { fields, detail } = call.args
    // `project=true` asks for what the own project sees, which others than the system's roles get anyway
    const everything = projectOfList(call, 'runbook')
    const project = call.args.project === true ? (call.context.project_id ?? '') : everything
    const names = shownFields(call.args, runbookView.listed)
    const page = pageOf(call.args, call.api.config, ['extra', 'steps', 'traits'])
    runbookView.check(fields, call.minor)
    const runbooks = await listRunbooks(call.api.db, { ...page, filters: project === undefined ? {} : { project } })
    return listReply(call, {
      name: 'runbooks',
      rows: runbooks.map(runbookRow),
      view: runbookView,
      context: { url: call.url },
      shown: names,
      path: 'runbooks',
      page,
      parameters: { detail, project: call.args.project },
    })
  },
})

const showRunbook = route({
  method: 'GET',
  path: '/v1/runbooks/:runbook',
  answer: runbookView,
  since: 92,
  outside: 'routing 404',
  policy: 'baremetal:runbook:get',
  asks: 'handler',
  args: fieldArgs,
  async handler(call) {
    const { fields } = call.args
    const runbook = await authorizedRunbook(call, [])
    if (!runbook.public) call.api.policy.authorize(call.context, 'baremetal:runbook:get', target(runbook))
    runbookView.check(fields, call.minor)
    return jsonText(shown(call, runbook, fields ?? null))
  },
})

/** Outside of the system's own roles a runbook belongs to the project of its author. */
function ownerOf({ context }: AnyCall, values: RunbookValues): string | null {
  if (context.system_scope === 'all') return values.owner ?? null
  const project = context.project_id || null
  if (values.owner && values.owner !== project) {
    throw new Invalid('A runbook can be created for the own project only; leave owner out.')
  }
  if (project !== null && values.public) throw new Invalid('A public runbook can be created with a system role only.')
  return project
}

const createRunbookRoute = route({
  method: 'POST',
  path: '/v1/runbooks',
  answer: runbookView,
  since: 92,
  outside: 'routing 405',
  status: 201,
  policy: 'baremetal:runbook:create',
  // read by the handler: in real Ironic the right to create comes before what the body says
  body: Anything,
  async handler(call) {
    const body = createBody(runbookFieldsIn(call.minor)).read('runbook', call.body) as RunbookValues
    const steps = body.steps ?? []
    checkDuplicates(steps)
    authorizeSteps(call, steps)
    const uuid = body.uuid ?? randomUUID()
    const wanted = {
      ...body,
      uuid,
      owner: ownerOf(call, body),
      public: body.public ?? false,
      disable_ramdisk: body.disable_ramdisk ?? false,
      traits: [],
    }
    const runbook = await announced(call, 'runbook.create', wanted, () => createRunbook(call.api.db, wanted))
    return jsonText(shown(call, runbook), { location: resourceUrl(call.url, 'runbooks', uuid) })
  },
})

/** The rules of a change: owner and public have their own, everything else falls under the general one. */
function rulesOf(patch: readonly PatchOperation[]): string[] {
  const rules = patch.map(({ path }) => {
    if (path.startsWith('/owner')) return 'baremetal:runbook:update:owner'
    return path.startsWith('/public') ? 'baremetal:runbook:update:public' : 'baremetal:runbook:update'
  })
  return rules.length === 0 ? ['baremetal:runbook:update'] : [...new Set(rules)]
}

/** A public runbook has no owner. @throws PatchError */
function checkOwnership(runbook: Runbook, patch: readonly PatchOperation[]): void {
  const [owner] = patchValues(patch, '/owner')
  const [isPublic = runbook.public] = patchValues(patch, '/public')
  if (owner !== undefined && isPublic)
    throw new PatchError({ patch: '/owner', reason: 'a public runbook has no owner' })
}

const updateRunbookRoute = route({
  method: 'PATCH',
  path: '/v1/runbooks/:runbook',
  answer: runbookView,
  since: 92,
  outside: 'routing 405',
  policy: ['baremetal:runbook:update', 'baremetal:runbook:update:owner', 'baremetal:runbook:update:public'],
  asks: 'handler',
  body: PatchBody,
  async handler(call) {
    const { body: patch } = call
    const fields = updatable(runbookFieldsIn(call.minor))
    const touched = patchedFields(patch, fields, call.minor)
    const runbook = await authorizedRunbook(call, rulesOf(patch))
    checkOwnership(runbook, patch)
    const before = patchValues(patch, '/public').length > 0 ? { ...runbook, owner: null } : runbook
    // whatever the version: a name of the newer kind must not stand in the way of a change
    const allowed = updatable(runbookFields)
    const after = readPatched(runbookFields, patched(before, patch), (name) => allowed.includes(name)) as RunbookValues
    const steps = after.steps ?? runbook.steps
    checkDuplicates(steps)
    if (touched.has('steps')) authorizeSteps(call, steps)
    const wanted = {
      name: after.name ?? runbook.name,
      description: after.description ?? null,
      steps,
      disable_ramdisk: after.disable_ramdisk ?? false,
      extra: after.extra ?? null,
      public: after.public ?? false,
      owner: after.owner ?? null,
    }
    const changed = await announced(call, 'runbook.update', { ...runbook, ...wanted }, () =>
      updateRunbook(call.api.db, runbook.id, wanted),
    )
    return jsonText(shown(call, changed))
  },
})

const deleteRunbook = route({
  method: 'DELETE',
  path: '/v1/runbooks/:runbook',
  since: 92,
  outside: 'routing 405',
  status: 204,
  policy: 'baremetal:runbook:delete',
  asks: 'handler',
  async handler(call) {
    const runbook = await authorizedRunbook(call, ['baremetal:runbook:delete'])
    await announced(call, 'runbook.delete', runbook, () => destroyRunbook(call.api.db, runbook.id))
  },
})

export const runbookRoutes = [listRunbooksRoute, showRunbook, createRunbookRoute, updateRunbookRoute, deleteRunbook]
