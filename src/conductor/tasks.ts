/**
 * Tasks: a node together with the right to look at it (shared) or to change it (exclusive). The lock is taken by a callback,
 * so it knows how the body ended; work that goes on afterwards is returned as `Background` and carries the lock along.
 */
import type { Config } from '../config/index.ts'
import type { Db } from '../db/database.ts'
import { getNode, getNodeById, releaseNode, reserveNode } from '../db/nodes.ts'
import type { Clock } from '../domain/clock.ts'
import type { RequestContext } from '../domain/context.ts'
import type { DriverFactory } from '../drivers/factory.ts'
import { NoFreeConductorWorker } from '../errors/conductor.ts'
import { IronicError } from '../errors/define.ts'
import { NodeLocked, NodeNotFound, NodeNotLocked } from '../errors/node.ts'
import type { Logger } from '../lib/oslo-log/logger.ts'
import type { OwnApi } from '../openstack/own-api.ts'
import type { Node } from '../objects/index.ts'
import type { JsonDict } from '../objects/versioned-object.ts'
import { ConductorTask } from './conductor-task.ts'
import type { Notifier } from '../notifications/notifier.ts'
import type { SensorSender } from '../notifications/sensors.ts'
import type { Slot, Workers } from './workers.ts'

/** What tasks are made from. */
export interface TaskParts {
  readonly config: Config
  readonly db: Db
  readonly log: Logger
  readonly clock: Clock
  readonly host: string
  /** id of this conductor's row: `conductor_affinity` of the nodes it prepares */
  readonly conductorId: number
  readonly drivers: DriverFactory
  readonly notifier: Pick<Notifier, 'emit'>
  readonly workers: Workers
  readonly ownApi: OwnApi
  /** aborted when work must end */
  readonly signal: AbortSignal
  /** Tells nova that the power of an instance's machine changed. */
  readonly powerChanged?: (context: RequestContext, instanceUuid: string, state: string | null) => Promise<void>
  /** Where sensor data go; undefined: nobody listens. */
  readonly sendSensors?: SensorSender
  /** Runs the inspection rules on what a ramdisk has reported. */
  readonly applyInspectionRules?: (task: ConductorTask, inventory: JsonDict, pluginData: JsonDict) => Promise<void>
  /** Removes the inventory of a node that is deleted from the object store. */
  readonly forgetInventory?: (task: ConductorTask) => Promise<void>
  /** Makes an image that a user gave reachable for a BMC. @returns its address */
  readonly publishMedia?: (
    task: ConductorTask,
    deviceType: string,
    imageUrl: string,
    downloadSource: string,
  ) => Promise<string>
  readonly unpublishMedia?: (task: ConductorTask, deviceType: string) => Promise<void>
  /** Keeps an inventory in an object store. */
  readonly storeInventory?: (task: ConductorTask, inventory: JsonDict, pluginData: JsonDict) => Promise<void>
  /** Checks a config drive's network data against the attached VIFs and makes it anew when it does not fit. */
  readonly repairConfigDrive?: (task: ConductorTask, configdrive: string | JsonDict) => Promise<string | JsonDict>
}

/** Work that goes on after the answer, with the lock. */
export class Background<T = void> {
  readonly work: () => Promise<void>
  readonly result: T
  constructor(work: () => Promise<void>, result: T) {
    this.work = work
    this.result = result
  }
}
export const background = (work: () => Promise<void>): Background => new Background(work, undefined)

export interface LockOptions {
  /** wait for the lock as long as it takes, not only `[conductor]node_locked_retry_attempts` times */
  readonly patient?: boolean
  /** try once only */
  readonly retry?: boolean
  /** compose the driver: false where a node of a hardware type that is gone must still be handled */
  readonly loadDriver?: boolean
  /** false: heartbeats and periodic work leave the reserved workers alone */
  readonly useReserved?: boolean
}

type NodeIdent = string | number
type Body<T> = (task: ConductorTask) => Promise<T>

