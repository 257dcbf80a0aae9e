import { RedfishError } from '../../errors/driver.ts'
import { type ManagerResource, managersOf, type SystemResource } from '../../lib/redfish/computer-system.ts'
import { RedfishProblem } from '../../lib/redfish/problems.ts'

/** Work by whichever iDRAC of the system can do it. @throws RedfishError with what each of them said */
export async function byAnyManager<T>(
  system: SystemResource,
  work: (manager: ManagerResource) => Promise<T>,
): Promise<T> {
  const failures: string[] = []
  for (const manager of await managersOf(system)) {
    try {
      return await work(manager)
    } catch (error) {
      if (!(error instanceof RedfishProblem)) throw error
      failures.push(`${manager.path}: ${error.message}`)
    }
  }
  throw new RedfishError({ error: failures.join('; ') || `the system ${system.path} names no manager` })
}
