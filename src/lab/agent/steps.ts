/** A step as the agent tells it. */
export interface AgentStep {
  readonly step: string
  readonly priority: number
  readonly interface: string
  readonly reboot_requested: boolean
  readonly abortable?: boolean
  readonly argsinfo?: Readonly<Record<string, { readonly description: string; readonly required: boolean }>>
}

export type StepFamily = 'clean' | 'deploy' | 'service'

const step = (name: string, priority: number, face: string, more: Partial<AgentStep> = {}): AgentStep => ({
  step: name,
  priority,
  interface: face,
  reboot_requested: false,
  ...more,
})
const abortable = { abortable: true }

const nvramArguments = {
  match_patterns: { description: 'List of regular expressions; boot entries that match are deleted.', required: false },
}
const raidArguments = {
  raid_config: { description: 'The RAID configuration to apply.', required: true },
  delete_existing: { description: 'Whether what exists is deleted first; true if not given.', required: false },
}
const injectArguments = {
  files: { description: 'Files to inject: path, partition, content (base64), mode, dirmode.', required: false },
  verify_ca: { description: 'Whether to verify TLS certificates.', required: false },
}

/** What the agent's generic hardware manager offers: names, interfaces and priorities of ironic-python-agent 13.0.0. */
export const agentSteps: Readonly<Record<StepFamily, readonly AgentStep[]>> = {
  clean: [
    step('erase_devices', 10, 'deploy', abortable),
    step('erase_devices_metadata', 99, 'deploy', abortable),
    step('erase_devices_express', 0, 'deploy', abortable),
    step('erase_pstore', 0, 'deploy', abortable),
    step('clean_uefi_nvram', 0, 'deploy', { ...abortable, argsinfo: nvramArguments }),
    step('delete_configuration', 0, 'raid', abortable),
    step('create_configuration', 0, 'raid', abortable),
    step('burnin_cpu', 0, 'deploy', abortable),
    step('burnin_gpu', 0, 'deploy', abortable),
    step('burnin_disk', 0, 'deploy', abortable),
    step('burnin_memory', 0, 'deploy', abortable),
    step('burnin_network', 0, 'deploy', abortable),
  ],
  deploy: [
    step('erase_devices_metadata', 0, 'deploy'),
    step('apply_configuration', 0, 'raid', { argsinfo: raidArguments }),
    step('clean_uefi_nvram', 0, 'deploy', { argsinfo: nvramArguments }),
    step('write_image', 0, 'deploy'),
    step('inject_files', 0, 'deploy', { argsinfo: injectArguments }),
    step('execute_bootc_install', 0, 'deploy'),
  ],
  service: [
    step('delete_configuration', 0, 'raid', abortable),
    step('apply_configuration', 0, 'raid', { argsinfo: raidArguments }),
    step('create_configuration', 0, 'raid', abortable),
    step('burnin_cpu', 0, 'deploy', abortable),
    step('burnin_gpu', 0, 'deploy', abortable),
    step('burnin_memory', 0, 'deploy', abortable),
    step('burnin_network', 0, 'deploy', abortable),
    step('write_image', 0, 'deploy'),
    step('inject_files', 0, 'deploy', { argsinfo: injectArguments }),
    step('execute_bootc_install', 0, 'deploy'),
  ],
}

/** Name under which the steps are told, and the versions that go with them. */
export const hardwareManager = 'generic_hardware_manager'
export const hardwareManagerVersion: Readonly<Record<string, string>> = { [hardwareManager]: '1.2' }

/** A step of a test's own that the agent of a machine offers in all families. */
export interface ExtraStep {
  readonly step: string
  readonly interface?: string
  readonly priority?: number
  readonly reboot_requested?: boolean
  /** milliseconds that it takes */
  readonly takes?: number
  /** its result; a string that begins with `fail:` makes it fail with the rest */
  readonly result?: unknown
}

/** An extra step as the agent tells it. */
export const shownExtra = (extra: ExtraStep): AgentStep =>
  step(extra.step, extra.priority ?? 0, extra.interface ?? 'deploy', {
    ...abortable,
    reboot_requested: extra.reboot_requested ?? false,
  })