export class Tasks {
  readonly parts: TaskParts
  /** Goes on with the flow of a node in a wait state; the conductor sets it. */
  resume: (task: ConductorTask) => Promise<void> = () => Promise.resolve()
  readonly #waiting = new Map<number, Set<() => void>>()
  /** nodes that background work of this process is at, with or without the lock */
  readonly #busy = new Map<number, number>()

  constructor(parts: TaskParts) {
    this.parts = parts
  }

  /** Runs the body with the node's lock. @throws NodeLocked, NodeNotFound, DriverNotFound … */
  async exclusive<T>(
    context: RequestContext,
    ident: NodeIdent,
    purpose: string,
    body: Body<T>,
    options: LockOptions = {},
  ): Promise<T> {
    return this.#hold(await this.#open(context, ident, purpose, { ...options, shared: false }), body)
  }

  /** Runs the body without a lock; it may call `upgradeLock`. */
  async shared<T>(
    context: RequestContext,
    ident: NodeIdent,
    purpose: string,
    body: Body<T>,
    options: LockOptions = {},
  ): Promise<T> {
    return this.#hold(await this.#open(context, ident, purpose, { ...options, shared: true }), body)
  }

  /** As `shared`, on a row that has just been read. */
  sharedOn<T>(context: RequestContext, node: Node, purpose: string, body: Body<T>): Promise<T> {
    const task = new ConductorTask(this, context, node, true, purpose)
    task.loadDriver()
    return this.#hold(task, body)
  }

  /**
   * As `exclusive`, and what the body returns may be `Background`. A worker is taken first, so a full conductor refuses
   * before anything is written. @throws NoFreeConductorWorker
   */
  async background<T>(
    context: RequestContext,
    ident: NodeIdent,
    purpose: string,
    body: Body<T | Background<T>>,
    options: LockOptions & { readonly shared?: boolean } = {},
  ): Promise<T> {
    const slot = this.parts.workers.reserve(options)
    let task: ConductorTask | undefined
    try {
      task = await this.#open(context, ident, purpose, { ...options, shared: options.shared ?? false })
      const outcome = await body(task)
      if (outcome instanceof Background) {
        this.#run(slot, task, outcome.work)
        task = undefined
        return outcome.result
      }
      if (task.resumeAsked) {
        this.#run(slot, task, () => Promise.resolve())
        task = undefined
      }
      return outcome
    } finally {
      if (task !== undefined) {
        await this.release(task)
        slot.free()
      }
    }
  }

  /** Takes the exclusive lock for a task that has none. */
  async lock(ident: NodeIdent, purpose: string, { patient = false, retry = true }: LockOptions = {}): Promise<Node> {
    const { config, clock, db, host, log, signal } = this.parts
    const attempts = patient ? Infinity : retry ? config.conductor.node_locked_retry_attempts : 1
    const pause = config.conductor.node_locked_retry_interval * 1000
    for (let attempt = 1; ; attempt++) {
      try {
        const node = await reserveNode(db, ident, host)
        log.debug(`Node ${node.uuid} is reserved for ${purpose}`)
        return node
      } catch (error) {
        if (!(error instanceof NodeLocked) || attempt >= attempts) throw error
        if (attempt === config.conductor.node_locked_retry_attempts) {
          log.warning(`Node ${ident} is still locked after ${attempt} tries for ${purpose}; waiting on`)
        }
      }
      await this.#releaseOrPause(ident, pause, clock, signal)
    }
  }

