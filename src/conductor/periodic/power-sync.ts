import type { Config } from '../../config/index.ts'
import { isProvisionState } from '../../domain/machine.ts'
import { faults } from '../../domain/states.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { PowerStateFailure } from '../../errors/driver.ts'
import type { Node } from '../../objects/index.ts'
import type { ConductorTask } from '../conductor-task.ts'
import { cacheBootMode } from '../../drivers/boot-mode.ts'
import { cacheHealth, cacheVendor } from '../node-cache.ts'
import { messageOf, notifyPowerCorrected, powerAction } from '../power-action.ts'
import { forEachNode, ownNodePages, ownNodes, periodicContext } from './own-nodes.ts'
import type { PeriodicTask } from './scheduler.ts'

/** States in which the power changes by itself, or is not ours to watch. */
const unwatched: ReadonlySet<string | null> = new Set(['wait call-back', 'clean wait', 'enroll', 'adopt failed'])

const isWatched = (node: Node): boolean =>
  isProvisionState(node.provision_state) &&
  !unwatched.has(node.provision_state) &&
  !node.maintenance &&
  node.target_power_state === null &&
  node.reservation === null &&
  (node.driver_internal_info?.['redfish_fw_updates'] ?? null) === null

/** Compares the recorded power states with the real ones. Nodes that failed last time come first. */
export function powerSync(config: Config): PeriodicTask {
  const attempts = new Map<string, number>()
  const {
    sync_power_state_interval: interval,
    sync_power_state_workers: workers,
    periodic_max_workers: most,
  } = config.conductor
  return {
    name: 'power state sync',
    interval,
    async run(parts) {
      const seen = new Set<string>()
      const tried = (node: Node) => attempts.get(node.uuid ?? '') ?? 0
      for await (const page of ownNodePages(parts, { maintenance: false })) {
        for (const { uuid } of page) seen.add(uuid ?? '')
        const watched = page.filter(isWatched).toSorted((a, b) => tried(b) - tried(a))
        await forEachNode(parts, watched, Math.min(workers, most), (node) =>
          parts.tasks.sharedOn(periodicContext('power state sync'), node, 'power state sync', async (task) => {
            const count = await syncPowerState(task, tried(node))
            if (count > 0) attempts.set(node.uuid ?? '', count)
            else attempts.delete(node.uuid ?? '')
          }),
        )
      }
      for (const uuid of attempts.keys()) if (!seen.has(uuid)) attempts.delete(uuid)
    },
  }
}

/**
 * Brings row and machine in step: the machine follows the row (`[conductor]force_power_state_during_sync`), or the row the
 * machine. Too many failures put the node into maintenance with the fault `power failure`.
 * @param failures of the runs before
 * @returns failures in a row, this run's with them; 0 when all is well
 */
export async function syncPowerState(task: ConductorTask, failures: number): Promise<number> {
  const { node, config } = task
  const count = failures + 1
  const retries = config.conductor.power_state_sync_max_retries
  if (node.power_state === null && !(await isSetUp(task))) return 0
  let actual: string | null = null
  try {
    actual = await task.driver.power.getPowerState(task)
    refuseErrorState(task, actual)
  } catch (error) {
    task.log.warning(
      `The power state of node ${node.uuid} cannot be read, try ${count} of ${retries}: ${messageOf(error)}`,
    )
    if (count > retries) {
      await task.upgradeLock()
      await giveUp(task, actual, error)
    }
    return count
  }
  await cacheVendor(task)
  await cacheBootMode(task)
  await cacheHealth(task)
  if (node.power_state === actual) return settled(task)
  await task.upgradeLock()
  // somebody may have changed the row while the lock was waited for
  if (node.power_state === actual) return settled(task)
  if (unwatched.has(node.provision_state) || node.maintenance || node.target_power_state !== null) return 0
  if (node.power_state === null) {
    await adoptState(task, actual)
    return 0
  }
  if (count > retries) {
    await giveUp(task, actual)
    return count
  }
  if (mayForce(task)) await force(task, node.power_state, count)
  else await adoptState(task, actual)
  return count
}

