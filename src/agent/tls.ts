import { access } from 'node:fs/promises'
import type { Config } from '../config/index.ts'
import { booleanFrom } from '../domain/booleans.ts'
import { InvalidParameterValue } from '../errors/base.ts'
import { type TlsClientOptions, tlsClientOptions, type Verify } from '../lib/tls/client-options.ts'
import type { Node } from '../objects/index.ts'

/**
 * How the agent's certificate is checked: the certificate it brought with its heartbeat, `driver_info.agent_verify_ca`, or
 * `[agent]verify_ca`; each is a yes, a no, or the path of a file or folder.
 * @throws InvalidParameterValue when the path does not exist
 */
export async function verifyFor(node: Node, config: Config): Promise<Verify> {
  const value: unknown =
    node.driver_internal_info?.['agent_verify_ca'] ?? node.driver_info?.['agent_verify_ca'] ?? config.agent.verify_ca
  const decided = booleanFrom(value)
  if (decided !== undefined) return decided
  const caPath = String(value)
  try {
    await access(caPath)
  } catch (cause) {
    throw new InvalidParameterValue(
      `The CA of the agent on node ${node.uuid} is "${caPath}", which is neither yes or no nor a file that exists. ` +
        'Correct agent_verify_ca in driver_info or [agent]verify_ca.',
      { cause },
    )
  }
  return { caPath }
}

export const agentTls = async (node: Node, config: Config): Promise<TlsClientOptions> =>
  tlsClientOptions({
    verify: await verifyFor(node, config),
    minimumVersion: config.agent.tls_minimum_version,
    ciphers: config.agent.tls_ciphers,
  })
