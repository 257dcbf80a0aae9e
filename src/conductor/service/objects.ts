import { InvalidParameterValue } from '../../errors/base.ts'
import type { Methods } from './parts.ts'

const refuse = (): Promise<never> =>
  Promise.reject(
    new InvalidParameterValue(
      'This conductor does not answer database requests of other services; set [DEFAULT]use_rpc_for_database to false there.',
    ),
  )

/** oslo.versionedobjects' indirection: every service of this release reads the database itself. */
export const objectMethods = (): Methods<
  'object_action' | 'object_class_action_versions' | 'object_backport_versions'
> => ({
  object_action: refuse,
  object_class_action_versions: refuse,
  object_backport_versions: refuse,
})
