import { defineError } from './define.ts'
import { Conflict, NotFound } from './base.ts'
import { HardwareInspectionFailure } from './driver.ts'

export const InspectionRuleAlreadyExists = defineError<{ uuid: unknown }>(
  'InspectionRuleAlreadyExists',
  Conflict,
  (p) => `Inspection rule uuid is taken: uuid ${p.uuid}.`,
)
export const InspectionRuleExecutionFailure = defineError<{ reason: unknown }>(
  'InspectionRuleExecutionFailure',
  HardwareInspectionFailure,
  (p) => `Running inspection rules failed: reason ${p.reason}.`,
)
export const InspectionRuleNotFound = defineError<{ rule: unknown }>(
  'InspectionRuleNotFound',
  NotFound,
  (p) => `Inspection rule does not exist: rule ${p.rule}.`,
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
