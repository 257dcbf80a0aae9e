import type { RequestContext } from '../../domain/context.ts'
import type { CatalogService } from '../../lib/keystone-auth/token.ts'

/** What authentication found out about the caller; the rest of the context belongs to the request. */
export type Identity = Omit<RequestContext, 'request_id' | 'global_request_id' | 'is_admin' | 'is_public_api'>

/** Header names in lower case, as Node gives them. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** An answer that ends the request before any route sees it. Its body has its own shape, not the API's error envelope. */
export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

export type Verdict =
  /** `catalog`: where Keystone says that services are; kept only when something wants it */
  { readonly identity: Identity; readonly catalog?: readonly CatalogService[] } | { readonly refusal: Refusal }

/** One way to find out who asks: `[DEFAULT]auth_strategy`. */
export interface Authenticator {
  /** Never throws for what a client sent; an error here is ours (500). */
  identify(
    headers: RequestHeaders,
    request: { readonly method: string; readonly path: string },
  ): Verdict | Promise<Verdict>
  close(): Promise<void>
}

/** A caller of a public route, or one that nothing is known of. Identity headers of the client are never believed. */
export const stranger: Identity = { roles: [], is_admin_project: true }

/** One header as one text: when a client repeats it, the first. */
export const headerOf = (headers: RequestHeaders, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}
