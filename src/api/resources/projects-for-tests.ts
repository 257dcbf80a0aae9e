/** An API that asks its policies, with callers of several projects; for the tests beside the resources. */
import { testConfig } from '../../config/for-tests.ts'
import { silentLogger } from '../../lib/oslo-log/logger.ts'
import type { ConductorClient } from '../../rpc/conductor.ts'
import type { Authorizer } from '../authorizer.ts'
import { testApi, type TestApi } from '../for-tests.ts'
import { PolicyAuthorizer } from '../policy-authorizer.ts'

const headers = (roles: string, scope: Record<string, string>) => ({ 'x-roles': roles, ...scope })

/** Headers of callers; the API under test takes identities from headers, the policies are asked as with Keystone. */
export const callers = {
  systemAdmin: headers('admin,manager,member,reader', { 'openstack-system-scope': 'all' }),
  systemReader: headers('reader', { 'openstack-system-scope': 'all' }),
  ownerManager: headers('manager,member,reader', { 'x-project-id': 'owner' }),
  ownerMember: headers('member,reader', { 'x-project-id': 'owner' }),
  ownerReader: headers('reader', { 'x-project-id': 'owner' }),
  lesseeMember: headers('member,reader', { 'x-project-id': 'lessee' }),
  strangerManager: headers('manager,member,reader', { 'x-project-id': 'stranger' }),
} as const

export const policy = (): Authorizer =>
  PolicyAuthorizer.open({
    config: testConfig({ DEFAULT: { auth_strategy: 'keystone' } }),
    log: silentLogger,
    find: () => undefined,
  })

export const apiWithPolicies = async (conductor?: ConductorClient): Promise<TestApi> =>
  testApi({ policy: policy(), ...(conductor === undefined ? {} : { conductor }) })
