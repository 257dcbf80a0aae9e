import { parseKernelCommandLine, sanitizeKernelCommandLine } from '../domain/kernel-parameters.ts'
import { fastTrackEnabled } from '../drivers/agent/fast-track.ts'
import { dropInternal, internal, setInternal } from '../drivers/agent/internal-info.ts'
import { withNetworkPower } from '../drivers/agent/network-power.ts'
import { storeRamdiskLogs } from '../drivers/agent/ramdisk-logs.ts'
import { InspectInterface } from '../drivers/interfaces/driver.ts'
import type { DriverParts, Task } from '../drivers/task.ts'
import { HardwareInspectionFailure, UnsupportedDriverExtension } from '../errors/driver.ts'
import { MACAlreadyExists } from '../errors/index.ts'
import type { JsonDict } from '../objects/versioned-object.ts'
import { bmcAddresses } from './bmc-addresses.ts'
import type { InspectionHook } from './hooks/hook.ts'
import { hookNames, hooksNamed, runHooks } from './run-hooks.ts'

/** Set while this service, not somebody else's DHCP, makes the node boot the ramdisk. */
const managesBoot = 'inspector_manage_boot'
/** The API finds the node by these when a ramdisk reports. */
const lookupAddresses = 'lookup_bmc_addresses'

const mac = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Inspects from within: the node boots the ramdisk agent, which sends what it finds to the API. */
export class AgentInspect extends InspectInterface {
  readonly name = 'agent'
  private readonly hooks: readonly InspectionHook[]

  /** @throws HardwareInspectionFailure when `[inspector]hooks` cannot be used */
  constructor(parts: DriverParts) {
    super(parts)
    this.hooks = hooksNamed('[inspector]hooks', hookNames(parts.config.inspector.hooks))
  }

  async validate(task: Task): Promise<void> {
    if (task.config.inspector.require_managed_boot) await bootIsManaged(task, true)
  }

  async inspectHardware(task: Task): Promise<'wait'> {
    const { node, config, log } = task
    if (config.inspector.pre_create_ports) await createPorts(task)
    const managed = await bootIsManaged(task, config.inspector.require_managed_boot)
    setInternal(node, { [managesBoot]: managed })
    const addresses = await bmcAddresses(node, log)
    if (addresses.length > 0) setInternal(node, { [lookupAddresses]: addresses })
    else dropInternal(node, lookupAddresses)
    await task.save()
    if (managed) await prepareManagedBoot(task)
    else {
      if (!node.disable_power_off) await task.powerAction('power off')
      // somebody else answers the node's DHCP requests
      await task.setBootDevice('pxe', false)
    }
    await task.powerAction(node.disable_power_off ? 'rebooting' : 'power on')
    return 'wait'
  }

  override async continueInspection(task: Task, inventory: JsonDict, pluginData: JsonDict | null): Promise<void> {
    const data = pluginData ?? {}
    const { deploy_logs_collect: collect } = task.config.agent
    try {
      await runHooks({ task, inventory, pluginData: data }, this.hooks)
    } catch (error) {
      if (collect !== 'never') await storeLogs(task, data)
      throw error
    }
    if (collect === 'always') await storeLogs(task, data)
    const trouble = await cleanUp(task)
    // of a machine that was only just discovered, nobody has told how to drive it
    if (trouble !== null && task.node.provision_state !== 'enroll') throw new HardwareInspectionFailure(trouble)
  }

  override async abort(task: Task): Promise<void> {
    dropInternal(task.node, lookupAddresses)
    await task.save()
    const trouble = await cleanUp(task)
    if (trouble === null) return
    if (task.node.provision_state !== 'inspect wait') throw new HardwareInspectionFailure(trouble)
    // nobody waits for the ramdisk any more, whatever is left of it
    await task.addHistory(trouble, 'introspection')
    await task.fire('fail')
  }
}

