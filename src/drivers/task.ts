import type { Clock } from '../domain/clock.ts'
import type { RequestContext } from '../domain/context.ts'
import type { ProvisionEvent } from '../domain/machine.ts'
import type { Db } from '../db/database.ts'
import type { Config } from '../config/index.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import type { Node, Port, Portgroup, VolumeConnector, VolumeTarget } from '../objects/index.ts'
import type { Driver } from './interfaces/driver.ts'
import type { SharedParts } from './shared-parts.ts'

/** What every driver is built with: it must not reach for anything else. */
export interface DriverParts {
  readonly config: Config
  readonly db: Db
  readonly log: Logger
  readonly clock: Clock
  /** name of this conductor */
  readonly host: string
  /** what drivers of a family have in common: `new SharedParts()`, closed by the conductor when it stops */
  readonly shared: SharedParts
}

/** How a flow failed, for the node's `last_error`, its history and the log. */
export interface FlowFailure {
  /** for the log */
  readonly logMessage?: string
  /** becomes `last_error` */
  readonly message: string
  readonly cause?: unknown
  /** put the node into maintenance with the flow's fault (clean: `clean failure`) */
  readonly setMaintenance?: boolean
  /** tear the flow's networks and ramdisk down as well */
  readonly tearDown?: boolean
  /** set the fail state; false when the row is there already */
  readonly setFailState?: boolean
}

/**
 * What a driver sees of a locked node: Ironic's TaskManager. `node` is plain data; change it and `save()`.
 * Nothing else of the conductor is in a driver's reach.
 */
export interface Task {
  readonly context: RequestContext
  readonly node: Node
  readonly driver: Driver
  /** no exclusive lock is held: the node must not be written */
  readonly shared: boolean
  readonly config: Config
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  /** aborted when the conductor stops or the work is given up */
  readonly signal: AbortSignal
  ports(): Promise<Port[]>
  portgroups(): Promise<Portgroup[]>
  volumeConnectors(): Promise<VolumeConnector[]>
  volumeTargets(): Promise<VolumeTarget[]>
  traits(): Promise<string[]>
  /** Writes the fields of `node` that differ from the row. Needs the exclusive lock. */
  save(): Promise<void>
  /** Reads the row again; unsaved changes are lost. */
  refresh(): Promise<void>
  /** Writes changed fields of a port; a port without id is created. */
  savePort(port: Port): Promise<void>
  createPort(port: Partial<Port> & { address: string }): Promise<Port>
  destroyPort(port: Port): Promise<void>
  savePortgroup(portgroup: Portgroup): Promise<void>
  /** Composes the driver anew, after an interface of the node was changed. */
  loadDriver(): void
  /** Forgets the cached ports and portgroups. */
  forgetPorts(): void
  /**
   * Sends the event to the provision machine and saves the node (state, target, `provision_updated_at`), with the notifications.
   * @param targetState replaces the target that the new state declares
   * @throws InvalidState when the machine refuses
   */
  fire(event: ProvisionEvent, options?: { targetState?: string | null }): Promise<void>
  /** Takes the exclusive lock when only a shared one is held. @throws NodeLocked */
  upgradeLock(purpose?: string): Promise<void>
  /** Back to a shared lock, so that heartbeats are let in while a driver waits for the agent; nothing to do when shared. */
  downgradeLock(): Promise<void>
  /**
   * Goes on with the flow that waits in this state (`clean wait`, `wait call-back`, `service wait`): fires `resume` and asks the
   * conductor to continue once this task has let go of the lock. A clean or service flow whose node has no current step
   * (`clean_step`, `service_step` empty: the agent has just booted, or its hardware managers changed) gathers its steps first;
   * a deploy flow merges the agent's steps into its own when `driver_internal_info.steps_validated` is not set.
   */
  resumeFlow(): Promise<void>
  /**
   * Merges the steps that the agent offers into those of the running deploy and checks them; a deploy step that found the
   * agent running already (fast track) asks for it. The other flows gather steps by themselves.
   */
  validateDeploySteps(): Promise<void>
  /** Ends the flow that the node is in (clean, deploy, service, rescue, inspect) with its fail state. */
  failFlow(failure: FlowFailure): Promise<void>
  /**
   * Sets the power and waits for it, keeping `power_state`, `target_power_state` and `last_error` in step with it
   * (`node_power_action`). @param timeoutSeconds null: `[conductor]power_state_change_timeout`
   */
  powerAction(target: string, timeoutSeconds?: number | null): Promise<void>
  /** Where ramdisks find the API of this service; no slash at the end. @throws InvalidParameterValue when nobody told */
  ownApiUrl(): Promise<string>
  /** Is the agent of this node alive, so that it need not be booted anew? */
  isFastTrack(): Promise<boolean>
  /** Sets the boot device through the management interface; consoles are kept running around it. */
  setBootDevice(device: string, persistent?: boolean): Promise<void>
  /** Records an event in the node's history. */
  addHistory(event: string, eventType: string, severity?: 'ERROR' | 'INFO'): Promise<void>
  /** Sends a versioned notification about the node; does nothing when they are off. */
  notify(
    action: string,
    status: 'start' | 'end' | 'error' | 'success',
    level: 'info' | 'error' | 'warning',
  ): Promise<void>
}