async function isSetUp(task: ConductorTask): Promise<boolean> {
  try {
    await task.driver.power.validate(task)
    return true
  } catch (error) {
    if (error instanceof InvalidParameterValue) return false
    throw error
  }
}

function refuseErrorState({ node }: ConductorTask, state: string | null): void {
  if (state === 'error') throw new PowerStateFailure(`The BMC of node ${node.uuid} reports the power state error.`)
}

/** A node whose power is in order has no use for what earlier trouble left in `last_error`; its history keeps it. */
async function settled(task: ConductorTask): Promise<number> {
  const { node, config } = task
  if (!config.conductor.node_history || node.last_error === null) return 0
  await task.upgradeLock()
  node.last_error = null
  await task.save()
  return 0
}

/** `error` is nothing that a machine can be brought to. */
function mayForce(task: ConductorTask): boolean {
  const { node, config, driver } = task
  return (
    config.conductor.force_power_state_during_sync &&
    driver.power.supportsPowerSync(task) &&
    node.disable_power_off !== true &&
    (node.power_state === 'power on' || node.power_state === 'power off')
  )
}

async function force(task: ConductorTask, wanted: string, count: number): Promise<void> {
  task.log.warning(`Node ${task.node.uuid} is not ${wanted} as recorded; it is brought there`)
  try {
    await powerAction(task, wanted)
  } catch (error) {
    task.log.error(`Node ${task.node.uuid} could not be brought to ${wanted}, try ${count}: ${messageOf(error)}`)
  }
}

async function adoptState(task: ConductorTask, actual: string | null): Promise<void> {
  const { node } = task
  const before = node.power_state
  task.log.warning(`Node ${node.uuid} is ${actual}, not ${before} as recorded; the record follows`)
  node.power_state = actual
  if (before === null && task.config.conductor.node_history) node.last_error = null
  await task.save()
  await notifyPowerCorrected(task, before)
}

async function giveUp(task: ConductorTask, actual: string | null, error?: unknown): Promise<void> {
  const { node } = task
  const before = node.power_state
  const reason = error === undefined ? '' : ` The last failure: ${messageOf(error)}`
  const message = `Node ${node.uuid} could not be brought in step with its recorded power state ${before}; it is ${actual ?? 'not known'}. It is put into maintenance until its BMC answers as expected.${reason}`
  task.log.error(message)
  node.power_state = actual
  await task.addHistory(message, 'monitoring')
  if (!node.maintenance)
    Object.assign(node, { maintenance: true, maintenance_reason: message, fault: faults.POWER_FAILURE })
  await task.save()
  if (before !== actual) await notifyPowerCorrected(task, before)
}

/** Nodes with the fault `power failure` whose BMC answers again come out of maintenance. */
export function powerRecovery(config: Config): PeriodicTask {
  return {
    name: 'power failure recovery',
    interval: config.conductor.power_failure_recovery_interval,
    async run(parts) {
      const nodes = await ownNodes(parts, { filters: { maintenance: true, fault: faults.POWER_FAILURE } })
      await forEachNode(parts, nodes, config.conductor.periodic_max_workers, ({ id }) =>
        parts.tasks.shared(periodicContext('power failure recovery'), id, 'power failure recovery', recover),
      )
    },
  }
}

const awaitsRecovery = (node: Node): boolean =>
  node.provision_state !== 'enroll' &&
  node.maintenance &&
  node.fault === faults.POWER_FAILURE &&
  node.target_power_state === null

async function recover(task: ConductorTask): Promise<void> {
  const { node } = task
  if (!awaitsRecovery(node) || node.reservation !== null) return
  let actual: string | null
  try {
    await task.driver.power.validate(task)
    actual = await task.driver.power.getPowerState(task)
    refuseErrorState(task, actual)
  } catch (error) {
    task.log.debug(`The BMC of node ${node.uuid} still does not answer: ${messageOf(error)}`)
    return
  }
  await task.upgradeLock()
  if (!awaitsRecovery(node)) return
  const before = node.power_state
  Object.assign(node, { power_state: actual, maintenance: false, maintenance_reason: null, fault: null })
  await task.save()
  task.log.info(`Node ${node.uuid} has recovered from its power failure; it is ${actual}`)
  if (before !== actual) await notifyPowerCorrected(task, before)
}
