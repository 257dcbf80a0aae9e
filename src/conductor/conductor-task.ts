import type { Config } from '../config/index.ts'
import type { Db } from '../db/database.ts'
import { createNodeHistory } from '../db/node-history.ts'
import { getNodeById, updateNode } from '../db/nodes.ts'
import { createPort, destroyPort, listPortsByNodeId, updatePort } from '../db/ports.ts'
import { listPortgroupsByNodeId, updatePortgroup } from '../db/portgroups.ts'
import { listVolumeConnectorsByNodeId } from '../db/volume-connectors.ts'
import { listVolumeTargetsByNodeId } from '../db/volume-targets.ts'
import type { Clock } from '../domain/clock.ts'
import type { RequestContext } from '../domain/context.ts'
import { isStableState, provisionStates, stateAfter, targetAfter, isProvisionState } from '../domain/machine.ts'
import { UNSTABLE_STATES } from '../domain/states.ts'
import type { Driver } from '../drivers/interfaces/driver.ts'
import type { FlowFailure, Task } from '../drivers/task.ts'
import { InvalidState } from '../errors/base.ts'
import { ExclusiveLockRequired } from '../errors/conductor.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import { NodeObject } from '../objects/node.ts'
import type { Node, Port, Portgroup, VolumeConnector, VolumeTarget } from '../objects/index.ts'
import { isFastTrack } from './fast-track.ts'
import { failFlow } from './flows/fail.ts'
import { readyDeploySteps } from './steps.ts'
import type { EventName, NotificationLevel, NotificationStatus } from '../notifications/events.ts'
import { powerAction, setBootDevice } from './power-action.ts'
import type { LockOptions, Tasks } from './tasks.ts'

export interface FireOptions {
  readonly targetState?: string | null
  /** a new operation begins: what `last_error` said is over (`lastError` replaces it) */
  readonly begins?: boolean
  readonly lastError?: string | null
}

type NodeField = keyof Node
const neverWritten: ReadonlySet<string> = new Set(['id', 'uuid', 'created_at', 'updated_at', 'traits', 'reservation'])
const writtenFields = (Object.keys(NodeObject.fields) as NodeField[]).filter((name) => !neverWritten.has(name))
const dictFields = (Object.entries(NodeObject.fields) as [NodeField, { type: string }][])
  .filter(([, field]) => field.type === 'dict')
  .map(([name]) => name)

/** What of a port or portgroup is written. */
function written<T extends Port | Portgroup>(row: T): Partial<T> {
  const { id: _id, uuid: _uuid, node_uuid: _node, created_at: _created, updated_at: _updated, ...values } = row
  return values as unknown as Partial<T>
}

/** A value as it can be compared: objects by their text. */
const comparable = (value: unknown): unknown =>
  value instanceof Date ? value.getTime() : typeof value === 'object' && value !== null ? JSON.stringify(value) : value

/** The task of drivers, with what only the conductor itself uses. */
export class ConductorTask implements Task {
  readonly context: RequestContext
  readonly node: Node
  readonly tasks: Tasks
  readonly log: Logger
  readonly purpose: string
  shared: boolean
  released = false
  /** the flow shall go on when the body has ended */
  resumeAsked = false
  #driver: Driver | undefined
  #stored = new Map<NodeField, unknown>()
  #ports: Port[] | undefined
  #portgroups: Portgroup[] | undefined
  #connectors: VolumeConnector[] | undefined
  #targets: VolumeTarget[] | undefined

  constructor(tasks: Tasks, context: RequestContext, node: Node, shared: boolean, purpose: string) {
    this.tasks = tasks
    this.context = context
    this.node = node
    this.shared = shared
    this.purpose = purpose
    this.log = tasks.parts.log
    this.#remember()
  }

