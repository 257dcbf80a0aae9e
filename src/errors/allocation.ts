import { defineError } from './define.ts'
import { Conflict, NotFound } from './base.ts'

export const AllocationAlreadyExists = defineError<{ uuid: unknown }>(
  'AllocationAlreadyExists',
  Conflict,
  (p) => `An allocation with the uuid ${p.uuid} exists already.`,
)
export const AllocationDuplicateName = defineError<{ name: unknown }>(
  'AllocationDuplicateName',
  Conflict,
  (p) => `An allocation named ${p.name} exists already; choose another name.`,
)
export const AllocationFailed = defineError<{ uuid: unknown; error: unknown }>(
  'AllocationFailed',
  500,
  (p) => `Allocation ${p.uuid} failed: ${p.error}.`,
)
export const AllocationNotFound = defineError<{ allocation: unknown }>(
  'AllocationNotFound',
  NotFound,
  (p) => `Allocation ${p.allocation} does not exist.`,
)
