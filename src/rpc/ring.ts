/** Which host serves a node: one hash ring for each conductor group and hardware type, from the registrations in the database. */
import type { Config } from '../config/index.ts'
import { activeDriverHosts, type ActiveDriverHost } from '../db/conductors.ts'
import type { Db } from '../db/database.ts'
import type { Clock } from '../domain/clock.ts'
import { NoValidHost } from '../errors/conductor.ts'
import { DriverNotFound } from '../errors/driver.ts'
import { HashRing } from '../lib/hash-ring/hash-ring.ts'
import type { Node } from '../objects/index.ts'

export interface ConductorRing {
  /** @throws NoValidHost */
  hostOfNode(node: Pick<Node, 'uuid' | 'driver' | 'conductor_group'>): Promise<string>
  /** Does the host serve the node? False when nobody does. */
  maps(host: string, node: Pick<Node, 'uuid' | 'driver' | 'conductor_group'>): Promise<boolean>
  /** @throws DriverNotFound */
  anyHostOfDriver(driver: string): Promise<string>
  /** @throws NoValidHost */
  anyHost(): Promise<string>
  /** Forgets what is cached: after a registration of this process changed. */
  reset(): void
}

export interface RingParts {
  readonly db: Db
  readonly config: Config
  readonly clock: Clock
}

/** The database is asked again after `[DEFAULT]hash_ring_reset_interval` seconds, or at once when no host is found. */
export function conductorRing({ db, config, clock }: RingParts): ConductorRing {
  const { hash_partition_exponent: exponent, hash_ring_algorithm: algorithm } = config.DEFAULT
  const lifetime = config.DEFAULT.hash_ring_reset_interval * 1000
  let cached: { rings: Map<string, HashRing>; readAt: number } | undefined
  let reading: Promise<Map<string, HashRing>> | undefined

  async function read(): Promise<Map<string, HashRing>> {
    const rings = buildRings(
      await activeDriverHosts(db, config.conductor.heartbeat_timeout),
      (hosts) => new HashRing(hosts, { partitions: 2 ** exponent, algorithm }),
    )
    cached = { rings, readAt: clock.now().getTime() }
    return rings
  }
  /** One reader at a time: others wait for its answer. */
  const readOnce = (): Promise<Map<string, HashRing>> => {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }
  async function ringOf(driver: string | null, group: string | null): Promise<HashRing | undefined> {
    const name = `${(group ?? '').toLowerCase()}:${driver}`
    const fresh = cached !== undefined && clock.now().getTime() - cached.readAt < lifetime
    if (fresh) {
      const ring = cached!.rings.get(name)
      if (ring !== undefined) return ring
    }
    return (await readOnce()).get(name)
  }

  return {
    async hostOfNode({ uuid, driver, conductor_group: group }) {
      const host = (await ringOf(driver, group))?.ownerOf(uuid ?? '')
      if (host !== undefined) return host
      throw new NoValidHost({
        reason: `no running conductor serves the hardware type ${driver} for the conductor group "${group ?? ''}"`,
      })
    },
    async maps(host, { uuid, driver, conductor_group: group }) {
      return (await ringOf(driver, group))?.ownerOf(uuid ?? '') === host
    },
    async anyHostOfDriver(driver) {
      const hosts = [...(await readOnce())]
        .filter(([name]) => name.endsWith(`:${driver}`))
        .flatMap(([, ring]) => [...ring.hosts])
      if (hosts.length === 0) throw new DriverNotFound({ driver_name: driver })
      return oneOf(hosts)
    },
    async anyHost() {
      const hosts = [...(await readOnce()).values()].flatMap((ring) => [...ring.hosts])
      if (hosts.length === 0) throw new NoValidHost({ reason: 'no conductor is running' })
      return oneOf(hosts)
    },
    reset() {
      cached = undefined
    },
  }
}

const oneOf = (hosts: readonly string[]): string => hosts[Math.floor(Math.random() * hosts.length)]!

function buildRings(
  rows: readonly ActiveDriverHost[],
  ring: (hosts: Iterable<string>) => HashRing,
): Map<string, HashRing> {
  const hosts = new Map<string, string[]>()
  for (const { hostname, conductor_group: group, hardware_type: type } of rows) {
    const name = `${group.toLowerCase()}:${type}`
    const known = hosts.get(name)
    if (known === undefined) hosts.set(name, [hostname])
    else known.push(hostname)
  }
  return new Map([...hosts].map(([name, members]) => [name, ring(members)]))
}
