import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { Machine } from '../machine.ts'
import type { CommandHandler, CommandTable, Parameters } from './commands.ts'
import { AgentError } from './errors.ts'
import type { AgentErrorType } from './errors.ts'
import { checkImageInfo, writeImage } from './image.ts'
import { inventory } from './inventory.ts'
import { systemLogs } from './logs.ts'
import { agentSteps, hardwareManager, hardwareManagerVersion, shownExtra } from './steps.ts'
import type { ExtraStep, StepFamily } from './steps.ts'

/** What the lookup told the agent. */
export interface AgentSettings {
  readonly node: Readonly<Record<string, unknown>>
  readonly heartbeatTimeout: number
  readonly md5: boolean
  readonly permittedFormats: readonly string[]
  readonly tlsMinVersion: string | null
}

/** What the commands need of the agent that runs them. */
export interface ExtensionParts {
  readonly machine: Machine
  readonly http: Dispatcher
  readonly signal: AbortSignal
  readonly directory: string
  readonly extraSteps: readonly ExtraStep[]
  settings(): AgentSettings
  /** asks Ironic again for the node, as before an image is written */
  refresh(): Promise<void>
  /** ends the API once the answer is out (after a rescue, or a lock-down) */
  stopServing(): void
}

const familyError: Readonly<Record<StepFamily, AgentErrorType>> = {
  clean: 'CleaningError',
  deploy: 'DeploymentError',
  service: 'ServicingError',
}

/** Steps that do nothing but take time here. */
const idleSteps = new Set([
  'erase_pstore',
  'clean_uefi_nvram',
  'burnin_cpu',
  'burnin_gpu',
  'burnin_disk',
  'burnin_memory',
  'burnin_network',
  'inject_files',
])

/** The commands of ironic-python-agent 13.0.0 that a conductor uses. */
export function agentCommands(parts: ExtensionParts): CommandTable {
  const { machine } = parts
  const state: { partitionUuids: Record<string, string> | null } = { partitionUuids: null }
  const now = (run: (params: Parameters) => unknown): CommandHandler => ({
    background: false,
    run: async (params) => await run(params),
  })
  const later = (
    run: (params: Parameters) => Promise<unknown>,
    check?: (params: Parameters) => void,
  ): CommandHandler => ({
    background: true,
    run,
    ...(check === undefined ? {} : { check }),
  })
  const table = new Map<string, CommandHandler>([
    ['standby.power_off', later(() => Promise.resolve(machine.leave('power off')))],
    ['standby.run_image', later(() => Promise.resolve(machine.leave('reboot')))],
    ['standby.sync', now(() => null)],
    ['standby.get_partition_uuids', now(() => state.partitionUuids ?? {})],
    [
      'standby.prepare_image',
      later(
        (params) => prepareImage(parts, state, params),
        (params) => void checkImageInfo(params['image_info'], parts.settings().md5),
      ),
    ],
    ['image.install_bootloader', later(() => installBootloader(parts))],
    ['log.collect_system_logs', now(async () => ({ system_logs: await systemLogs(machine.console) }))],
    ['poll.get_hardware_info', now(() => inventory(machine))],
    ['rescue.finalize_rescue', now((params) => finalizeRescue(parts, params))],
    ['system.lockdown', now(() => parts.stopServing())],
  ])
  for (const family of ['clean', 'deploy', 'service'] as const) {
    table.set(
      `${family}.get_${family}_steps`,
      now(() => stepList(parts, family)),
    )
    table.set(
      `${family}.execute_${family}_step`,
      later((params) => executeStep(parts, state, family, params)),
    )
  }
  return table
}

function stepList(parts: ExtensionParts, family: StepFamily): Record<string, unknown> {
  return {
    [`${family}_steps`]: { [hardwareManager]: [...agentSteps[family], ...parts.extraSteps.map(shownExtra)] },
    hardware_manager_version: hardwareManagerVersion,
  }
}

