import { InvalidImageRef } from '../../errors/image.ts'
import { configDriveImage } from '../../images/configdrive.ts'
import { pullSecret } from '../../images/credentials.ts'
import { isOciImage } from '../../images/reference.ts'
import { registryPullSecret } from '../../images/registry-secrets.ts'
import type { StepSpec } from '../interfaces/base.ts'
import type { Task } from '../task.ts'
import { CustomAgentDeploy } from './custom-agent.ts'
import { executeAgentStep } from './step-progress.ts'

const imageSource = (task: Task): string => {
  const source: unknown = task.node.instance_info?.['image_source']
  return typeof source === 'string' ? source : ''
}

/** The agent installs a bootable container; it pulls the image itself. */
export class BootcDeploy extends CustomAgentDeploy {
  override readonly name: string = 'bootc'

  override async validate(task: Task): Promise<void> {
    await super.validate(task)
    const source = imageSource(task)
    if (!isOciImage(source)) throw new InvalidImageRef({ image_href: source || 'none' })
  }

  /** Every image in a registry is taken for a bootable container: only those can be deployed from there by this release. */
  override supportsDeploy(task: Task): Promise<boolean> {
    return Promise.resolve(isOciImage(imageSource(task)))
  }

  override steps(): readonly StepSpec[] {
    return [
      ...super.steps(),
      { phase: 'deploy', step: 'execute_bootc_install', priority: 80, run: (task) => this.install(task) },
      { phase: 'deploy', step: 'set_boot_to_disk', priority: 60, run: (task) => this.setBootToDisk(task) },
    ]
  }

  protected async install(task: Task): Promise<'wait' | 'done'> {
    const { node } = task
    const { deploy, oci } = this.parts.config
    const source = imageSource(task)
    const secret = pullSecret(node, deploy)?.password ?? (await registryPullSecret(source, oci.authentication_config))
    return await executeAgentStep(this.client, task, 'deploy', {
      interface: 'deploy',
      step: 'execute_bootc_install',
      args: {
        image_source: source,
        configdrive: await configDriveImage(node, task.clock.now()),
        oci_pull_secret: secret ? Buffer.from(secret).toString('base64') : null,
      },
    })
  }
}
