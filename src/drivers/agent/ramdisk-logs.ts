import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentClient } from '../../agent/client.ts'
import { IronicError } from '../../errors/define.ts'
import type { Node } from '../../objects/index.ts'
import type { Task } from '../task.ts'

/** Characters that are not kept in a file name: a node's name could hold any. */
const fileSafe = (text: string) => text.replaceAll(/[^\w.-]/g, '_')

/** `<uuid>_<name>_<instance>_<label>_<time>.tar.gz`; what there is of it. */
export function ramdiskLogsFileName(node: Node, time: Date, label?: string): string {
  const stamp = time.toISOString().slice(0, 19).replaceAll(/[T:]/g, '-')
  const parts = [node.uuid, node.name, node.instance_uuid, label, stamp]
  return `${parts
    .filter((part) => typeof part === 'string' && part !== '')
    .map((part) => fileSafe(part!))
    .join('_')}.tar.gz`
}

/**
 * Keeps logs that a ramdisk sent: an archive in base64. Logs are a help, not a part of the operation: whatever goes wrong
 * is logged and the operation goes on.
 */
export async function storeRamdiskLogs(task: Task, logs: string, label?: string): Promise<void> {
  const { node, log } = task
  const { deploy_logs_storage_backend, deploy_logs_local_path } = task.config.agent
  if (deploy_logs_storage_backend !== 'local') {
    log.error(`Logs of node ${node.uuid} are not kept: [agent]deploy_logs_storage_backend swift is not supported here`)
    return
  }
  const name = ramdiskLogsFileName(node, task.clock.now(), label)
  try {
    await mkdir(deploy_logs_local_path, { recursive: true, mode: 0o700 })
    // logs may hold what was typed into a kernel command line: for this service alone
    await writeFile(join(deploy_logs_local_path, name), Buffer.from(logs, 'base64'), { mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    log.error(`Logs of the ramdisk on node ${node.uuid} could not be kept`, { error })
    return
  }
  log.info(`Logs of the ramdisk on node ${node.uuid} are in ${name}`)
}

/** Fetches the ramdisk's logs and keeps them (`[agent]deploy_logs_*`). */
export async function collectRamdiskLogs(client: AgentClient, task: Task, label?: string): Promise<void> {
  const { node, log } = task
  if (task.config.agent.deploy_logs_collect === 'never') return
  let logs: unknown
  try {
    const result = await client.collectSystemLogs(node, task.signal)
    logs = result.command_result?.system_logs
    if (result.faultstring !== undefined || typeof logs !== 'string') {
      log.error(`The agent on node ${node.uuid} gave no logs: ${result.faultstring ?? 'none in its answer'}`)
      return
    }
  } catch (error) {
    if (!(error instanceof IronicError)) throw error
    log.error(`Logs of the ramdisk on node ${node.uuid} could not be fetched`, { error })
    return
  }
  await storeRamdiskLogs(task, logs, label)
}
