import { defineError } from './define.ts'

export const Conflict = defineError<Record<string, never>>('Conflict', 409, () => 'Clashes with the current state.')
export const NotFound = defineError<Record<string, never>>('NotFound', 404, () => 'Generic missing resource.')
export const BadRequest = defineError<Record<string, never>>(
  'BadRequest',
  400,
  () => 'Request content is not acceptable.',
)
export const Invalid = defineError<Record<string, never>>('Invalid', 400, () => 'Request content is not acceptable.')
export const ClientSideError = defineError<Record<string, never>>(
  'ClientSideError',
  400,
  () => 'Free-form client fault, own code.',
)
export const TemporaryFailure = defineError<Record<string, never>>(
  'TemporaryFailure',
  503,
  () => 'Cannot serve right now, retry.',
)
export const NotAuthorized = defineError<Record<string, never>>('NotAuthorized', 403, () => 'Caller lacks the right.')
export const HTTPForbidden = defineError<{ resource: unknown }>(
  'HTTPForbidden',
  NotAuthorized,
  (p) => `The policy does not allow you ${p.resource}.`,
)
export const InvalidParameterValue = defineError<{ err: unknown }>('InvalidParameterValue', Invalid, (p) => `${p.err}`)
export const InvalidState = defineError<Record<string, never>>(
  'InvalidState',
  Conflict,
  () => 'Resource state forbids the change.',
)
export const NotAcceptable = defineError<Record<string, never>>(
  'NotAcceptable',
  406,
  () => 'API version too old for this.',
)
