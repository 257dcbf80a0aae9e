import { ConfigInvalid } from '../../errors/general.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import type { ConductorTask } from '../conductor-task.ts'

/**
 * Puts the config drive into the instance's information, where the deploy interface finds it. With a network interface that
 * knows the instance's networks, what the drive says of them is checked and made anew first.
 * @throws ConfigInvalid
 */
export async function storeConfigDrive(task: ConductorTask, configdrive: string | JsonDict): Promise<void> {
  const { node, config } = task
  let drive = configdrive
  const repair = task.tasks.parts.repairConfigDrive
  if (
    repair !== undefined &&
    !config.conductor.disable_configdrive_check &&
    task.driver.network.capabilities.includes('metadata')
  ) {
    drive = await repair(task, drive)
  }
  if (config.deploy.configdrive_use_object_store) {
    throw new ConfigInvalid(
      'Config drives cannot be kept in an object store by this release; set [deploy]configdrive_use_object_store to false.',
    )
  }
  node.instance_info = { ...node.instance_info, configdrive: drive }
  await task.save()
}
