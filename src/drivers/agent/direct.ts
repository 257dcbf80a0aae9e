import type { AgentClient } from '../../agent/client.ts'
import { IronicError } from '../../errors/define.ts'
import { configDriveImage } from '../../images/configdrive.ts'
import { Images } from '../../images/images.ts'
import { instanceCapabilities } from '../../domain/capabilities.ts'
import type { Housekeeping, StepSpec } from '../interfaces/base.ts'
import type { DriverParts, Task } from '../task.ts'
import { CustomAgentDeploy } from './custom-agent.ts'
import { deployStepFailed } from './deploy-failure.ts'
import { validateImage } from './image-validation.ts'
import { buildInstanceInfo, removeInstanceImage } from './instance-image.ts'
import { installBootLoader, readPartitionIds } from './local-boot.ts'
import { executeAgentStep } from './step-progress.ts'
import { writeImageStep } from './write-image.ts'

/** The agent writes an image to the disk and makes it bootable. */
export class AgentDeploy extends CustomAgentDeploy {
  override readonly name: string = 'direct'
  protected readonly images: Images

  constructor(parts: DriverParts) {
    super(parts)
    this.images = parts.shared.of(Images, parts)
  }

  override housekeeping(): readonly Housekeeping[] {
    const interval = this.parts.config.conductor.cache_clean_up_interval
    return [{ name: 'image caches', interval, run: () => this.images.cleanUp() }]
  }

  override async validate(task: Task): Promise<void> {
    await super.validate(task)
    const { node } = task
    // booted from a volume: there is no image
    if (!(await task.driver.storage.shouldWriteImage(task))) return
    validateImage(node, this.parts.config)
    if ('boot_option' in instanceCapabilities(node)) {
      task.log.warning(`The capability boot_option of node ${node.uuid} means nothing any more; remove it`)
    }
  }

  protected override async updateInstanceInfo(task: Task): Promise<void> {
    task.node.instance_info = await buildInstanceInfo(task, this.images)
    await task.save()
  }

  override async cleanUp(task: Task): Promise<void> {
    await super.cleanUp(task)
    await removeInstanceImage(this.parts.config, task.node)
  }

  override steps(): readonly StepSpec[] {
    return [
      ...super.steps(),
      { phase: 'deploy', step: 'write_image', priority: 80, run: (task) => this.writeImage(task) },
    ]
  }

  protected async writeImage(task: Task): Promise<'wait' | 'done'> {
    if (!(await task.driver.storage.shouldWriteImage(task))) return 'done'
    const { node } = task
    const configdrive = await configDriveImage(node, task.clock.now())
    const step = writeImageStep(node, configdrive, this.parts.config)
    return await executeAgentStep(this.client, task, 'deploy', step)
  }

  protected override async prepareInstanceBoot(task: Task): Promise<void> {
    if (!(await task.driver.storage.shouldWriteImage(task))) {
      await task.driver.boot.prepareInstance(task)
      return
    }
    const ids = await readPartitionIds(this.client, task)
    if (this.managesBoot()) {
      await installBootLoader(this.client, task, ids)
      await this.setBootToDisk(task)
      await prepareInstance(this.client, task)
    } else {
      await task.setBootDevice('disk', true)
    }
    await removeInstanceImage(this.parts.config, task.node)
  }
}

async function prepareInstance(client: AgentClient, task: Task): Promise<void> {
  try {
    await task.driver.boot.prepareInstance(task)
  } catch (error) {
    if (!(error instanceof IronicError)) throw error
    await deployStepFailed(client, task, `Failed to prepare instance for booting: ${error.message}`, { cause: error })
  }
}
