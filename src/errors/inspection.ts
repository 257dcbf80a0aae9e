import { defineError } from './define.ts'
import { Conflict, NotFound } from './base.ts'
import { HardwareInspectionFailure } from './driver.ts'

export const InspectionRuleAlreadyExists = defineError<{ uuid: unknown }>(
  'InspectionRuleAlreadyExists',
  Conflict,
  (p) => `An inspection rule with the uuid ${p.uuid} exists already.`,
)
export const InspectionRuleExecutionFailure = defineError<{ reason: unknown }>(
  'InspectionRuleExecutionFailure',
  HardwareInspectionFailure,
  (p) => `Running inspection rules failed: reason ${p.reason}.`,
)
export const InspectionRuleNotFound = defineError<{ rule: unknown }>(
  'InspectionRuleNotFound',
  NotFound,
  (p) => `Inspection rule ${p.rule} does not exist.`,
)
export const InspectionRuleValidationFailure = defineError<{ reason: unknown }>(
  'InspectionRuleValidationFailure',
  500,
  (p) => `Inspection rule is malformed: reason ${p.reason}.`,
)
export const RuleActionExecutionFailure = defineError<{ reason: unknown }>(
  'RuleActionExecutionFailure',
  InspectionRuleExecutionFailure,
  (p) => `A rule action failed: reason ${p.reason}.`,
)
export const RuleConditionCheckFailure = defineError<{ reason: unknown }>(
  'RuleConditionCheckFailure',
  InspectionRuleExecutionFailure,
  (p) => `A rule condition check failed: reason ${p.reason}.`,
)
