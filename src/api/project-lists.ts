import { HTTPForbidden } from '../errors/base.ts'
import type { AnyCall } from './resource.ts'

/**
 * Whose things a list shows: who may not list all (`baremetal:<object>:list_all`) sees those of the own project, with the
 * right `baremetal:<object>:list`.
 * @param owner the project that the request asks for, if any
 * @returns the project to filter by; undefined: no filter
 * @throws HTTPForbidden
 */
export function projectOfList({ api, context }: AnyCall, object: string, owner?: string): string | undefined {
  try {
    api.policy.authorize(context, `baremetal:${object}:list_all`)
    return owner
  } catch (error) {
    if (!(error instanceof HTTPForbidden)) throw error
    const own = context.project_id
    if (!own || (owner !== undefined && owner !== own)) throw error
    api.policy.authorize(context, `baremetal:${object}:list`)
    return own
  }
}
