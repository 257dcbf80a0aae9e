import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Config } from '../config/index.ts'
import { InvalidParameterValue } from '../errors/base.ts'
import type { Node } from '../objects/index.ts'

const textOf = async (path: string): Promise<string | null> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** A certificate is a few kB; more is refused before it reaches the disk. */
const longestCertificate = 64 * 1024

/**
 * Keeps the certificate that an agent brought with its heartbeat, readable by this service alone, so that later calls to
 * the agent are checked against it. Within one session it must stay the same one.
 * @returns the path, for `driver_internal_info.agent_verify_ca`
 * @throws InvalidParameterValue when it is no certificate, or another one than before
 */
export async function storeAgentCertificate(node: Node, certificate: string, config: Config): Promise<string> {
  if (certificate.length > longestCertificate || !certificate.includes('-----BEGIN CERTIFICATE-----')) {
    throw new InvalidParameterValue(`agent_verify_ca from the agent on node ${node.uuid} is not a PEM certificate.`)
  }
  const known: unknown = node.driver_internal_info?.['agent_verify_ca']
  if (typeof known === 'string') {
    const before = await textOf(known)
    if (before !== null) {
      if (before.trim() === certificate.trim()) return known
      throw new InvalidParameterValue(
        `The agent on node ${node.uuid} brought another agent_verify_ca than before; it is refused until the node is powered off.`,
      )
    }
  }
  const folder = config.agent.certificates_path
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `${node.uuid}.crt`)
  const draft = `${path}.${randomUUID()}`
  try {
    await writeFile(draft, certificate, { mode: 0o600, flag: 'wx' })
    await chmod(draft, 0o600)
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  return path
}
