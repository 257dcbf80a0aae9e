/** The request that logs in to Keystone, by the options of keystoneauth1's plugins. */

/** Names and meanings are those of keystoneauth1's `password` and `v3applicationcredential` plugins. */
export interface LoginOptions {
  readonly auth_type: string | null
  readonly auth_url: string | null
  readonly username?: string | null
  readonly user_id?: string | null
  readonly password?: string | null
  readonly user_domain_id?: string | null
  readonly user_domain_name?: string | null
  readonly project_id?: string | null
  readonly project_name?: string | null
  readonly project_domain_id?: string | null
  readonly project_domain_name?: string | null
  readonly tenant_id?: string | null
  readonly tenant_name?: string | null
  readonly domain_id?: string | null
  readonly domain_name?: string | null
  readonly default_domain_id?: string | null
  readonly default_domain_name?: string | null
  readonly system_scope?: string | null
  readonly trust_id?: string | null
  readonly application_credential_id?: string | null
  readonly application_credential_name?: string | null
  readonly application_credential_secret?: string | null
}

/** The options do not make a login; the sentence names what is missing. */
export class IncompleteLogin extends Error {
  override readonly name = 'IncompleteLogin'
}

type Body = Readonly<Record<string, unknown>>
type Domain = { id: string } | { name: string }

const need = (value: string | null | undefined, option: string): string => {
  if (value === null || value === undefined || value === '')
    throw new IncompleteLogin(`The option ${option} is missing.`)
  return value
}

function domain(
  id: string | null | undefined,
  name: string | null | undefined,
  options: LoginOptions,
): { domain?: Domain } {
  const both = [
    [id, name],
    [options.default_domain_id, options.default_domain_name],
  ]
  for (const [byId, byName] of both) {
    if (byId) return { domain: { id: byId } }
    if (byName) return { domain: { name: byName } }
  }
  return {}
}

const userOf = (options: LoginOptions): Body =>
  options.user_id
    ? { id: options.user_id }
    : { name: need(options.username, 'username'), ...domain(options.user_domain_id, options.user_domain_name, options) }

function password(options: LoginOptions): Body {
  const user = { ...userOf(options), password: need(options.password, 'password') }
  const scope = scopeOf(options)
  return {
    auth: { identity: { methods: ['password'], password: { user } }, ...(scope === undefined ? {} : { scope }) },
  }
}

function applicationCredential(options: LoginOptions): Body {
  const secret = need(options.application_credential_secret, 'application_credential_secret')
  const which = options.application_credential_id
    ? { id: options.application_credential_id }
    : {
        name: need(options.application_credential_name, 'application_credential_id or application_credential_name'),
        user: userOf(options),
      }
  // Its scope is its own; Keystone refuses another one.
  return { auth: { identity: { methods: ['application_credential'], application_credential: { ...which, secret } } } }
}

function scopeOf(options: LoginOptions): Body | undefined {
  const projectId = options.project_id ?? options.tenant_id
  const projectName = options.project_name ?? options.tenant_name
  if (options.trust_id) return { 'OS-TRUST:trust': { id: options.trust_id } }
  if (options.system_scope === 'all') return { system: { all: true } }
  if (options.domain_id) return { domain: { id: options.domain_id } }
  if (options.domain_name) return { domain: { name: options.domain_name } }
  if (projectId) return { project: { id: projectId } }
  if (!projectName) return undefined
  return { project: { name: projectName, ...domain(options.project_domain_id, options.project_domain_name, options) } }
}

const plugins: Readonly<Record<string, (options: LoginOptions) => Body>> = {
  password,
  v3password: password,
  v3applicationcredential: applicationCredential,
}

/**
 * The body of `POST /v3/auth/tokens`.
 * @throws IncompleteLogin naming the option that is missing, or the plugin that is not known
 */
export function loginBody(options: LoginOptions): Body {
  const name = need(options.auth_type, 'auth_type')
  const plugin = Object.hasOwn(plugins, name) ? plugins[name] : undefined
  if (plugin === undefined) {
    throw new IncompleteLogin(
      `The option auth_type = ${name} is not supported; use ${Object.keys(plugins).join(', ')}.`,
    )
  }
  return plugin(options)
}
