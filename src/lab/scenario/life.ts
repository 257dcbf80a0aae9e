import type { IronicClient, ShownNode } from '../client.ts'
import type { LabMachine } from '../lab.ts'
import { openFile } from '../media/byte-source.ts'
import { readPartitionTable } from '../media/partition-table.ts'
import { sha256Of } from '../media/sample-image.ts'

/** The image that nodes get. */
export interface WantedImage {
  readonly url: string
  /** the same file on this machine */
  readonly path: string
  readonly sha256: string
}

export interface LifeOptions {
  readonly image: WantedImage
  readonly inspect: 'agent' | 'redfish'
  /** milliseconds for each phase */
  readonly limit: number
  /** milliseconds between two looks at a node */
  readonly every?: number
  readonly clean: boolean
  readonly seen?: (node: ShownNode) => void
  readonly phase?: (machine: LabMachine, phase: string) => void
  /** more fields of driver_info */
  readonly driverInfo?: Readonly<Record<string, unknown>>
}

/** A node that did not get where it should. */
export class LifeError extends Error {
  readonly node: ShownNode
  constructor(node: ShownNode, wanted: string, reason: string | null) {
    super(
      `node ${node.name ?? node.uuid} is ${node.provision_state} instead of ${wanted}: ${reason ?? 'no reason is told'}`,
    )
    this.node = node
  }
}

/** States in which a node stays when something failed. */
const failures = [
  'enroll',
  'clean failed',
  'deploy failed',
  'inspect failed',
  'rescue failed',
  'service failed',
  'error',
]

/** Creates the node and its port. */
export async function enroll(client: IronicClient, machine: LabMachine, options: LifeOptions): Promise<ShownNode> {
  options.phase?.(machine, 'enroll')
  const node = await client.createNode({
    name: machine.name,
    driver: 'redfish',
    driver_info: { ...machine.driverInfo, ...options.driverInfo },
    boot_interface: 'redfish-virtual-media',
    deploy_interface: 'direct',
    network_interface: 'noop',
    inspect_interface: options.inspect,
    resource_class: 'lab',
    properties: { cpu_arch: 'x86_64', capabilities: 'boot_mode:uefi' },
    automated_clean: options.clean,
  })
  await client.createPort(node.uuid, machine.mac)
  return node
}

/** Sends a verb and waits until its state is reached. @throws LifeError when another state comes out */
export async function bring(
  client: IronicClient,
  id: string,
  verb: string,
  wanted: string,
  options: Pick<LifeOptions, 'limit' | 'every' | 'seen'>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<ShownNode> {
  await client.provision(id, verb, more)
  const others = failures.filter((state) => state !== wanted)
  const began = Date.now()
  for (;;) {
    const node = await client.waitFor(id, [wanted, ...others], {
      limit: options.limit - (Date.now() - began),
      ...(options.every === undefined ? {} : { every: options.every }),
      ...(options.seen === undefined ? {} : { seen: options.seen }),
    })
    if (node.provision_state === wanted && node.target_provision_state === null) return node
    // The state before the verb may still be seen once (enroll while it is being verified comes back with an error).
    if (node.provision_state !== wanted && (node.last_error !== null || Date.now() - began > 3000)) {
      throw new LifeError(node, wanted, node.last_error ?? (await lastEvent(client, id)))
    }
    await new Promise((resolve) => setTimeout(resolve, options.every ?? 200))
  }
}

/** The newest error of a node's history: powering a failed node off clears its last_error. */
export async function lastEvent(client: IronicClient, id: string): Promise<string | null> {
  const { history } = await client.call<{ history: { event: string; severity: string }[] }>(
    'GET',
    `/v1/nodes/${id}/history?detail=true`,
  )
  return history.filter((entry) => entry.severity === 'ERROR').at(-1)?.event ?? null
}

/** Takes a machine from nothing to active, and looks on its disk whether the image is there. */
export async function deployMachine(
  client: IronicClient,
  machine: LabMachine,
  options: LifeOptions,
): Promise<ShownNode> {
  const { uuid } = await enroll(client, machine, options)
  const phase = (name: string) => options.phase?.(machine, name)
  phase('manage')
  await bring(client, uuid, 'manage', 'manageable', options)
  phase('inspect')
  await bring(client, uuid, 'inspect', 'manageable', options)
  phase('provide')
  await bring(client, uuid, 'provide', 'available', options)
  phase('deploy')
  return await deployImage(client, machine, uuid, options)
}

/** Deploys the image on an available node and checks the disk. */
export async function deployImage(
  client: IronicClient,
  machine: LabMachine,
  uuid: string,
  options: LifeOptions,
): Promise<ShownNode> {
  const { image } = options
  await client.patch(uuid, {
    '/instance_info/image_source': image.url,
    '/instance_info/image_os_hash_algo': 'sha256',
    '/instance_info/image_os_hash_value': image.sha256,
    '/instance_info/image_type': 'whole-disk',
    '/instance_info/image_disk_format': 'raw',
  })
  const configdrive = { meta_data: { hostname: machine.name, name: machine.name, uuid } }
  const node = await bring(client, uuid, 'active', 'active', options, { configdrive })
  await checkDisk(machine, image)
  return node
}

/**
 * Compares the partitions of the image with the disk, byte for byte, and looks for the config drive. (The partition table
 * itself differs: it grows to the disk.)
 * @throws Error with what differs
 */
export async function checkDisk(machine: LabMachine, image: WantedImage): Promise<void> {
  const source = await openFile(image.path)
  const wanted = (await readPartitionTable(source))?.partitions ?? []
  await source.close()
  const found = (await machine.machine.disk.partitions())?.partitions ?? []
  for (const partition of wanted) {
    const place = { start: partition.start, length: partition.size }
    const [here, there] = await Promise.all([sha256Of(machine.machine.disk.path, place), sha256Of(image.path, place)])
    if (here !== there)
      throw new Error(`partition ${partition.number} on the disk of ${machine.name} differs from the image`)
  }
  if (wanted.length === 0 || !found.some((partition) => partition.name === 'config-2')) {
    throw new Error(`the disk of ${machine.name} has no config drive`)
  }
}
