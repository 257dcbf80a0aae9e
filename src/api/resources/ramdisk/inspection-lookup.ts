/** Which node sent inspection data: by its UUID, its MAC addresses, the address of its BMC. */
import { findNodesByPortAddresses, getNode, listNodes } from '../../../db/nodes.ts'
import { NotFound } from '../../../errors/base.ts'
import { NodeNotFound } from '../../../errors/node.ts'
import type { Node } from '../../../objects/node.ts'
import type { AnyCall } from '../../resource.ts'

export interface Inspected {
  readonly macs: readonly string[]
  readonly bmcAddresses: readonly string[]
  readonly uuid: string | undefined
}

/** Every failure is answered alike: strangers learn nothing. The log tells more. */
function refuse({ api: { log } }: AnyCall, why: string, { macs, bmcAddresses }: Inspected): never {
  log.error(
    `Inspection lookup with MAC addresses ${macs.join(', ')} and BMC addresses ${bmcAddresses.join(', ')}: ${why}`,
  )
  throw new NotFound({})
}

async function byMacs(call: AnyCall, inspected: Inspected, known: Node | undefined): Promise<Node | undefined> {
  if (inspected.macs.length === 0) return known
  const nodes = await findNodesByPortAddresses(call.api.db, inspected.macs)
  if (nodes.length > 1) refuse(call, 'several nodes have these addresses', inspected)
  const [node] = nodes
  if (node === undefined) return known
  if (known !== undefined && known.uuid !== node.uuid) {
    refuse(call, `they belong to node ${node.uuid}, not to ${known.uuid}`, inspected)
  }
  return node
}

async function byBmc(call: AnyCall, inspected: Inspected, known: Node | undefined): Promise<Node | undefined> {
  if (inspected.bmcAddresses.length === 0) return known
  const waiting = await listNodes(call.api.db, {
    filters: { provision_state: 'inspect wait', include_children: true },
    fields: ['uuid', 'driver_internal_info'],
  })
  const found = waiting.filter((node) => {
    // written when the inspection began
    const cached: unknown = node.driver_internal_info?.['lookup_bmc_addresses']
    return Array.isArray(cached) && cached.some((address) => inspected.bmcAddresses.includes(address as string))
  })
  if (found.length === 0) return known
  if (known !== undefined) {
    if (!found.some((node) => node.uuid === known.uuid)) {
      refuse(
        call,
        `the BMC belongs to ${found.map((node) => node.uuid).join(', ')}, the MAC addresses to ${known.uuid}`,
        inspected,
      )
    }
    return known
  }
  if (found.length > 1)
    refuse(call, 'several nodes have this BMC and none has these MAC addresses; create ports', inspected)
  return getNode(call.api.db, found[0]!.uuid ?? '')
}

/**
 * The node that waits for this data; undefined when no node is known at all.
 * @throws NotFound for data that contradicts what is known, or a node that does not wait
 */
export async function inspectedNode(call: AnyCall, inspected: Inspected): Promise<Node | undefined> {
  let named: Node | undefined
  if (inspected.uuid !== undefined) {
    named = await getNode(call.api.db, inspected.uuid).catch((error: unknown) => {
      if (error instanceof NodeNotFound) return refuse(call, `no node ${inspected.uuid}`, inspected)
      throw error
    })
  }
  const byPorts = await byMacs(call, inspected, named)
  if (byPorts !== undefined && byPorts.provision_state !== 'inspect wait') {
    refuse(call, `node ${byPorts.uuid} is in provision state ${byPorts.provision_state}`, inspected)
  }
  return byBmc(call, inspected, byPorts)
}
