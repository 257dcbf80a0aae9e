import { InstanceDeployFailure } from '../../errors/agent.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import type { HeartbeatInfo } from '../interfaces/driver.ts'
import { DeployInterface } from '../interfaces/driver.ts'
import type { StepSpec } from '../interfaces/base.ts'
import type { DriverParts, Task } from '../task.ts'
import { AgentClient } from '../../agent/client.ts'
import { BootcDeploy } from './bootc.ts'
import { CustomAgentDeploy } from './custom-agent.ts'
import { AgentDeploy } from './direct.ts'
import { handleHeartbeat } from './heartbeat.ts'
import { setInternal } from './internal-info.ts'
import { RamdiskDeploy } from './ramdisk.ts'

/** Interfaces it can choose among, by name. */
const candidates: Readonly<Record<string, new (parts: DriverParts) => DeployInterface>> = {
  ramdisk: RamdiskDeploy,
  bootc: BootcDeploy,
  direct: AgentDeploy,
  'custom-agent': CustomAgentDeploy,
}

/**
 * Chooses the deploy interface that fits the image, from `[DEFAULT]autodetect_deploy_interfaces` in their order; the last one when
 * none says that it fits. It does no deployment itself: flows switch first.
 */
export class AutodetectDeploy extends DeployInterface {
  readonly name: string = 'autodetect'
  readonly #choices: readonly DeployInterface[]
  readonly #client: AgentClient

  constructor(parts: DriverParts) {
    super(parts)
    const { autodetect_deploy_interfaces: names, enabled_deploy_interfaces: enabled } = parts.config.DEFAULT
    if (names.length === 0) {
      throw new InvalidParameterValue(
        'Deploy interface autodetect has nothing to choose from; set [DEFAULT]autodetect_deploy_interfaces.',
      )
    }
    this.#choices = names.map((name) => {
      const Choice = candidates[name]
      if (!enabled.includes(name) || Choice === undefined) {
        throw new InvalidParameterValue(
          `[DEFAULT]autodetect_deploy_interfaces names ${name}, which ${Choice === undefined ? 'this release does not have' : 'is not in enabled_deploy_interfaces'}.`,
        )
      }
      return new Choice(parts)
    })
    this.#client = parts.shared.of(AgentClient, parts)
  }

  override async validate(task: Task): Promise<void> {
    await (await this.#choose(task)).validate(task)
  }

  override async switchInterface(task: Task): Promise<void> {
    const { node } = task
    const chosen = await this.#choose(task)
    task.log.info(`Node ${node.uuid} is deployed by interface ${chosen.name}`)
    setInternal(node, { original_deploy_interface: node.deploy_interface })
    node.deploy_interface = chosen.name
    await task.save()
    task.loadDriver()
  }

  /** During inspection this interface is in place, and the agent's address must be known afterwards. */
  override async heartbeat(task: Task, info: HeartbeatInfo): Promise<void> {
    await handleHeartbeat({ client: this.#client, collectDeployLogs: true }, task, info)
  }

  override steps(): readonly StepSpec[] {
    return [{ phase: 'deploy', step: 'deploy', priority: 100, run: (task) => notSwitched(task, 'deploy') }]
  }

  override prepare(task: Task): Promise<void> {
    return notSwitched(task, 'prepare')
  }
  override cleanUp(task: Task): Promise<void> {
    return notSwitched(task, 'clean_up')
  }
  override takeOver(task: Task): Promise<void> {
    return notSwitched(task, 'take_over')
  }
  override tearDown(task: Task): Promise<void> {
    return notSwitched(task, 'tear_down')
  }
  override prepareCleaning(task: Task): Promise<void> {
    return notSwitched(task, 'prepare_cleaning')
  }
  override tearDownCleaning(task: Task): Promise<void> {
    return notSwitched(task, 'tear_down_cleaning')
  }
  override prepareService(task: Task): Promise<void> {
    return notSwitched(task, 'prepare_service')
  }
  override tearDownService(task: Task): Promise<void> {
    return notSwitched(task, 'tear_down_service')
  }

  async #choose(task: Task): Promise<DeployInterface> {
    for (const choice of this.#choices) if (await choice.supportsDeploy(task)) return choice
    if (task.node.instance_info?.['image_source']) {
      task.log.warning(
        `No deploy interface says that it fits the image of node ${task.node.uuid}; the last one is used`,
      )
    }
    return this.#choices.at(-1)!
  }
}

const notSwitched = (task: Task, operation: string): Promise<never> =>
  Promise.reject(
    new InstanceDeployFailure({
      reason: `${operation} reached deploy interface autodetect of node ${task.node.uuid}, which should have been switched to another one`,
    }),
  )
