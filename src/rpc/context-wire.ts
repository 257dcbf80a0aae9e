import type { RequestContext } from '../domain/context.ts'

/** The 18 keys of oslo.context that travel with a request. */
export function contextToWire(context: RequestContext): Record<string, unknown> {
  const of = (value: unknown) => value ?? null
  const identity = [
    context.user_id,
    context.project_id,
    context.domain_id,
    context.user_domain_id,
    context.project_domain_id,
  ]
  return {
    user: of(context.user_id),
    project_id: of(context.project_id),
    system_scope: of(context.system_scope),
    project: of(context.project_id),
    domain: of(context.domain_id),
    user_domain: of(context.user_domain_id),
    project_domain: of(context.project_domain_id),
    is_admin: context.is_admin ?? false,
    read_only: false,
    show_deleted: false,
    auth_token: of(context.auth_token),
    request_id: context.request_id,
    global_request_id: of(context.global_request_id),
    resource_uuid: null,
    roles: context.roles ?? [],
    user_identity: identity.map((part) => part ?? '-').join(' '),
    is_admin_project: context.is_admin_project ?? true,
    auth_token_info: null,
  }
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

/** Unknown keys are ignored, missing ones have their stock value. */
export function contextFromWire(sent: Readonly<Record<string, unknown>>, newRequestId: () => string): RequestContext {
  const { roles } = sent
  return {
    user_id: textOrNull(sent['user'] ?? sent['user_id']),
    project_id: textOrNull(sent['project_id'] ?? sent['project']),
    system_scope: textOrNull(sent['system_scope']),
    domain_id: textOrNull(sent['domain']),
    user_domain_id: textOrNull(sent['user_domain']),
    project_domain_id: textOrNull(sent['project_domain']),
    is_admin: sent['is_admin'] === true,
    auth_token: textOrNull(sent['auth_token']),
    request_id: textOrNull(sent['request_id']) ?? newRequestId(),
    global_request_id: textOrNull(sent['global_request_id']),
    roles: Array.isArray(roles) ? roles.map(String) : [],
    is_admin_project: sent['is_admin_project'] !== false,
  }
}
