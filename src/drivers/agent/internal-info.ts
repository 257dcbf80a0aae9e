import { internalTime } from '../../domain/internal-info.ts'
import type { Node } from '../../objects/index.ts'

export { internalTime }

/** Sets keys of `driver_internal_info`. Saving is the caller's. */
export function setInternal(node: Node, values: Readonly<Record<string, unknown>>): void {
  node.driver_internal_info = { ...node.driver_internal_info, ...values }
}

/** Takes keys out of `driver_internal_info`. Saving is the caller's. */
export function dropInternal(node: Node, ...keys: readonly string[]): void {
  const info = { ...node.driver_internal_info }
  for (const key of keys) delete info[key]
  node.driver_internal_info = info
}

export const internal = (node: Node, key: string): unknown => node.driver_internal_info?.[key]
