import { faults } from '../../domain/states.ts'
import { TemporaryFailure } from '../../errors/base.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { messageOf } from '../power-action.ts'
import { background } from '../tasks.ts'
import type { Methods, ServiceParts } from './parts.ts'

const mediaDevices = ['disk', 'cdrom', 'floppy'] as const

export const managementMethods = (
  parts: ServiceParts,
): Methods<
  | 'get_boot_device'
  | 'set_boot_device'
  | 'get_supported_boot_devices'
  | 'inject_nmi'
  | 'get_indicator_state'
  | 'set_indicator_state'
  | 'get_supported_indicators'
  | 'get_virtual_media'
  | 'attach_virtual_media'
  | 'detach_virtual_media'
> => ({
  get_boot_device: (context, { node_id }) =>
    parts.tasks.exclusive(context, node_id, 'reading the boot device', async (task) => {
      await task.driver.management.validate(task)
      return task.driver.management.getBootDevice(task)
    }),
  set_boot_device: (context, { node_id, device, persistent }) =>
    parts.tasks.exclusive(context, node_id, 'setting the boot device', async (task) => {
      await task.driver.management.validate(task)
      await task.driver.management.setBootDevice(task, device, persistent ?? false)
    }),
  get_supported_boot_devices: (context, { node_id }) =>
    parts.tasks.shared(context, node_id, 'listing boot devices', (task) =>
      task.driver.management.supportedBootDevices(task),
    ),
  inject_nmi: (context, { node_id }) =>
    parts.tasks.exclusive(context, node_id, 'injecting an NMI', async (task) => {
      await task.driver.management.validate(task)
      await task.driver.management.injectNmi(task)
    }),
  get_indicator_state: (context, { node_id, component, indicator }) =>
    parts.tasks.exclusive(context, node_id, 'reading an indicator', async (task) => {
      await task.driver.management.validate(task)
      return task.driver.management.getIndicatorState(task, component, indicator)
    }),
  set_indicator_state: (context, { node_id, component, indicator, state }) =>
    parts.tasks.exclusive(context, node_id, 'setting an indicator', async (task) => {
      await task.driver.management.validate(task)
      await task.driver.management.setIndicatorState(task, component, indicator, state)
    }),
  get_supported_indicators: (context, { node_id, component }) =>
    parts.tasks.shared(context, node_id, 'listing indicators', (task) =>
      task.driver.management.supportedIndicators(task, component ?? null),
    ),
  get_virtual_media: (context, { node_id }) =>
    parts.tasks.shared(context, node_id, 'listing virtual media', async (task) => {
      await task.driver.management.validate(task)
      return task.driver.management.getVirtualMedia(task)
    }),
  attach_virtual_media: (context, { node_id, device_type, image_url, image_download_source }) =>
    parts.tasks.background(context, node_id, 'attaching virtual media', async (task) => {
      await prepareMedia(task)
      return background(() =>
        act(task, `attach a ${device_type}`, async () => {
          const { publishMedia, unpublishMedia } = task.tasks.parts
          const url =
            publishMedia === undefined
              ? image_url
              : await publishMedia(task, device_type, image_url, image_download_source ?? 'local')
          try {
            await task.driver.management.attachVirtualMedia(task, device_type, url)
          } catch (error) {
            await unpublishMedia?.(task, device_type)
            throw error
          }
        }),
      )
    }),
  detach_virtual_media: (context, { node_id, device_types }) =>
    parts.tasks.background(context, node_id, 'detaching virtual media', async (task) => {
      await prepareMedia(task)
      const types = device_types ?? mediaDevices
      return background(() =>
        act(task, `detach ${types.join(', ')}`, async () => {
          await task.driver.management.detachVirtualMedia(task, types)
          for (const type of types) await task.tasks.parts.unpublishMedia?.(task, type)
        }),
      )
    }),
})

async function prepareMedia(task: ConductorTask): Promise<void> {
  const { node } = task
  await task.driver.management.validate(task)
  if (node.maintenance && node.fault === faults.POWER_FAILURE) {
    throw new TemporaryFailure(
      `The BMC of node ${node.uuid} does not answer (power failure), so its media cannot be changed.`,
    )
  }
  node.last_error = null
  await task.save()
}

async function act(task: ConductorTask, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const message = `Node ${task.node.uuid} could not ${what}: ${messageOf(error)}`
    task.log.error(message, { error })
    await task.addHistory(message, 'UNKNOWN')
    await task.save()
    return
  }
  task.log.info(`Node ${task.node.uuid}: ${what} is done`)
}
