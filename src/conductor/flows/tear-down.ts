import { destroyAllocation } from '../../db/allocations.ts'
import { dropInternal, internalInfo } from '../../domain/internal-info.ts'
import { withoutDisallowed } from '../../domain/step-list.ts'
import { AllocationNotFound } from '../../errors/allocation.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { messageOf } from '../power-action.ts'
import { automatedCleanSteps, cleanNode, type CleanRequest } from './clean.ts'
import { stopConsole } from './console.ts'
import { failStepFlow } from './fail.ts'
import { wipeLeftovers } from './leftovers.ts'
import { cleanFlow } from './step-flows.ts'

const withRescueParts: readonly (string | null)[] = ['rescue wait', 'rescue', 'unrescue failed', 'rescue failed']
const instanceKeys = [
  'instance',
  'root_uuid_or_disk_id',
  'is_whole_disk_image',
  'is_source_a_path',
  'deploy_boot_mode',
] as const

/** Takes the instance off a node in `deleting`, then cleans it. @param from the state that the delete came in */
export async function tearDownNode(task: ConductorTask, from: string | null): Promise<void> {
  try {
    await removeInstance(task, from)
  } catch (error) {
    const message = `Node ${task.node.uuid} could not be torn down: ${messageOf(error)}`
    task.log.error(message, { error })
    await task.addHistory(message, 'unprovision')
    return task.fire('fail')
  }
  await task.save()
  await cleanAfterwards(task)
}

/**
 * Undeploys and forgets the instance: it is gone for the user, whatever the hardware says. What was forgotten is not saved yet.
 * @throws what went wrong with the hardware, when all else is done
 */
export async function removeInstance(task: ConductorTask, from: string | null): Promise<void> {
  let trouble: unknown
  const attempt = async (work: Promise<void>) => {
    try {
      await work
    } catch (error) {
      trouble ??= error
    }
  }
  await attempt(tearDown(task, from))
  forgetInstance(task)
  await wipeLeftovers(task, 'deploy')
  await attempt(removeVifs(task))
  await dropAllocation(task)
  if (trouble !== undefined) throw trouble
}

async function tearDown(task: ConductorTask, from: string | null): Promise<void> {
  if (withRescueParts.includes(from)) await task.driver.rescue.cleanUp(task)
  await stopConsole(task)
  await task.driver.deploy.switchInterface(task)
  await task.driver.deploy.cleanUp(task)
  await task.driver.deploy.tearDown(task)
}

function forgetInstance({ node }: ConductorTask): void {
  Object.assign(node, { instance_info: {}, instance_uuid: null, instance_name: null })
  if (internalInfo(node)['automatic_lessee'] === true) node.lessee = null
  dropInternal(node, [...instanceKeys, 'automatic_lessee'])
}

async function removeVifs(task: ConductorTask): Promise<void> {
  for (const { id } of await task.driver.network.vifList(task)) {
    if (typeof id === 'string' && id !== '') await task.driver.network.vifDetach(task, id)
    else task.log.warning(`Node ${task.node.uuid} has a VIF without an id; it is left alone`)
  }
}

async function dropAllocation(task: ConductorTask): Promise<void> {
  const { node } = task
  if (node.allocation_id === null) return
  const id = node.allocation_id
  await task.save()
  try {
    await destroyAllocation(task.db, id)
  } catch (error) {
    if (!(error instanceof AllocationNotFound)) throw error
  }
  await task.refresh()
}

async function cleanAfterwards(task: ConductorTask): Promise<void> {
  let request: CleanRequest | undefined
  let trouble: unknown
  try {
    request = await automatedCleanSteps(task)
  } catch (error) {
    trouble = error
  }
  await task.fire('clean')
  if (request === undefined) {
    return failStepFlow(task, cleanFlow, { message: messageOf(trouble), cause: trouble, tearDown: false })
  }
  const steps = request.steps === null ? null : withoutDisallowed(request.steps, task.config.api.disallow_clean_steps)
  await cleanNode(task, { ...request, steps })
}
