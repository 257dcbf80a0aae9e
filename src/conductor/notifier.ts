import type { RequestContext } from '../domain/context.ts'
import type { Node } from '../objects/index.ts'

export type NotificationStatus = 'start' | 'end' | 'error' | 'success'
export type NotificationLevel = 'debug' | 'info' | 'warning' | 'error' | 'critical'

/** Something that a conductor did to a node: `baremetal.node.<action>.<status>`. */
export interface NodeEvent {
  readonly context: RequestContext
  readonly node: Node
  /** `provision_set`, `power_set`, `power_state_corrected`, `console_set`, `console_restore`, `console_stop` … */
  readonly action: string
  readonly status: NotificationStatus
  readonly level: NotificationLevel
  /** what the payload says beyond the node: `event`, `previous_provision_state`, `to_power`, `from_power` … */
  readonly extra: Readonly<Record<string, unknown>>
}

/** Where node events go. `emit` must take what it needs of the node before it returns, and never throws. */
export interface NodeNotifier {
  emit(event: NodeEvent): void
}

/** `notification_level` is not set: nobody listens. */
export const noNotifications: NodeNotifier = { emit() {} }
