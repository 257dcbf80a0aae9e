import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { IronicError } from '../../errors/define.ts'
import { RedfishConnectionError, RedfishError } from '../../errors/driver.ts'
import { Bmc } from '../../lib/redfish/bmc.ts'
import { RedfishClient } from '../../lib/redfish/client.ts'
import { findSystem, type SystemResource } from '../../lib/redfish/computer-system.ts'
import { AccessRefused, BmcUnreachable, RedfishProblem } from '../../lib/redfish/problems.ts'
import { Transport } from '../../lib/redfish/transport.ts'
import type { SharedPart } from '../shared-parts.ts'
import type { DriverParts, Task } from '../task.ts'
import { type BmcInfo, parseDriverInfo } from './driver-info.ts'

/** A session that nobody has used for so long is ended: BMCs have few, and end them themselves after about that time. */
const idleMs = 20 * 60 * 1000
/** `connection_cache_size` 0 asks for no cache; connections then live just long enough for one operation. */
const shortLifeMs = 60 * 1000
const uncachedSize = 64

/**
 * Connections to BMCs, one per address and user, shared by all nodes and interfaces of this conductor. A node whose credentials
 * changed gets another one at once, and the former session is ended.
 */
export class Bmcs implements SharedPart {
  private readonly parts: DriverParts
  private readonly transport: Transport
  private readonly clients: LRUCache<string, RedfishClient>
  /** key of the connection that each node used last */
  private readonly keyOfNode = new Map<string, string>()
  private readonly closing = new Set<Promise<void>>()
  private lastPurge = 0

  constructor(parts: DriverParts) {
    this.parts = parts
    const { redfish, openkeel } = parts.config
    this.transport = new Transport({
      connectTimeoutMs: redfish.connect_timeout * 1000,
      readTimeoutMs: redfish.read_timeout * 1000,
      concurrency: openkeel.bmc_concurrency,
    })
    const size = redfish.connection_cache_size
    this.clients = new LRUCache({
      max: size === 0 ? uncachedSize : size,
      ttl: size === 0 ? shortLifeMs : idleMs,
      updateAgeOnGet: true,
      perf: { now: () => this.parts.clock.now().getTime() },
      dispose: (client) => this.closeLater(client),
    })
  }

  async close(): Promise<void> {
    this.clients.clear()
    await Promise.all(this.closing)
    await this.transport.close()
  }

  /** Checks `driver_info`, touching no hardware. @throws InvalidParameterValue, MissingParameterValue */
  checkDriverInfo(task: Task): BmcInfo {
    return parseDriverInfo(task.node, this.parts.config)
  }

  /**
   * The system of the node, read anew.
   * @throws RedfishConnectionError after `connection_attempts`, RedfishError
   */
  systemOf(task: Task): Promise<SystemResource> {
    const { systemId } = this.checkDriverInfo(task)
    return this.connected(task, (bmc) => findSystem(bmc, systemId))
  }

  /**
   * Work that begins with reading the system; problems with the BMC become Ironic's errors, with what was being done.
   * @param doing follows "Cannot": `set the boot device`
   */
  async withSystem<T>(task: Task, doing: string, work: (system: SystemResource) => Promise<T>): Promise<T> {
    const system = await this.systemOf(task)
    return this.telling(task, doing, () => work(system))
  }

  /** A first contact, tried `connection_attempts` times while the BMC cannot be reached. */
  async connected<T>(task: Task, work: (bmc: Bmc) => Promise<T>): Promise<T> {
    const { connection_attempts: attempts, connection_retry_interval: interval } = this.parts.config.redfish
    for (let attempt = 1; ; attempt++) {
      const { client, key } = this.clientFor(task)
      try {
        return await work(new Bmc(client, task.signal))
      } catch (error) {
        if (error instanceof AccessRefused && error.status === 401) this.drop(key, client)
        const again = error instanceof BmcUnreachable && (error.fault === 'connect' || error.fault === 'closed')
        if (!again || attempt === attempts) throw this.asIronicError(task, error, null)
        this.parts.log.warning(
          `The BMC of node ${task.node.uuid} cannot be reached (attempt ${attempt} of ${attempts})`,
          { error },
        )
        await this.parts.clock.sleep(interval * 1000, task.signal)
      }
    }
  }

  /** Turns problems with the BMC into Ironic's errors that say what could not be done. */
  async telling<T>(task: Task, doing: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.asIronicError(task, error, doing)
    }
  }

  private asIronicError(task: Task, error: unknown, doing: string | null): unknown {
    if (!(error instanceof RedfishProblem)) return error
    const what = doing === null ? error.message : `Cannot ${doing} on node ${task.node.uuid}: ${error.message}`
    const extras = { cause: error }
    const told: IronicError =
      error instanceof BmcUnreachable
        ? new RedfishConnectionError({ node: task.node.uuid, error: what }, extras)
        : new RedfishError(
            { error: error instanceof AccessRefused ? `${what} (check the credentials in driver_info)` : what },
            extras,
          )
    return told
  }

  private clientFor(task: Task): { client: RedfishClient; key: string } {
    this.purgeNowAndThen()
    const info = this.checkDriverInfo(task)
    const key = keyOf(info)
    this.noteUse(task.node.uuid ?? '', key)
    const known = this.clients.get(key)
    if (known !== undefined) return { client: known, key }
    const client = new RedfishClient({
      address: info.address,
      rootPrefix: info.rootPrefix,
      username: info.username,
      password: info.password,
      authType: info.authType,
      tls: { verifyCa: info.verifyCa, minimumVersion: info.tlsMinimumVersion, ciphers: info.tlsCiphers },
      transport: this.transport,
      waiter: this.parts.clock,
      log: this.parts.log.named('ironic.drivers.redfish'),
    })
    this.clients.set(key, client)
    return { client, key }
  }

  /** A node that has moved to other credentials leaves a connection behind; unless others use it, it is closed. */
  private noteUse(node: string, key: string): void {
    const former = this.keyOfNode.get(node)
    if (former === key) return
    this.keyOfNode.set(node, key)
    if (former === undefined) return
    const stillUsed = [...this.keyOfNode.values()].includes(former)
    if (!stillUsed) this.clients.delete(former)
  }

  private drop(key: string, client: RedfishClient): void {
    if (this.clients.peek(key) === client) this.clients.delete(key)
  }

  private purgeNowAndThen(): void {
    const now = this.parts.clock.now().getTime()
    if (now - this.lastPurge < shortLifeMs) return
    this.lastPurge = now
    this.clients.purgeStale()
  }

  private closeLater(client: RedfishClient): void {
    const closed = client.close().catch((error: unknown) => {
      this.parts.log.warning(`The session at ${client.address} could not be ended`, { error })
    })
    this.closing.add(closed)
    void closed.finally(() => this.closing.delete(closed))
  }
}

/** All that makes a connection another one. The password is in it, so only its digest is kept. */
const keyOf = (info: BmcInfo): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        info.address,
        info.rootPrefix.replace(/\/+$/, '').replace(/^\/redfish\/v1$/, ''),
        info.username,
        info.password,
        info.verifyCa,
        info.authType,
        info.tlsMinimumVersion,
        info.tlsCiphers,
      ]),
    )
    .digest('base64')
