import type { ConductorTask } from '../conductor-task.ts'
import { messageOf } from '../power-action.ts'
import type { Methods, ServiceParts } from './parts.ts'

export const vifMethods = (parts: ServiceParts): Methods<'vif_list' | 'vif_attach' | 'vif_detach'> => ({
  vif_list: (context, { node_id }) =>
    parts.tasks.shared(context, node_id, 'listing VIFs', async (task) => {
      await task.driver.network.validate(task)
      return task.driver.network.vifList(task)
    }),
  vif_attach: (context, { node_id, vif_info }) =>
    parts.tasks.exclusive(context, node_id, 'attaching a VIF', async (task) => {
      await task.driver.network.validate(task)
      await noted(task, `attach VIF ${vif_info['id']}`, () => task.driver.network.vifAttach(task, vif_info))
    }),
  vif_detach: (context, { node_id, vif_id }) =>
    parts.tasks.exclusive(context, node_id, 'detaching a VIF', async (task) => {
      await task.driver.network.validate(task)
      await noted(task, `detach VIF ${vif_id}`, () => task.driver.network.vifDetach(task, vif_id))
    }),
})

/** A failure goes to the caller, and into the node's history for those who look later. */
async function noted(task: ConductorTask, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    await task.addHistory(`Could not ${what}: ${messageOf(error)}`, task.node.provision_state ?? 'UNKNOWN')
    throw error
  }
}