  get config(): Config {
    return this.tasks.parts.config
  }
  get db(): Db {
    return this.tasks.parts.db
  }
  get clock(): Clock {
    return this.tasks.parts.clock
  }
  get signal(): AbortSignal {
    return this.tasks.parts.signal
  }
  get driver(): Driver {
    if (this.#driver === undefined) throw new Error(`The task "${this.purpose}" has no driver`)
    return this.#driver
  }
  set driver(driver: Driver) {
    this.#driver = driver
  }
  get hasDriver(): boolean {
    return this.#driver !== undefined
  }
  /** Composes the driver of a task that was taken without one, or after the node's interfaces changed. */
  loadDriver(): void {
    this.#driver = this.tasks.parts.drivers.driverOf(this.node)
  }

  async ports(): Promise<Port[]> {
    return (this.#ports ??= await listPortsByNodeId(this.db, this.node.id))
  }
  async portgroups(): Promise<Portgroup[]> {
    return (this.#portgroups ??= await listPortgroupsByNodeId(this.db, this.node.id))
  }
  async volumeConnectors(): Promise<VolumeConnector[]> {
    return (this.#connectors ??= await listVolumeConnectorsByNodeId(this.db, this.node.id))
  }
  async volumeTargets(): Promise<VolumeTarget[]> {
    return (this.#targets ??= await listVolumeTargetsByNodeId(this.db, this.node.id))
  }
  traits(): Promise<string[]> {
    return Promise.resolve((this.node.traits ?? []).map((row) => String(row['trait'])))
  }
  forgetPorts(): void {
    this.#ports = undefined
    this.#portgroups = undefined
  }

  async save(): Promise<void> {
    this.#needLock()
    const values: Record<string, unknown> = {}
    for (const name of writtenFields) {
      const now = comparable(this.node[name])
      if (now === this.#stored.get(name)) continue
      values[name] = this.node[name]
    }
    if (Object.keys(values).length === 0) return
    const { provision_updated_at, inspection_started_at, inspection_finished_at, updated_at } = await updateNode(
      this.db,
      this.node.id,
      values,
    )
    Object.assign(this.node, { provision_updated_at, inspection_started_at, inspection_finished_at, updated_at })
    this.#remember()
  }

  async refresh(): Promise<void> {
    Object.assign(this.node, await getNodeById(this.db, this.node.id))
    this.#remember()
  }

  async savePort(port: Port): Promise<void> {
    const known = (await this.ports()).find(({ id }) => id === port.id)
    const saved = await updatePort(this.db, port.id, written(port))
    if (known !== undefined) Object.assign(known, saved)
    Object.assign(port, saved)
  }
  async createPort(port: Partial<Port> & { address: string }): Promise<Port> {
    const created = await createPort(this.db, { ...port, node_id: this.node.id })
    this.#ports?.push(created)
    return created
  }
  async destroyPort(port: Port): Promise<void> {
    await destroyPort(this.db, port.id)
    this.#ports = this.#ports?.filter(({ id }) => id !== port.id)
  }
  async savePortgroup(portgroup: Portgroup): Promise<void> {
    Object.assign(portgroup, await updatePortgroup(this.db, portgroup.id, written(portgroup)))
  }

  /** Does the machine take the event now? */
  takes(event: string): boolean {
    return stateAfter(this.node.provision_state, event) !== undefined
  }

  async fire(event: string, { targetState, begins = false, lastError }: FireOptions = {}): Promise<void> {
    this.#needLock()
    const { provision_state: before, target_provision_state: targetBefore } = this.node
    const next = stateAfter(before, event)
    if (next === undefined) {
      throw new InvalidState(`Node ${this.node.uuid} cannot take the event ${event} in the state ${before}.`)
    }
    if (targetState !== undefined && targetState !== null && !isStableState(targetState)) {
      throw new InvalidState(`${targetState} is no stable state, so it cannot be the target of node ${this.node.uuid}.`)
    }
    const declared = isProvisionState(before) ? provisionStates[before].target : null
    this.node.provision_state = next
    this.node.target_provision_state = targetAfter(next, targetBefore ?? declared, targetState)
    if (begins) this.node.last_error = lastError ?? null
    else if (lastError !== undefined && lastError !== null) this.node.last_error = lastError
    await this.save()
    const line = `Node ${this.node.uuid} went from ${before} to ${next}, target ${this.node.target_provision_state}`
    if (next.endsWith('failed') || next === 'error') this.log.error(line)
    else this.log.info(line)
    const failed = event === 'fail' || event === 'error'
    this.emit('node.provision_set', failed ? 'error' : statusOf(before, next), {
      event,
      previous_provision_state: before,
      previous_target_provision_state: targetBefore,
    })
  }

  /** Lets go of the lock; what is changed must have been saved. */
  async downgradeLock(): Promise<void> {
    if (this.shared) return
    await this.tasks.release(this)
    this.shared = true
    this.released = false
    await this.refresh()
  }

  async upgradeLock(purpose = this.purpose, options: LockOptions = {}): Promise<void> {
    if (!this.shared) return
    Object.assign(this.node, await this.tasks.lock(this.node.id, purpose, options))
    this.shared = false
    this.#remember()
  }

  resumeFlow(): Promise<void> {
    this.resumeAsked = true
    return Promise.resolve()
  }
  failFlow(failure: FlowFailure): Promise<void> {
    return failFlow(this, failure)
  }
  validateDeploySteps(): Promise<void> {
    return readyDeploySteps(this)
  }
  powerAction(target: string, timeoutSeconds: number | null = null): Promise<void> {
    return powerAction(this, target, timeoutSeconds)
  }
  ownApiUrl(): Promise<string> {
    return this.tasks.parts.ownApi.url(this.signal)
  }
  isFastTrack(): Promise<boolean> {
    return isFastTrack(this)
  }
  setBootDevice(device: string, persistent = false): Promise<void> {
    return setBootDevice(this, device, persistent)
  }

  /** An ERROR becomes `last_error` too; `save` stores that. */
  async addHistory(event: string, eventType: string, severity: 'ERROR' | 'INFO' = 'ERROR'): Promise<void> {
    if (severity === 'ERROR') this.node.last_error = event
    if (!this.config.conductor.node_history) return
    const { provision_updated_at: since } = this.node
    await createNodeHistory(this.db, {
      node_id: this.node.id,
      conductor: this.tasks.parts.host,
      user: this.context.user_id ?? null,
      severity,
      event,
      event_type: eventType,
      state: this.node.provision_state,
      target_provision_state: this.node.target_provision_state,
      duration_seconds: since === null ? null : Math.trunc((this.clock.now().getTime() - since.getTime()) / 1000),
    })
  }

  notify(action: string, status: NotificationStatus, _level: NotificationLevel): Promise<void> {
    this.emit(`node.${action}` as EventName, status)
    return Promise.resolve()
  }

  /** Sends a notification. @param extra what its payload says beyond the node */
  emit(event: EventName, status: NotificationStatus, extra: Readonly<Record<string, unknown>> = {}): void {
    this.tasks.parts.notifier.emit({ context: this.context, event, status, source: this.node, extra })
  }

  #needLock(): void {
    if (this.shared || this.released) throw new ExclusiveLockRequired({})
  }
  #remember(): void {
    for (const name of dictFields) (this.node as Record<string, unknown>)[name] ??= {}
    for (const name of writtenFields) this.#stored.set(name, comparable(this.node[name]))
  }
}

function statusOf(before: string | null, after: string): NotificationStatus {
  const was = UNSTABLE_STATES.has(before)
  const is = UNSTABLE_STATES.has(after)
  if (was === is) return 'success'
  return is ? 'start' : 'end'
}
