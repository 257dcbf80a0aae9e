import { randomUUID } from 'node:crypto'
import {
  createDeployTemplate,
  destroyDeployTemplate,
  getDeployTemplate,
  listDeployTemplates,
  updateDeployTemplate,
  type DeployTemplateValues,
} from '../../../db/deploy-templates.ts'
import { DeployTemplateNotFound } from '../../../errors/runbook.ts'
import type { DeployTemplate } from '../../../objects/index.ts'
import { announced } from '../../announce.ts'
import { createBody, PatchBody, patched, patchedFields, readPatched, updatable } from '../../bodies.ts'
import { resourceUrl } from '../../links.ts'
import { listAnswer, detailArgs, fieldArgs, listReply, pageArgs, pageOf, shownFields } from '../../listing.ts'
import { jsonText, route, type AnyCall } from '../../resource.ts'
import { orWithSuffix } from '../../suffix.ts'
import { UuidOrName } from '../../values.ts'
import { checkDuplicates } from '../steps.ts'
import { deployTemplateFields } from './fields.ts'
import { deployTemplateRow, deployTemplateView } from './view.ts'

const shown = (call: AnyCall, template: DeployTemplate, names: readonly string[] | null = null): string =>
  deployTemplateView.writer(call.minor, names)(deployTemplateRow(template), { url: call.url })

const templateOf = (call: AnyCall): Promise<DeployTemplate> =>
  orWithSuffix(call, UuidOrName.read('template_ident', call.params['template']), DeployTemplateNotFound, (ident) =>
    getDeployTemplate(call.api.db, ident),
  )

const listTemplates = route({
  method: 'GET',
  path: '/v1/deploy_templates',
  answer: listAnswer('deploy_templates', deployTemplateView),
  since: 55,
  outside: 'routing 404',
  policy: 'baremetal:deploy_template:get',
  args: { ...pageArgs, ...fieldArgs, ...detailArgs },
  async handler(call) {
    const { fields, detail } = call.args
    const names = shownFields(call.args, deployTemplateView.listed)
    const page = pageOf(call.args, call.api.config, ['extra', 'steps'])
    deployTemplateView.check(fields, call.minor)
    const templates = await listDeployTemplates(call.api.db, page)
    return listReply(call, {
      name: 'deploy_templates',
      rows: templates.map(deployTemplateRow),
      view: deployTemplateView,
      context: { url: call.url },
      shown: names,
      path: 'deploy_templates',
      page,
      parameters: { detail },
    })
  },
})

const showTemplate = route({
  method: 'GET',
  path: '/v1/deploy_templates/:template',
  answer: deployTemplateView,
  since: 55,
  outside: 'routing 404',
  policy: 'baremetal:deploy_template:get',
  args: fieldArgs,
  async handler(call) {
    const { fields } = call.args
    const template = await templateOf(call)
    deployTemplateView.check(fields, call.minor)
    return jsonText(shown(call, template, fields ?? null))
  },
})

const createTemplate = route({
  method: 'POST',
  path: '/v1/deploy_templates',
  answer: deployTemplateView,
  since: 55,
  outside: 'routing 405',
  status: 201,
  policy: 'baremetal:deploy_template:create',
  body: createBody(deployTemplateFields),
  fields: deployTemplateFields,
  async handler(call) {
    const { description: _kept, ...values } = call.body as DeployTemplateValues & { description?: unknown }
    checkDuplicates(values.steps ?? [])
    const uuid = values.uuid ?? randomUUID()
    const wanted = { ...values, uuid }
    const template = await announced(call, 'deploytemplate.create', wanted, () =>
      createDeployTemplate(call.api.db, wanted),
    )
    // the answer repeats the steps as they were sent: a priority in quotes keeps them
    const answered = { ...template, steps: values.steps ?? [] }
    return jsonText(shown(call, answered), { location: resourceUrl(call.url, 'deploy_templates', uuid) })
  },
})

const allowed = updatable(deployTemplateFields)

const updateTemplate = route({
  method: 'PATCH',
  path: '/v1/deploy_templates/:template',
  answer: deployTemplateView,
  since: 55,
  outside: 'routing 405',
  policy: 'baremetal:deploy_template:update',
  body: PatchBody,
  async handler(call) {
    patchedFields(call.body, allowed, call.minor)
    const template = await templateOf(call)
    const after = readPatched(deployTemplateFields, patched(template, call.body), (name) => allowed.includes(name))
    const values = after as DeployTemplateValues
    checkDuplicates(values.steps ?? [])
    const wanted = {
      name: values.name ?? template.name,
      steps: values.steps ?? template.steps,
      extra: values.extra ?? null,
    }
    const changed = await announced(call, 'deploytemplate.update', { ...template, ...wanted }, () =>
      updateDeployTemplate(call.api.db, template.id, wanted),
    )
    return jsonText(shown(call, changed))
  },
})

const deleteTemplate = route({
  method: 'DELETE',
  path: '/v1/deploy_templates/:template',
  since: 55,
  outside: 'routing 405',
  status: 204,
  policy: 'baremetal:deploy_template:delete',
  async handler(call) {
    const template = await templateOf(call)
    await announced(call, 'deploytemplate.delete', template, () => destroyDeployTemplate(call.api.db, template.id))
  },
})

export const deployTemplateRoutes = [listTemplates, showTemplate, createTemplate, updateTemplate, deleteTemplate]
