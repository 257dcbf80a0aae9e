import { InvalidParameterValue } from '../../errors/base.ts'
import { MissingParameterValue } from '../../errors/driver.ts'
import { RescueInterface } from '../interfaces/driver.ts'
import type { Task } from '../task.ts'
import { withNetworkPower } from './network-power.ts'
import { bootAgentInsteadOfInstance, withPowerOff } from './ramdisk-boot.ts'

/** Boots the agent on a deployed machine, with a password for whoever repairs it. */
export class AgentRescue extends RescueInterface {
  readonly name: string = 'agent'

  override async validate(task: Task): Promise<void> {
    const { boot, network } = task.driver
    await network.validateRescue(task)
    if (this.managesBoot()) {
      await boot.validate(task)
      await boot.validateRescue(task)
    }
    const password: unknown = task.node.instance_info?.['rescue_password']
    if (password === undefined || password === null) {
      throw new MissingParameterValue(`instance_info of node ${task.node.uuid} lacks rescue_password.`)
    }
    if (typeof password !== 'string' || password.trim() === '') {
      throw new InvalidParameterValue(`rescue_password in instance_info of node ${task.node.uuid} is empty.`)
    }
  }

  override async rescue(task: Task): Promise<'wait'> {
    await bootAgentInsteadOfInstance(task, () => task.driver.network.addRescuingNetwork(task), this.managesBoot())
    return 'wait'
  }

  override async unrescue(task: Task): Promise<void> {
    await withPowerOff(task, async () => {
      // the machine is meant to run: a power sync that sees it off now must not settle on that
      task.node.power_state = 'power on'
      await task.save()
      await this.cleanUp(task)
      await withNetworkPower(task, () => task.driver.network.configureTenantNetworks(task))
      await task.driver.boot.prepareInstance(task)
    })
  }

  override async cleanUp(task: Task): Promise<void> {
    const { rescue_password: _plain, hashed_rescue_password: _hashed, ...info } = task.node.instance_info ?? {}
    task.node.instance_info = info
    await task.save()
    if (this.managesBoot()) await task.driver.boot.cleanUpRamdisk(task)
    await withNetworkPower(task, () => task.driver.network.removeRescuingNetwork(task))
  }

  protected managesBoot(): boolean {
    return this.parts.config.agent.manage_agent_boot
  }
}
