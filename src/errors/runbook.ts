import { defineError } from './define.ts'
import { Conflict, Invalid, NotFound } from './base.ts'

export const DeployTemplateAlreadyExists = defineError<{ uuid: unknown }>(
  'DeployTemplateAlreadyExists',
  Conflict,
  (p) => `Deploy template uuid is taken: uuid ${p.uuid}.`,
)
export const DeployTemplateDuplicateName = defineError<{ name: unknown }>(
  'DeployTemplateDuplicateName',
  Conflict,
  (p) => `Deploy template name is taken: name ${p.name}.`,
)
export const DeployTemplateNotFound = defineError<{ template: unknown }>(
  'DeployTemplateNotFound',
  NotFound,
  (p) => `Deploy template does not exist: template ${p.template}.`,
)
export const InvalidDeployTemplate = defineError<{ err: unknown }>(
  'InvalidDeployTemplate',
  Invalid,
  (p) => `Deploy template content is wrong: err ${p.err}.`,
)
export const RunbookAlreadyExists = defineError<{ uuid: unknown }>(
  'RunbookAlreadyExists',
  Conflict,
  (p) => `Runbook uuid is taken: uuid ${p.uuid}.`,
)
export const RunbookDuplicateName = defineError<{ name: unknown }>(
  'RunbookDuplicateName',
  Conflict,
  (p) => `Runbook name is taken: name ${p.name}.`,
)
export const RunbookNotFound = defineError<{ runbook: unknown }>(
  'RunbookNotFound',
  NotFound,
  (p) => `Runbook does not exist: runbook ${p.runbook}.`,
)
export const RunbookTraitNotFound = defineError<{ runbook_id: unknown; trait: unknown }>(
  'RunbookTraitNotFound',
  NotFound,
  (p) => `Runbook lacks the trait: runbook_id ${p.runbook_id}, trait ${p.trait}.`,
)
export const StepNotAllowed = defineError<{ step_type: unknown; step: unknown }>(
  'StepNotAllowed',
  Invalid,
  (p) => `Operator disallowed this step: step_type ${p.step_type}, step ${p.step}.`,
)
export const TraitBasedNetworkingException = defineError<Record<string, never>>(
  'TraitBasedNetworkingException',
  500,
  () => 'Root of trait networking errors.',
)
