import type { Row } from '../../../db/codec.ts'
import type { DeployTemplate } from '../../../objects/index.ts'
import { defineView, rowOf } from '../../view.ts'
import { shownSteps } from '../steps.ts'
import { deployTemplateFields } from './fields.ts'

export const deployTemplateView = defineView({
  fields: deployTemplateFields,
  resource: 'deploy_templates',
  extrasNamed: true,
})

export const deployTemplateRow = (template: DeployTemplate): Row => ({
  ...rowOf(template),
  steps: shownSteps(template.steps),
})
