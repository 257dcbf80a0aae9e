/** What is known of a request before it is routed: the path taken apart, the version, the marks that its answer carries. */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { namedVersion } from './microversions.ts'

export interface Target {
  /** decoded path */
  readonly path: string
  /** decoded segments below the API's version; empty for `/` and `/v1` */
  readonly segments: readonly string[]
  /** `/` rather than `/v1` */
  readonly atRoot: boolean
  readonly query: string
  readonly jsonSuffix: boolean
}

const decode = (segment: string): string => {
  if (!segment.includes('%')) return segment
  try {
    // an encoded slash stays encoded: it is no separator
    return segment
      .split(/(%2f)/i)
      .map((part) => (/^%2f$/i.test(part) ? part : decodeURIComponent(part)))
      .join('')
  } catch {
    return segment
  }
}

/** Below 1.91 a `.json` at the end of the path is no part of it. Clients that name no version get no such help. */
export function parseTarget(url: string, headers: IncomingHttpHeaders): Target {
  const mark = url.indexOf('?')
  let path = mark === -1 ? url : url.slice(0, mark)
  if (path.includes('://')) path = path.replace(/^[a-z]+:\/\/[^/]*/i, '')
  const fragment = path.indexOf('#')
  if (fragment !== -1) path = path.slice(0, fragment)
  let jsonSuffix = false
  const bare = path.replace(/\/+$/, '')
  if (bare.endsWith('.json') && stripsJson(headers)) {
    path = bare.slice(0, -5)
    jsonSuffix = true
  }
  const parts = path.split('/').slice(1).map(decode)
  if (parts[0] === 'v1') parts.shift()
  const atRoot = parts.length === 0 ? path === '' : parts.length === 1 && parts[0] === '' && path === '/'
  if (parts.at(-1) === '') parts.pop()
  return { path, segments: parts, atRoot, query: mark === -1 ? '' : url.slice(mark + 1), jsonSuffix }
}

const stripsJson = (headers: IncomingHttpHeaders): boolean => {
  const minor = /^\s*\d+\.(\d+)\s*$/.exec(namedVersion(headers))?.[1]
  return minor !== undefined && Number(minor) < 91
}

export const newRequestId = (): string => `req-${randomUUID()}`

/** The id that the caller gave its own request, when it is one. */
export const globalRequestId = (headers: IncomingHttpHeaders): string | null => {
  const given = headers['x-openstack-request-id']
  return typeof given === 'string' && /^req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(given) ? given : null
}