  /** Gives the lock back. A node that is gone, or whose lock somebody else broke, is no error. */
  async release(task: ConductorTask): Promise<void> {
    if (task.shared || task.released) return
    task.released = true
    try {
      await releaseNode(this.parts.db, this.parts.host, task.node.id)
      task.log.debug(`Node ${task.node.uuid} is released after ${task.purpose}`)
    } catch (error) {
      if (error instanceof NodeNotFound) return
      if (error instanceof NodeNotLocked || error instanceof NodeLocked) {
        task.log.warning(`The lock of node ${task.node.uuid} was broken while ${task.purpose} held it`)
        return
      }
      throw error
    } finally {
      for (const go of this.#waiting.get(task.node.id) ?? []) go()
    }
  }

  async #open(
    context: RequestContext,
    ident: NodeIdent,
    purpose: string,
    options: LockOptions & { readonly shared: boolean },
  ): Promise<ConductorTask> {
    const { db, drivers } = this.parts
    const node = options.shared
      ? await (typeof ident === 'number' ? getNodeById(db, ident) : getNode(db, ident))
      : await this.lock(ident, purpose, options)
    const task = new ConductorTask(this, context, node, options.shared, purpose)
    if (options.loadDriver === false) return task
    try {
      task.driver = drivers.driverOf(node)
    } catch (error) {
      await this.release(task)
      throw error
    }
    return task
  }

  async #hold<T>(task: ConductorTask, body: Body<T>): Promise<T> {
    let handedOver = false
    try {
      const result = await body(task)
      if (task.resumeAsked) handedOver = this.#goOn(task)
      return result
    } finally {
      if (!handedOver) await this.release(task)
    }
  }

  /** The flow goes on in a worker of its own. @returns false when none is free: the next heartbeat or poll tries again */
  #goOn(task: ConductorTask): boolean {
    try {
      this.#run(this.parts.workers.reserve(), task, () => Promise.resolve())
      return true
    } catch (error) {
      if (!(error instanceof NoFreeConductorWorker)) throw error
      task.log.warning(`No worker is free to go on with node ${task.node.uuid}; the next heartbeat will try again`)
      return false
    }
  }

  /** Is background work of this process at the node? It may have lent its lock to a heartbeat. */
  isBusy(nodeId: number): boolean {
    return this.#busy.has(nodeId)
  }

  #count(nodeId: number, change: 1 | -1): void {
    const left = (this.#busy.get(nodeId) ?? 0) + change
    if (left > 0) this.#busy.set(nodeId, left)
    else this.#busy.delete(nodeId)
  }

  #run(slot: Slot, task: ConductorTask, work: () => Promise<void>): void {
    const { id } = task.node
    this.#count(id, 1)
    void slot.run(`${task.purpose} of node ${task.node.uuid}`, async () => {
      try {
        await work()
        while (task.resumeAsked) {
          task.resumeAsked = false
          if (task.shared) await task.upgradeLock(task.purpose, { patient: true })
          await this.resume(task)
        }
      } catch (error) {
        await this.#noteFailure(task, error)
      } finally {
        this.#count(id, -1)
        await this.release(task)
      }
    })
  }

  /** An error that nothing has put into `last_error` must not be lost. */
  async #noteFailure(task: ConductorTask, error: unknown): Promise<void> {
    const declared = error instanceof IronicError
    const text = error instanceof Error ? error.message : String(error)
    task.log.error(`${task.purpose} of node ${task.node.uuid} failed: ${text}`, declared ? {} : { error })
    if (task.shared || task.released || task.node.last_error !== null) return
    try {
      task.node.last_error = `${task.purpose} failed: ${text}`
      await task.save()
    } catch (failure) {
      if (failure instanceof NodeNotFound) return
      task.log.error(`The failure of node ${task.node.uuid} could not be stored: ${String(failure)}`, {
        error: failure,
      })
    }
  }

  /** Waits for this process to release the node, or for the pause to pass. */
  async #releaseOrPause(ident: NodeIdent, pause: number, clock: Clock, signal: AbortSignal): Promise<void> {
    const id = typeof ident === 'number' ? ident : (await getNode(this.parts.db, ident)).id
    const waiters = this.#waiting.get(id) ?? new Set()
    this.#waiting.set(id, waiters)
    const { promise: released, resolve } = Promise.withResolvers<void>()
    waiters.add(resolve)
    const enough = new AbortController()
    try {
      await Promise.race([released, clock.sleep(pause, AbortSignal.any([signal, enough.signal]))])
    } finally {
      enough.abort()
      waiters.delete(resolve)
      if (waiters.size === 0) this.#waiting.delete(id)
    }
  }
}
