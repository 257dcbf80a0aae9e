import { bootModeOf } from '../../domain/boot-mode.ts'
import { booleanOr } from '../../domain/booleans.ts'
import { validateCapabilities } from '../../domain/capabilities.ts'
import { IronicError } from '../../errors/define.ts'
import type { StepSpec } from '../interfaces/base.ts'
import type { Task } from '../task.ts'
import { AgentDeployBase, outOfBandSteps } from './agent-base.ts'
import { deployStepFailed } from './deploy-failure.ts'
import { dropInternal, internal } from './internal-info.ts'
import { withNetworkPower } from './network-power.ts'
import { agentProperties } from './properties.ts'
import { prepareAgentBoot } from './ramdisk-boot.ts'
import { collectRamdiskLogs } from './ramdisk-logs.ts'
import { validateRootDeviceHints } from './root-device.ts'
import { softPowerOff } from './soft-power-off.ts'
import { recordBootVolume } from './volumes.ts'

/** Boots the agent, lets its own deploy steps do the work, and boots what they left. */
export class CustomAgentDeploy extends AgentDeployBase {
  readonly name: string = 'custom-agent'

  override properties(): Readonly<Record<string, string>> {
    return agentProperties
  }

  override async validate(task: Task): Promise<void> {
    if (this.managesBoot()) await task.driver.boot.validate(task)
    validateCapabilities(task.node)
    validateRootDeviceHints(task.node)
  }

  /** Fields of `instance_info` that follow from others, filled in before the agent is booted. */
  protected updateInstanceInfo(_task: Task): Promise<void> {
    return Promise.resolve()
  }

  override async prepare(task: Task): Promise<void> {
    const { node } = task
    await recordBootVolume(task)
    if (node.provision_state === 'deploying' && (await this.#prepareDeploying(task)) === 'no agent boot') return
    switch (node.provision_state) {
      // a conductor takes over what runs: only the instance's boot is made ready
      case 'active':
      case 'unrescuing':
      case 'adopting':
        await task.driver.boot.prepareInstance(task)
        return
      case 'rescuing':
      case 'rescue wait':
      case 'rescue':
      case 'rescue failed':
        break
      default:
        await this.updateInstanceInfo(task)
    }
    if (this.managesBoot()) await prepareAgentBoot(task)
  }

  async #prepareDeploying(task: Task): Promise<'no agent boot' | 'boot agent'> {
    const { network, storage } = task.driver
    await network.validate(task)
    const writesImage = await storage.shouldWriteImage(task)
    const fastTrack = await task.isFastTrack()
    if (!fastTrack && !task.node.disable_power_off) await task.powerAction('power off')
    if (writesImage) {
      const changeNetworks = async () => {
        // a rebuild finds the instance's networks in place
        await network.unconfigureTenantNetworks(task)
        await network.addProvisioningNetwork(task)
      }
      if (fastTrack) {
        await changeNetworks()
        await this.updateInstanceInfo(task)
      } else {
        await withNetworkPower(task, changeNetworks)
      }
    }
    await storage.attachVolumes(task)
    return fastTrack || !writesImage ? 'no agent boot' : 'boot agent'
  }

  override steps(): readonly StepSpec[] {
    return [
      { phase: 'deploy', step: 'deploy', priority: 100, run: (task) => this.deploy(task) },
      { phase: 'deploy', step: 'prepare_instance_boot', priority: 60, run: (task) => this.prepareInstanceBoot(task) },
      { phase: 'deploy', step: 'tear_down_agent', priority: 40, run: (task) => this.tearDownAgent(task) },
      ...outOfBandSteps(this.client),
    ]
  }

  /** Starts the agent, or finds it running. */
  protected async deploy(task: Task): Promise<'wait' | 'done'> {
    if (await task.isFastTrack()) {
      await this.refreshNow(task, 'deploy')
      await task.validateDeploySteps()
      return 'done'
    }
    if (!(await task.driver.storage.shouldWriteImage(task))) return 'done'
    // an earlier step may have rebooted into the agent already
    const rebooted = internal(task.node, 'deployment_reboot')
    dropInternal(task.node, 'deployment_reboot')
    await task.save()
    if (!rebooted) await task.powerAction('rebooting')
    return 'wait'
  }

  protected async prepareInstanceBoot(task: Task): Promise<void> {
    try {
      await task.driver.boot.prepareInstance(task)
    } catch (error) {
      if (!(error instanceof IronicError)) throw error
      await deployStepFailed(this.client, task, `Failed to prepare instance for booting: ${error.message}`, {
        cause: error,
      })
    }
  }

  /** Ends the agent: the machine is off afterwards, or waits for its reset. */
  protected async tearDownAgent(task: Task): Promise<void> {
    const { node, config } = task
    if (config.agent.deploy_logs_collect === 'always') await collectRamdiskLogs(this.client, task)
    try {
      if (node.disable_power_off) {
        await this.client.lockdown(node, { signal: task.signal })
      } else if (!task.driver.power.supportedPowerStates(task).includes('power on')) {
        // it could not be started again: reboot straight into the instance
        await this.client.sync(node, task.signal)
        await task.powerAction('rebooting')
      } else if (booleanOr(node.driver_info?.['deploy_forces_oob_reboot'])) {
        const { faultstring } = await this.client.sync(node, task.signal)
        if (faultstring) {
          task.log.warning(`The agent on node ${node.uuid} did not flush its disks before power off: ${faultstring}`)
        }
        await task.powerAction('power off')
      } else {
        await softPowerOff(this.client, task)
      }
    } catch (error) {
      if (!(error instanceof IronicError)) throw error
      await deployStepFailed(
        this.client,
        task,
        `The agent on node ${node.uuid} could not be ended after the deploy: ${error.message}`,
        { cause: error },
      )
    }
  }

  /** Makes the disk the boot device for good. */
  protected async setBootToDisk(task: Task): Promise<void> {
    const { node } = task
    const mode = bootModeOf(node, this.parts.config.deploy.default_boot_mode)
    const vendor: unknown = node.properties?.['vendor']
    // Lenovo's UEFI takes a boot device change as a reason to restore its old NVRAM, and with it loses the agent's boot entry
    if (typeof vendor === 'string' && vendor.toLowerCase() === 'lenovo' && mode === 'uefi') return
    try {
      await task.setBootDevice('disk', node.driver_info?.['force_persistent_boot_device'] !== 'Never')
    } catch (error) {
      if (!(error instanceof IronicError)) throw error
      if (error.name === 'IPMIFailure' && mode === 'uefi') {
        task.log.warning(
          `Node ${node.uuid} does not take a boot device by IPMI in UEFI mode; set it by hand if need be`,
        )
        return
      }
      await deployStepFailed(
        this.client,
        task,
        `The boot device of node ${node.uuid} could not be set to disk: ${error.message}`,
        { cause: error },
      )
    }
  }
}
