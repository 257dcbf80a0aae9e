import { NoValidHost } from '../errors/conductor.ts'
import type { Node } from '../objects/index.ts'
import { conductorContract, type ConductorClient } from './conductor.ts'
import type { Transport } from './contract.ts'
import type { ConductorRing } from './ring.ts'

/** How the API finds the conductor that must do something. */
export interface ConductorRouting {
  /** Name of the host that serves the node. @throws NoValidHost when none runs its hardware type for its conductor group */
  hostOfNode(node: Pick<Node, 'uuid' | 'driver' | 'conductor_group'>): Promise<string>
  /** The conductor that serves the node. @throws NoValidHost */
  ofNode(node: Pick<Node, 'uuid' | 'driver' | 'conductor_group'>): Promise<ConductorClient>
  /**
   * As `ofNode`, and any conductor when nobody runs the node's hardware type any more: such a node must still be put into
   * maintenance, changed and deleted. @throws NoValidHost when there is no conductor at all
   */
  forUpkeep(node: Pick<Node, 'uuid' | 'driver' | 'conductor_group'>): Promise<ConductorClient>
  /** Any conductor that runs the hardware type. @throws DriverNotFound */
  ofDriver(driver: string): Promise<ConductorClient>
  /** Any conductor at all: for what concerns no node. @throws NoValidHost */
  any(): Promise<ConductorClient>
}

/** Clients are made once per host and kept. */
export function conductorRouting(ring: ConductorRing, transport: Transport): ConductorRouting {
  const clients = new Map<string, ConductorClient>()
  const clientOf = (host: string): ConductorClient => {
    let client = clients.get(host)
    if (client === undefined) clients.set(host, (client = transport.client(conductorContract, host)))
    return client
  }
  return {
    hostOfNode: (node) => ring.hostOfNode(node),
    ofNode: async (node) => clientOf(await ring.hostOfNode(node)),
    async forUpkeep(node) {
      try {
        return clientOf(await ring.hostOfNode(node))
      } catch (error) {
        if (!(error instanceof NoValidHost)) throw error
        return clientOf(await ring.anyHost())
      }
    },
    ofDriver: async (driver) => clientOf(await ring.anyHostOfDriver(driver)),
    any: async () => clientOf(await ring.anyHost()),
  }
}
