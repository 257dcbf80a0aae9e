import { defineError } from './define.ts'
import { Conflict, Invalid, NotFound } from './base.ts'

export const ChassisAlreadyExists = defineError<{ uuid: unknown }>(
  'ChassisAlreadyExists',
  Conflict,
  (p) => `Chassis uuid is taken: uuid ${p.uuid}.`,
)
export const ChassisNotEmpty = defineError<{ chassis: unknown }>(
  'ChassisNotEmpty',
  Invalid,
  (p) => `Chassis still has nodes: chassis ${p.chassis}.`,
)
export const ChassisNotFound = defineError<{ chassis: unknown }>(
  'ChassisNotFound',
  NotFound,
  (p) => `Chassis does not exist: chassis ${p.chassis}.`,
)
