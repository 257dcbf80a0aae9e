import type { Config } from '../../config/index.ts'
import type { RequestContext } from '../../domain/context.ts'
import type { Credentials } from '../../lib/oslo-policy/compile.ts'

type ServiceProject = Pick<Config['DEFAULT'], 'rbac_service_role_elevated_access' | 'rbac_service_project_name'>

/** What a policy rule sees of the caller. Absent is null, which a check writes as `None`. */
export function policyCredentials(context: RequestContext, config: ServiceProject): Credentials {
  const named = config.rbac_service_role_elevated_access ? config.rbac_service_project_name : null
  return {
    user_id: context.user_id ?? null,
    user_domain_id: context.user_domain_id ?? null,
    system_scope: context.system_scope ?? null,
    domain_id: context.domain_id ?? null,
    project_id: context.project_id ?? null,
    project_name: context.project_name ?? null,
    project_domain_id: context.project_domain_id ?? null,
    roles: context.roles ?? [],
    is_admin_project: context.is_admin_project ?? true,
    is_public_api: context.is_public_api ?? false,
    service_user_id: context.service_user_id ?? null,
    service_user_domain_id: context.service_user_domain_id ?? null,
    service_project_id: context.service_project_id ?? null,
    service_project_domain_id: context.service_project_domain_id ?? null,
    service_roles: context.service_roles ?? [],
    // Without the key, the rule for the service role is never met.
    ...(named === null ? {} : { 'config.service_project_name': named }),
  }
}
