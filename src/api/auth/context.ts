import type { RequestContext } from '../../domain/context.ts'
import type { Identity } from './authenticator.ts'

export interface RequestMarks {
  readonly request_id: string
  readonly global_request_id: string | null
  readonly is_public_api: boolean
}

/** Who asks and in which request: what handlers, policies and the conductor get. */
export const contextOf = (identity: Identity, marks: RequestMarks): RequestContext => ({ ...identity, ...marks })