/** A port for each NIC that the BMC knows, so that the ramdisk's report finds its node. */
async function createPorts(task: Task): Promise<void> {
  const { node, log } = task
  let macs: string[]
  try {
    macs = await task.driver.management.getMacAddresses(task)
  } catch (error) {
    if (!(error instanceof UnsupportedDriverExtension)) throw error
    log.debug(`The BMC of node ${node.uuid} does not tell MAC addresses; no ports are created before inspection`)
    return
  }
  if (macs.length === 0) log.warning(`The BMC of node ${node.uuid} knows no enabled NIC; no ports are created`)
  for (const address of macs) {
    if (!mac.test(address)) {
      log.warning(`${address}, which the BMC of node ${node.uuid} tells, is no MAC address`)
      continue
    }
    try {
      await task.createPort({ address: address.toLowerCase() })
    } catch (error) {
      if (!(error instanceof MACAlreadyExists)) throw error
    }
  }
}

/** Can the node's own boot and network interfaces boot the ramdisk? @throws UnsupportedDriverExtension when they must */
async function bootIsManaged(task: Task, required: boolean): Promise<boolean> {
  try {
    await task.driver.boot.validateInspection(task)
    await task.driver.network.validateInspection(task)
    return true
  } catch (error) {
    if (required || !(error instanceof UnsupportedDriverExtension)) throw error
    task.log.debug(`Booting the inspection ramdisk on node ${task.node.uuid} is left to others: ${error.message}`)
    return false
  }
}

async function prepareManagedBoot(task: Task): Promise<void> {
  const { node, config } = task
  const api = await task.ownApiUrl()
  const callback = `${api.endsWith('/v1') ? api : `${api}/v1`}/continue_inspection`
  const parameters: Record<string, string> = {
    ...extraParameters(task),
    'ipa-inspection-callback-url': callback,
  }
  if (config.inspector.force_dhcp) parameters['ipa-collect-lldp'] ??= '1'
  // an agent that stays must know where to send heartbeats
  if (fastTrackEnabled(node, config)) parameters['ipa-api-url'] = api
  if (!node.disable_power_off) await task.powerAction('power off')
  await withNetworkPower(task, () => task.driver.network.addInspectionNetwork(task))
  await task.driver.boot.prepareRamdisk(task, parameters)
}

/** `[inspector]extra_kernel_params`: each name once, its last value. */
function extraParameters({ config }: Task): Record<string, string> {
  const line = config.inspector.extra_kernel_params
  if (config.conductor.disable_kernel_parameter_parsing) {
    const words = sanitizeKernelCommandLine(line).match(/(?:[^\s"]|"[^"]*")+/g) ?? []
    return Object.fromEntries(words.map((word) => [/^[^=]*/.exec(word)![0], word.replace(/^[^=]*=?/, '')]))
  }
  return Object.fromEntries(
    [...parseKernelCommandLine(line).parameters].map(([name, values]) => [name, values.at(-1)!]),
  )
}

async function storeLogs(task: Task, data: JsonDict): Promise<void> {
  const logs: unknown = data['logs']
  if (typeof logs === 'string' && logs !== '') await storeRamdiskLogs(task, logs, 'inspect')
  else task.log.warning(`The ramdisk on node ${task.node.uuid} sent no logs`)
}

/** Takes the ramdisk away and, unless the agent is to stay, switches the node off. @returns what went wrong */
async function cleanUp(task: Task): Promise<string | null> {
  const { node, config, log } = task
  const troubles: string[] = []
  const attempt = async (what: string, work: () => Promise<unknown>) => {
    try {
      await work()
    } catch (error) {
      task.signal.throwIfAborted()
      log.error(`Inspection of node ${node.uuid}: ${what} failed`, { error })
      troubles.push(`${what} failed: ${textOf(error)}`)
    }
  }
  const managed = Boolean(internal(node, managesBoot))
  dropInternal(node, managesBoot)
  await task.save()
  if (managed) {
    await attempt('cleaning up the ramdisk', () => task.driver.boot.cleanUpRamdisk(task))
    const { network } = task.driver
    await attempt('removing the inspection network', () =>
      withNetworkPower(task, () => network.removeInspectionNetwork(task)),
    )
  }
  if (config.inspector.power_off && !fastTrackEnabled(node, config)) {
    if (node.disable_power_off) await attempt('rebooting', () => task.powerAction('rebooting'))
    else await attempt('powering off', () => task.powerAction('power off'))
  }
  return troubles.length > 0 ? `Inspection clean up failed: ${troubles.join(', ')}.` : null
}
