import type { EventName } from '../notifications/events.ts'
import type { AnyCall } from './resource.ts'

type Source = Readonly<Record<string, unknown>>

/**
 * Does a change and tells of it: `start` before, `end` with the changed object after, `error` when it fails.
 * @param before the object as it was, or as it is to be made
 * @param extra what the payload says beyond the object, such as `node_uuid`
 */
export async function announced<T extends object | void>(
  { api, context }: AnyCall,
  event: EventName,
  before: Source,
  change: () => Promise<T>,
  extra: Source = {},
): Promise<T> {
  const tell = (status: 'start' | 'end' | 'error', source: Source) =>
    api.notifier?.emit({ context, event, status, source, extra })
  tell('start', before)
  try {
    const after = await change()
    tell('end', typeof after === 'object' ? (after as Source) : before)
    return after
  } catch (error) {
    tell('error', before)
    throw error
  }
}