async function executeStep(
  parts: ExtensionParts,
  state: { partitionUuids: Record<string, string> | null },
  family: StepFamily,
  params: Parameters,
): Promise<Record<string, unknown>> {
  const wanted = params[`${family}_version`]
  if (wanted !== undefined && wanted !== null && JSON.stringify(wanted) !== JSON.stringify(hardwareManagerVersion)) {
    const [own, other] = [JSON.stringify(hardwareManagerVersion), JSON.stringify(wanted)]
    throw new AgentError('VersionMismatch', `Current versions: ${own}, versions used by ironic: ${other}`)
  }
  const step = params['step']
  if (typeof step !== 'object' || step === null || !('step' in step) || typeof step.step !== 'string') {
    throw new AgentError('CommandExecutionError', `Malformed ${family}_step, no "step" key: ${JSON.stringify(step)}`)
  }
  const given = 'args' in step && typeof step.args === 'object' && step.args !== null ? { ...step.args } : {}
  parts.machine.say(`agent: ${family} step ${step.step}`)
  try {
    const result = (await runStep(parts, state, step.step, given)) ?? null
    return { [`${family}_result`]: result, [`${family}_step`]: step }
  } catch (error) {
    if (error instanceof AgentError) throw error
    const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    throw new AgentError(familyError[family], `Unexpected exception performing ${family} step ${step.step}. ${what}`, {
      cause: error,
    })
  }
}

async function runStep(
  parts: ExtensionParts,
  state: { partitionUuids: Record<string, string> | null },
  name: string,
  given: Parameters,
): Promise<unknown> {
  const { machine, signal } = parts
  const extra = parts.extraSteps.find((candidate) => candidate.step === name)
  if (extra !== undefined) {
    await sleep(extra.takes ?? 0, undefined, { signal })
    if (typeof extra.result === 'string' && extra.result.startsWith('fail:'))
      throw new Error(extra.result.slice(5).trim())
    return extra.result ?? null
  }
  if (name === 'write_image') return { result: `prepare_image: ${await prepareImage(parts, state, given)}` }
  if (name === 'erase_devices_metadata') {
    await machine.disk.eraseMetadata()
    return null
  }
  if (name === 'erase_devices' || name === 'erase_devices_express') {
    await sleep(machine.timings.step, undefined, { signal })
    await machine.disk.discard()
    return null
  }
  if (idleSteps.has(name)) {
    await sleep(machine.timings.step, undefined, { signal })
    return null
  }
  if (name === 'delete_configuration') return null // there never is a software RAID to delete
  if (name === 'create_configuration' || name === 'apply_configuration') {
    throw new AgentError(
      'SoftwareRAIDError',
      'the machines of the lab have one disk each: no software RAID can be made',
    )
  }
  throw new AgentError('HardwareManagerMethodNotFound', `Could not find method: ${name}`)
}

async function prepareImage(
  parts: ExtensionParts,
  state: { partitionUuids: Record<string, string> | null },
  params: Parameters,
): Promise<string> {
  const { machine } = parts
  const info = checkImageInfo(params['image_info'], parts.settings().md5)
  await parts.refresh()
  const properties = parts.settings().node['properties']
  const rootDevice =
    typeof properties === 'object' && properties !== null && 'root_device' in properties ? properties.root_device : null
  const given = params['configdrive'] ?? info.configdrive
  const root = await writeImage(
    {
      machine,
      http: parts.http,
      signal: parts.signal,
      directory: parts.directory,
      md5: parts.settings().md5,
      permittedFormats: parts.settings().permittedFormats,
      rootDevice,
    },
    info,
    typeof given === 'string' && given !== '' ? given : null,
  )
  state.partitionUuids = { 'root uuid': root }
  const text = `image (${info.id}) written to device /dev/sda root_uuid=${root}`
  machine.say(`agent: ${text}`)
  return text
}

/** A whole-disk image brings its boot loader with it; a disk without partitions has none. */
async function installBootloader(parts: ExtensionParts): Promise<void> {
  const table = await parts.machine.disk.partitions()
  if (table === null) throw new AgentError('DeviceNotFound', 'No partition with UUID found on device /dev/sda')
}

function finalizeRescue(parts: ExtensionParts, params: Parameters): null {
  const hashed = params['hashed'] === true
  const password = params['rescue_password']
  if (typeof password !== 'string') throw new AgentError('CommandExecutionError', 'no rescue password given')
  parts.machine.say(
    `agent: rescue password set (${hashed ? password.split('$')[1] : 'plain'}), the machine waits for its user`,
  )
  parts.stopServing()
  return null
}
