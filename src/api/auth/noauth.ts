import { headerOf, type Authenticator, type Identity, type RequestHeaders } from './authenticator.ts'

/** Header to member of the identity, as oslo.context reads them. */
const members = {
  user_id: ['x-user-id', 'x-user'],
  user_name: ['x-user-name'],
  user_domain_id: ['x-user-domain-id'],
  project_id: ['x-project-id', 'x-tenant-id', 'x-tenant'],
  project_name: ['x-project-name', 'x-tenant-name'],
  project_domain_id: ['x-project-domain-id'],
  domain_id: ['x-domain-id'],
  system_scope: ['openstack-system-scope'],
} as const satisfies Partial<Record<keyof Identity, readonly string[]>>

const list = (text: string | undefined) => (text ? text.split(',').map((item) => item.trim()) : [])

/** Who the headers say that the caller is. Only where everybody may do everything: then it names someone in logs and events. */
function claimedIdentity(headers: RequestHeaders): Identity {
  const claimed = Object.entries(members).flatMap(([member, names]) => {
    const value = names.map((name) => headerOf(headers, name)).find((text) => text !== undefined)
    return value === undefined ? [] : [[member, value]]
  })
  return {
    ...(Object.fromEntries(claimed) as Partial<Identity>),
    roles: list(headerOf(headers, 'x-roles') ?? headerOf(headers, 'x-role')),
    is_admin_project: (headerOf(headers, 'x-is-admin-project') ?? 'true').toLowerCase() === 'true',
  }
}

/** `auth_strategy = noauth`: everybody may do everything, and no token is taken along. */
export const noauth: Authenticator = {
  identify: (headers) => ({ identity: claimedIdentity(headers) }),
  close: () => Promise.resolve(),
}
