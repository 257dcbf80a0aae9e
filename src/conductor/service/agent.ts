import { checkCallbackUrl } from '../../agent/callback-url.ts'
import { agentTokenIsValid } from '../../agent/token.ts'
import { storeAgentCertificate } from '../../agent/certificates.ts'
import { InvalidParameterValue, NotFound } from '../../errors/base.ts'
import { NodeLocked } from '../../errors/node.ts'
import type { RequestContext } from '../../domain/context.ts'
import type { ConductorService } from '../../rpc/conductor.ts'
import { continueInspection } from '../flows/inspect.ts'
import { background } from '../tasks.ts'
import type { Methods, ServiceParts } from './parts.ts'

export const agentMethods = (parts: ServiceParts): Methods<'heartbeat' | 'continue_inspection'> => ({
  heartbeat: (context, args) => heartbeat(parts, context, args),

  continue_inspection: (context, { node_id, inventory, plugin_data }) =>
    parts.tasks.background(context, node_id, 'continuing the inspection', async (task) => {
      const { node, config } = task
      const discovered = node.provision_state === 'enroll' && config.auto_discovery.enabled
      if (node.provision_state !== 'inspect wait' && !discovered) {
        task.log.error(
          `Node ${node.uuid} waits for no inspection data in the state ${node.provision_state}; they are refused`,
        )
        throw new NotFound({})
      }
      if (!discovered) await task.fire('resume', { begins: true })
      return background(() => continueInspection(task, inventory, plugin_data ?? null))
    }),
})

/** Checks who speaks and where it wants to be called back, then leaves the rest to the deploy interface. */
function heartbeat(
  parts: ServiceParts,
  context: RequestContext,
  args: Parameters<ConductorService['heartbeat']>[1],
): Promise<void> {
  const { node_id, callback_url, agent_version, agent_token, agent_verify_ca, agent_status, agent_status_message } =
    args
  if ((agent_version ?? null) === null && (agent_status ?? null) === null) {
    throw new InvalidParameterValue('The agent told no version, and one is required; update the agent.')
  }
  return parts.tasks.background(
    context,
    node_id,
    'heartbeat',
    async (task) => {
      const { node, config } = task
      if (!agentTokenIsValid(node, agent_token)) {
        task.log.error(`A heartbeat of node ${node.uuid} has no token, or a wrong one`)
        throw new InvalidParameterValue('The agent token is missing or wrong.')
      }
      if (callback_url) checkCallbackUrl(callback_url, config)
      const certificate = agent_verify_ca ? await storeAgentCertificate(node, agent_verify_ca, config) : null
      // without its address nothing can be done; with it the heartbeat may pass a lock by
      if (!node.driver_internal_info?.['agent_url'] && node.reservation !== null) {
        throw new NodeLocked({ node: node_id, host: node.reservation })
      }
      return background(() =>
        task.driver.deploy.heartbeat(task, {
          callbackUrl: callback_url,
          agentVersion: agent_version ?? '',
          agentVerifyCa: certificate,
          agentStatus: agent_status ?? null,
          agentStatusMessage: agent_status_message ?? null,
        }),
      )
    },
    { shared: true, useReserved: false },
  )
}
