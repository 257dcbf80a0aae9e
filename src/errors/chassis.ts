import { defineError } from './define.ts'
import { Conflict, Invalid, NotFound } from './base.ts'

export const ChassisAlreadyExists = defineError<{ uuid: unknown }>(
  'ChassisAlreadyExists',
  Conflict,
  (p) => `A chassis with the uuid ${p.uuid} exists already.`,
)
export const ChassisNotEmpty = defineError<{ chassis: unknown }>(
  'ChassisNotEmpty',
  Invalid,
  (p) => `Chassis ${p.chassis} has nodes; take them out of it first.`,
)
export const ChassisNotFound = defineError<{ chassis: unknown }>(
  'ChassisNotFound',
  NotFound,
  (p) => `Chassis ${p.chassis} does not exist.`,
)
