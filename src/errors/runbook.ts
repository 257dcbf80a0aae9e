import { defineError } from './define.ts'
import { Conflict, Invalid, NotFound } from './base.ts'

export const DeployTemplateAlreadyExists = defineError<{ uuid: unknown }>(
  'DeployTemplateAlreadyExists',
  Conflict,
  (p) => `A deploy template with the uuid ${p.uuid} exists already.`,
)
export const DeployTemplateDuplicateName = defineError<{ name: unknown }>(
  'DeployTemplateDuplicateName',
  Conflict,
  (p) => `A deploy template named ${p.name} exists already; choose another name.`,
)
export const DeployTemplateNotFound = defineError<{ template: unknown }>(
  'DeployTemplateNotFound',
  NotFound,
  (p) => `Deploy template ${p.template} does not exist.`,
)
export const InvalidDeployTemplate = defineError<{ err: unknown }>(
  'InvalidDeployTemplate',
  Invalid,
  (p) => `The deploy template is not valid: ${p.err}.`,
)
export const RunbookAlreadyExists = defineError<{ uuid: unknown }>(
  'RunbookAlreadyExists',
  Conflict,
  (p) => `A runbook with the uuid ${p.uuid} exists already.`,
)
export const RunbookDuplicateName = defineError<{ name: unknown }>(
  'RunbookDuplicateName',
  Conflict,
  (p) => `A runbook named ${p.name} exists already; choose another name.`,
)
export const RunbookNotFound = defineError<{ runbook: unknown }>(
  'RunbookNotFound',
  NotFound,
  (p) => `Runbook ${p.runbook} does not exist.`,
)
export const RunbookTraitNotFound = defineError<{ runbook_id: unknown; trait: unknown }>(
  'RunbookTraitNotFound',
  NotFound,
  (p) => `Runbook ${p.runbook_id} does not have the trait ${p.trait}.`,
)
export const StepNotAllowed = defineError<{ step_type: unknown; step: unknown }>(
  'StepNotAllowed',
  Invalid,
  (p) => `The ${p.step_type} step ${p.step} is not allowed by the operator of this service.`,
)
export const TraitBasedNetworkingException = defineError<Record<string, never>>(
  'TraitBasedNetworkingException',
  500,
  () => 'Root of trait networking errors.',
)
