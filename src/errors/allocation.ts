import { defineError } from './define.ts'
import { Conflict, NotFound } from './base.ts'

export const AllocationAlreadyExists = defineError<{ uuid: unknown }>(
  'AllocationAlreadyExists',
  Conflict,
  (p) => `Allocation uuid is taken: uuid ${p.uuid}.`,
)
export const AllocationDuplicateName = defineError<{ name: unknown }>(
  'AllocationDuplicateName',
  Conflict,
  (p) => `Allocation name is taken: name ${p.name}.`,
)
export const AllocationFailed = defineError<{ uuid: unknown; error: unknown }>(
  'AllocationFailed',
  500,
  (p) => `Allocation processing failed: uuid ${p.uuid}, error ${p.error}.`,
)
export const AllocationNotFound = defineError<{ allocation: unknown }>(
  'AllocationNotFound',
  NotFound,
  (p) => `Allocation does not exist: allocation ${p.allocation}.`,
)
