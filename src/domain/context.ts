/** Who asks: what oslo.context carries from the API to the conductor (`to_dict` keys on the wire). */
export interface RequestContext {
  readonly request_id: string
  readonly user_id?: string | null
  readonly user_name?: string | null
  readonly project_id?: string | null
  readonly project_name?: string | null
  readonly user_domain_id?: string | null
  readonly project_domain_id?: string | null
  readonly domain_id?: string | null
  readonly system_scope?: string | null
  readonly roles?: readonly string[]
  readonly is_admin?: boolean
  readonly is_admin_project?: boolean
  readonly is_public_api?: boolean
  readonly global_request_id?: string | null
  readonly auth_token?: string | null
  readonly service_roles?: readonly string[]
  readonly service_user_id?: string | null
  readonly service_user_domain_id?: string | null
  readonly service_project_id?: string | null
  readonly service_project_domain_id?: string | null
}

/** The service itself: periodic work, start-up. */
export const adminContext = (request_id: string): RequestContext => ({ request_id, is_admin: true, roles: ['admin'] })
