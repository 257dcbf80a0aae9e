import { validateCapabilities } from '../../domain/capabilities.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import type { StepSpec } from '../interfaces/base.ts'
import type { Task } from '../task.ts'
import { AgentDeployBase } from './agent-base.ts'
import { withNetworkPower } from './network-power.ts'
import { recordBootVolume } from './volumes.ts'

/** The instance is a ramdisk or a boot ISO; nothing is written to disk. The agent only cleans. */
export class RamdiskDeploy extends AgentDeployBase {
  readonly name: string = 'ramdisk'

  override async validate(task: Task): Promise<void> {
    if (!task.driver.boot.capabilities.includes('ramdisk_boot')) {
      throw new InvalidParameterValue(
        `Boot interface ${task.node.boot_interface} of node ${task.node.uuid} cannot boot a ramdisk as an instance.`,
      )
    }
    await task.driver.boot.validate(task)
    validateCapabilities(task.node)
  }

  override steps(): readonly StepSpec[] {
    return [{ phase: 'deploy', step: 'deploy', priority: 100, run: (task) => this.deploy(task) }]
  }

  override async prepare(task: Task): Promise<void> {
    const { node, driver } = task
    await recordBootVolume(task)
    if (node.provision_state === 'deploying') {
      await driver.network.validate(task)
      await task.powerAction('power off')
      await driver.storage.attachVolumes(task)
    }
    if (node.provision_state === 'active' || node.provision_state === 'unrescuing') {
      await driver.boot.prepareInstance(task)
    }
  }

  /** Meant for it by `ironic_ramdisk_deploy`, and with something to boot. */
  override supportsDeploy(task: Task): Promise<boolean> {
    const info = task.node.instance_info ?? {}
    const bootable = Boolean(info['boot_iso']) || (Boolean(info['kernel']) && Boolean(info['ramdisk']))
    return Promise.resolve(bootable && Boolean(info['ironic_ramdisk_deploy']))
  }

  protected async deploy(task: Task): Promise<void> {
    const { node, driver, log } = task
    if (node.instance_info?.['configdrive'] && !driver.boot.capabilities.includes('ramdisk_boot_configdrive')) {
      log.warning(
        `The config drive of node ${node.uuid} is left out: boot interface ${node.boot_interface} cannot pass it to a ramdisk`,
      )
    }
    await task.powerAction('power off')
    // what is booted may come from the tenant's network
    await withNetworkPower(task, () => driver.network.configureTenantNetworks(task))
    await driver.boot.prepareInstance(task)
    await task.powerAction('power on')
  }
}
