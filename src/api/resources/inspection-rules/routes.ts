import { randomUUID } from 'node:crypto'
import {
  createInspectionRule,
  destroyInspectionRule,
  getInspectionRule,
  listInspectionRuleRows,
  updateInspectionRule,
  type InspectionRuleValues,
} from '../../../db/inspection-rules.ts'
import { Invalid } from '../../../errors/base.ts'
import { PatchError } from '../../../errors/general.ts'
import { InspectionRuleNotFound, InspectionRuleValidationFailure } from '../../../errors/inspection.ts'
import { validateRule } from '../../../inspection/rules/validate.ts'
import type { InspectionRule } from '../../../objects/index.ts'
import type { JsonDict } from '../../../objects/versioned-object.ts'
import { announced } from '../../announce.ts'
import { createBody, PatchBody, patched, patchValues, readPatched, updatable } from '../../bodies.ts'
import { resourceUrl } from '../../links.ts'
import { listAnswer, detailArgs, fieldArgs, listReply, pageArgs, pageOf, shownFields } from '../../listing.ts'
import { jsonText, optional, route, type AnyCall } from '../../resource.ts'
import { Text, Uuid } from '../../values.ts'
import { rowOf } from '../../view.ts'
import { inspectionRuleFields } from './fields.ts'
import { inspectionRuleView } from './view.ts'

const shown = (call: AnyCall, rule: InspectionRule, names: readonly string[] | null = null): string =>
  inspectionRuleView.writer(call.minor, names)(rowOf(rule), { url: call.url })

const ruleOf = (call: AnyCall): Promise<InspectionRule> =>
  getInspectionRule(call.api.db, Uuid.read('inspection_rule_uuid', call.params['rule']))

/** What a body says, with what it leaves out; checked. */
function complete(body: InspectionRuleValues & JsonDict): InspectionRuleValues {
  const rule = { conditions: [], ...body, phase: body.phase ?? 'main', sensitive: body.sensitive ?? false }
  try {
    validateRule(rule)
  } catch (error) {
    // real Ironic calls it a failure of its own
    if (error instanceof InspectionRuleValidationFailure) throw new Invalid(error.message, { cause: error })
    throw error
  }
  return rule
}

const listRules = route({
  method: 'GET',
  path: '/v1/inspection_rules',
  answer: listAnswer('inspection_rules', inspectionRuleView),
  since: 96,
  outside: 404,
  policy: 'baremetal:inspection_rule:get',
  args: { ...pageArgs, ...fieldArgs, ...detailArgs, phase: optional(Text) },
  async handler(call) {
    const { fields, detail, phase } = call.args
    const names = shownFields(call.args, inspectionRuleView.listed)
    const page = pageOf(call.args, call.api.config, ['actions', 'conditions'])
    inspectionRuleView.check(fields, call.minor)
    const rows = await listInspectionRuleRows(call.api.db, { ...page, filters: phase === undefined ? {} : { phase } })
    return listReply(call, {
      name: 'inspection_rules',
      rows,
      view: inspectionRuleView,
      context: { url: call.url },
      shown: names,
      path: 'inspection_rules',
      page,
      parameters: { detail, phase },
    })
  },
})

const showRule = route({
  method: 'GET',
  path: '/v1/inspection_rules/:rule',
  answer: inspectionRuleView,
  since: 96,
  outside: 404,
  policy: 'baremetal:inspection_rule:get',
  args: fieldArgs,
  async handler(call) {
    const { fields } = call.args
    const rule = await ruleOf(call)
    inspectionRuleView.check(fields, call.minor)
    return jsonText(shown(call, rule, fields ?? null))
  },
})

const createRule = route({
  method: 'POST',
  path: '/v1/inspection_rules',
  answer: inspectionRuleView,
  since: 96,
  outside: 405,
  status: 201,
  policy: 'baremetal:inspection_rule:create',
  body: createBody(inspectionRuleFields),
  fields: inspectionRuleFields,
  async handler(call) {
    const values = complete(call.body)
    const uuid = values.uuid ?? randomUUID()
    const wanted = { ...values, uuid }
    const rule = await announced(call, 'inspectionrule.create', wanted, () => createInspectionRule(call.api.db, wanted))
    return jsonText(shown(call, rule), { location: resourceUrl(call.url, 'inspection_rules', uuid) })
  },
})

const allowed = updatable(inspectionRuleFields)

const updateRule = route({
  method: 'PATCH',
  path: '/v1/inspection_rules/:rule',
  answer: inspectionRuleView,
  since: 96,
  outside: 405,
  policy: 'baremetal:inspection_rule:update',
  body: PatchBody,
  async handler(call) {
    const rule = await ruleOf(call)
    if (rule.sensitive && patchValues(call.body, '/sensitive')[0] === false) {
      throw new PatchError({ patch: '/sensitive', reason: 'a rule that is sensitive stays so' })
    }
    const after = readPatched(
      inspectionRuleFields,
      patched({ ...rule, conditions: rule.conditions ?? [] }, call.body),
      (name) => allowed.includes(name),
    )
    const { uuid, ...values } = complete(after)
    if (uuid !== rule.uuid) throw new InspectionRuleNotFound({ rule: uuid })
    const wanted = {
      priority: values.priority ?? 0,
      phase: values.phase ?? null,
      description: values.description ?? null,
      // removing it must not open what it hides
      sensitive: rule.sensitive || (values.sensitive ?? false),
      conditions: values.conditions ?? [],
      actions: values.actions ?? rule.actions,
    }
    const changed = await announced(call, 'inspectionrule.update', { ...rule, ...wanted }, () =>
      updateInspectionRule(call.api.db, rule.id, wanted),
    )
    return jsonText(shown(call, changed))
  },
})

const deleteRule = route({
  method: 'DELETE',
  path: '/v1/inspection_rules/:rule',
  since: 96,
  outside: 405,
  status: 204,
  policy: 'baremetal:inspection_rule:delete',
  async handler(call) {
    const rule = await ruleOf(call)
    await announced(call, 'inspectionrule.delete', rule, () => destroyInspectionRule(call.api.db, rule.id))
  },
})

export const inspectionRuleRoutes = [listRules, showRule, createRule, updateRule, deleteRule]
