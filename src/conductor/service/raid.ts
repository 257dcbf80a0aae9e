import type { Methods, ServiceParts } from './parts.ts'

export const raidMethods = (parts: ServiceParts): Methods<'set_target_raid_config'> => ({
  set_target_raid_config: (context, { node_id, target_raid_config: config }) =>
    parts.tasks.exclusive(context, node_id, 'setting the target RAID configuration', async (task) => {
      if (Object.keys(config ?? {}).length > 0) await task.driver.raid.validateRaidConfig(task, config)
      task.node.target_raid_config = config
      await task.save()
    }),
})
