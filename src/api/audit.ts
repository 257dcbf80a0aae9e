/** `[audit]`: tells of each request and of how it ended, as CADF events. */
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { Config } from '../config/index.ts'
import type { RequestContext } from '../domain/context.ts'
import { InputFileError } from '../errors/general.ts'
import { requestEvent, responseEvent, type CadfEvent } from '../lib/cadf/audit-event.ts'
import { readAuditMap } from '../lib/cadf/audit-map.ts'
import type { CatalogService } from '../lib/keystone-auth/token.ts'
import { ConfigError } from '../lib/oslo-config/errors.ts'
import { maskText } from '../lib/secrets/mask.ts'
import type { Target } from './request.ts'

export interface Audited {
  readonly raw: IncomingMessage
  readonly method: string
  readonly target: Target
  readonly context: RequestContext
  /** where Keystone says that services are; empty without Keystone */
  readonly catalog: readonly CatalogService[]
}

/** Told of a request before it is served; the function that comes back is told its status, or null when no answer was made. */
export type Audit = (request: Audited) => (status: number | null) => void

/** Takes `audit.http.request` and `audit.http.response`. */
export type AuditSink = (eventType: string, event: CadfEvent) => void

/**
 * @returns undefined when `[audit]enabled` is false
 * @throws InputFileError when the map cannot be read
 */
export async function configuredAudit(
  { audit: options }: Pick<Config, 'audit'>,
  sink: AuditSink,
  now: () => Date,
): Promise<Audit | undefined> {
  if (!options.enabled) return undefined
  const map = await auditMap(options.audit_map_file)
  const ignored = new Set(options.ignore_req_list.split(',').map((method) => method.trim().toUpperCase()))
  return ({ raw, method, target, context, catalog }) => {
    if (ignored.has(method)) return () => {}
    const { user_id: id, user_name: name = null, project_id: projectId = null } = context
    const request = {
      method,
      path: target.path,
      query: maskText(target.query),
      host: raw.headers.host ?? '',
      client: raw.socket.remoteAddress,
      agent: raw.headers['user-agent'],
      requestId: context.request_id,
      globalRequestId: context.global_request_id ?? null,
      user: id ? { id, name, projectId } : null,
      catalog,
    }
    const event = requestEvent(request, map, now())
    sink('audit.http.request', event)
    return (status) => sink('audit.http.response', responseEvent(event, status, now()))
  }
}

async function auditMap(path: string) {
  try {
    return readAuditMap(await readFile(path, 'utf8'), path)
  } catch (cause) {
    const isKnown = cause instanceof ConfigError || (cause instanceof Error && 'syscall' in cause)
    if (!isKnown) throw cause
    throw new InputFileError(`[audit]audit_map_file: ${path} cannot be read (${cause.message}).`, { cause })
  }
}
