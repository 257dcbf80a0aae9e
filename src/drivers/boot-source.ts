import type { Config } from '../config/index.ts'
import { InvalidParameterValue } from '../errors/base.ts'
import { MissingParameterValue } from '../errors/driver.ts'
import { isGlanceImage } from '../images/reference.ts'
import type { Node } from '../objects/index.ts'
import type { JsonDict } from '../objects/versioned-object.ts'
import type { Task } from './task.ts'

export type RamdiskMode = 'deploy' | 'rescue'

const rescueStates: ReadonlySet<string | null> = new Set([
  'rescuing',
  'rescue wait',
  'rescue failed',
  'unrescuing',
  'unrescue failed',
])
/** States in which a ramdisk may be prepared; in all others there is nothing to boot it for. */
const ramdiskStates: ReadonlySet<string | null> = new Set([
  'deploying',
  'wait call-back',
  'cleaning',
  'clean wait',
  'rescuing',
  'rescue wait',
  'inspecting',
  'inspect wait',
  'servicing',
  'service wait',
])

export const ramdiskModeOf = (node: Node): RamdiskMode => (rescueStates.has(node.provision_state) ? 'rescue' : 'deploy')
export const bootsRamdiskNow = (node: Node): boolean => ramdiskStates.has(node.provision_state)

/** What the instance boots from, by its deploy interface. */
export const bootOptionOf = (node: Node): 'local' | 'ramdisk' | 'kickstart' =>
  node.deploy_interface === 'anaconda' ? 'kickstart' : node.deploy_interface === 'ramdisk' ? 'ramdisk' : 'local'

/** Instances that are ramdisks need no agent, unless the node is cleaned. */
export function needsAgent(node: Node, mode: RamdiskMode, config: Config): boolean {
  if (mode === 'rescue' || bootOptionOf(node) !== 'ramdisk') return true
  return node.automated_clean ?? config.conductor.automated_clean
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** A field of `driver_info`; the name that it had under the given prefix counts too. */
function driverField(task: Task, name: string, formerPrefix?: string): string | null {
  const info = task.node.driver_info ?? {}
  const own = text(info[name])
  if (own !== null || formerPrefix === undefined) return own
  const former = text(info[`${formerPrefix}_${name}`])
  if (former !== null)
    task.log.warning(`driver_info ${formerPrefix}_${name} of node ${task.node.uuid} is a former name; call it ${name}`)
  return former
}

/** A ready-made ISO of the agent; null: it is built from kernel and ramdisk. */
export const agentIso = (task: Task, mode: RamdiskMode, formerPrefix?: string): string | null =>
  driverField(task, `${mode}_iso`, formerPrefix)

/** EFI boot loader: of the node, of its architecture, of the configuration. */
export function bootloaderOf(task: Task): string | null {
  const own = driverField(task, 'bootloader')
  const arch = text(task.node.properties?.['cpu_arch'])
  const { bootloader, bootloader_by_arch: byArch } = task.config.conductor
  return own ?? (arch === null ? null : text(byArch[arch])) ?? bootloader
}

export interface KernelAndRamdisk {
  readonly kernel: string | null
  readonly ramdisk: string | null
}

/**
 * Kernel and ramdisk of the agent, both from the same place: the node, else its architecture, else the configuration.
 * @throws MissingParameterValue when one place has only one of them and `[conductor]error_on_ramdisk_config_inconsistency` is set
 */
export function agentKernelAndRamdisk(task: Task, mode: RamdiskMode): KernelAndRamdisk {
  const { conductor } = task.config
  const arch = text(task.node.properties?.['cpu_arch'])
  const places = [
    {
      name: 'driver_info',
      kernel: driverField(task, `${mode}_kernel`),
      ramdisk: driverField(task, `${mode}_ramdisk`),
    },
    {
      name: `[conductor]${mode}_kernel_by_arch and ${mode}_ramdisk_by_arch`,
      kernel: arch === null ? null : text(conductor[`${mode}_kernel_by_arch`][arch]),
      ramdisk: arch === null ? null : text(conductor[`${mode}_ramdisk_by_arch`][arch]),
    },
  ]
  for (const { name, kernel, ramdisk } of places) {
    if (kernel !== null && ramdisk !== null) return { kernel, ramdisk }
    if (kernel === null && ramdisk === null) continue
    const message = `For node ${task.node.uuid}, ${name} has ${kernel === null ? 'a ramdisk but no kernel' : 'a kernel but no ramdisk'}; set both or neither.`
    if (conductor.error_on_ramdisk_config_inconsistency) throw new MissingParameterValue(message)
    task.log.warning(message)
  }
  return { kernel: conductor[`${mode}_kernel`], ramdisk: conductor[`${mode}_ramdisk`] }
}

/**
 * What the instance is booted from when that is not its disk.
 * @throws MissingParameterValue, InvalidParameterValue
 */
export function instanceImageInfo(node: Node): JsonDict {
  const info = node.instance_info ?? {}
  const { boot_iso: bootIso, image_source: source, kernel, ramdisk } = info
  if (bootIso && source)
    throw new InvalidParameterValue(
      `instance_info of node ${node.uuid} has both image_source and boot_iso; keep one of them.`,
    )
  if (bootIso) return { boot_iso: bootIso }
  const option = bootOptionOf(node)
  let wanted: JsonDict
  if (option === 'ramdisk') wanted = !kernel && !ramdisk && source ? { image_source: source } : { kernel, ramdisk }
  else {
    wanted = { image_source: source }
    const wholeDisk = Boolean(node.driver_internal_info?.['is_whole_disk_image'])
    const glance = typeof source === 'string' && isGlanceImage(source)
    if (!wholeDisk && option !== 'local' && !glance) Object.assign(wanted, { kernel, ramdisk })
  }
  const missing = Object.keys(wanted).filter((name) => !wanted[name])
  if (missing.length > 0)
    throw new MissingParameterValue(
      `instance_info of node ${node.uuid} lacks ${missing.join(', ')}, and the node boots from no remote volume either.`,
    )
  return wanted
}

/** MAC of the first port that is connected, to boot from. */
export async function bootNicMac(task: Task): Promise<string | null> {
  const port = (await task.ports()).find((each) => task.driver.network.currentVif(task, each) !== null)
  return port?.address ?? null
}
