import type { Config } from '../../config/index.ts'
import type { Node } from '../../objects/index.ts'
import type { Task } from '../task.ts'
import { setInternal } from './internal-info.ts'
import { withNetworkPower } from './network-power.ts'

/** Readies the boot interface to start the agent at the node's next power on. */
export async function prepareAgentBoot(task: Task): Promise<void> {
  const parameters = { 'ipa-api-url': await task.ownApiUrl() }
  setInternal(task.node, { agent_start_attempted: true })
  await task.save()
  await task.driver.boot.prepareRamdisk(task, parameters)
}

/** Settings of erasure, which the agent reads from `driver_internal_info`. */
const erasureSettings = ({ deploy }: Config) => ({
  agent_erase_devices_iterations: deploy.shred_random_overwrite_iterations,
  agent_erase_devices_zeroize: deploy.shred_final_overwrite_with_zeros,
  agent_continue_if_secure_erase_failed: deploy.continue_if_disk_secure_erase_fails,
  agent_continue_if_ata_erase_failed: deploy.continue_if_disk_secure_erase_fails,
  agent_enable_nvme_secure_erase: deploy.enable_nvme_secure_erase,
  agent_enable_ata_secure_erase: deploy.enable_ata_secure_erase,
  disk_erasure_concurrency: deploy.disk_erasure_concurrency,
  agent_erase_skip_read_only: deploy.erase_skip_read_only,
})

/** Boots the agent for cleaning. Nothing given back: it runs already (fast track). */
export async function prepareInbandCleaning(task: Task, manageBoot: boolean): Promise<'wait' | void> {
  if (await task.isFastTrack()) await task.driver.network.addCleaningNetwork(task)
  else await withNetworkPower(task, () => task.driver.network.addCleaningNetwork(task))
  setInternal(task.node, erasureSettings(task.config))
  await task.save()
  if (manageBoot) await prepareAgentBoot(task)
  // preparing the ramdisk may have powered the node off
  if (await task.isFastTrack()) return
  await task.powerAction('rebooting')
  return 'wait'
}

export async function tearDownInbandCleaning(task: Task, manageBoot: boolean): Promise<void> {
  const { node } = task
  const fastTrack = await task.isFastTrack()
  const failed = node.fault === 'clean failure'
  if (!fastTrack && !failed && !node.disable_power_off) await task.powerAction('power off')
  if (manageBoot) await task.driver.boot.cleanUpRamdisk(task)
  const removeNetwork = () => task.driver.network.removeCleaningNetwork(task)
  if (fastTrack || failed) await removeNetwork()
  else await withNetworkPower(task, removeNetwork)
  if (!fastTrack && !failed && node.disable_power_off) await task.powerAction('rebooting')
}

/** What a workload machine goes through before the agent may run on it: off, workload's boot and networks away. */
export async function bootAgentInsteadOfInstance(
  task: Task,
  addNetwork: () => Promise<unknown>,
  manageBoot: boolean,
): Promise<void> {
  await withPowerOff(task, async () => {
    // the machine is meant to run: a power sync that sees it off now must not settle on that
    task.node.power_state = 'power on'
    await task.save()
    await task.driver.boot.cleanUpInstance(task)
    await withNetworkPower(task, async () => {
      await task.driver.network.unconfigureTenantNetworks(task)
      await addNetwork()
    })
    if (manageBoot) await prepareAgentBoot(task)
  })
}

/** Off, the change, on again; a node that must not be powered off is rebooted after the change. */
export async function withPowerOff(task: Task, change: () => Promise<void>): Promise<void> {
  if (!task.node.disable_power_off) await task.powerAction('power off')
  await change()
  await task.powerAction(task.node.disable_power_off ? 'rebooting' : 'power on')
}

/** Back from servicing to the instance. */
export async function tearDownInbandService(task: Task): Promise<void> {
  const { node } = task
  const failed = node.fault === 'service failure'
  if (!failed && !node.disable_power_off) await task.powerAction('power off')
  await task.driver.boot.cleanUpRamdisk(task)
  if (failed) return
  await withNetworkPower(task, async () => {
    await task.driver.network.removeServicingNetwork(task)
    await task.driver.network.configureTenantNetworks(task)
  })
  await task.driver.boot.prepareInstance(task)
  await task.powerAction(node.disable_power_off ? 'rebooting' : 'power on')
}

/** Is the node's clean or service flow one that runs without the agent? */
export function ramdiskDisabled(node: Node): boolean {
  const info = node.driver_internal_info ?? {}
  if (node.provision_state === 'cleaning' || node.provision_state === 'clean wait') {
    return Boolean(info['cleaning_disable_ramdisk'])
  }
  if (node.provision_state === 'servicing' || node.provision_state === 'service wait') {
    return Boolean(info['service_disable_ramdisk'])
  }
  return false
}

/** Reboots into the agent to end a step. */
export async function rebootToFinishStep(task: Task): Promise<void> {
  if (!ramdiskDisabled(task.node)) {
    if ((await task.isFastTrack()) && !task.node.disable_power_off) await task.powerAction('power off')
    await prepareAgentBoot(task)
  }
  await task.powerAction('rebooting')
}
