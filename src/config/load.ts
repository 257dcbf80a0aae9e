import { findConfigFiles } from '../lib/oslo-config/find-files.ts'
import { loadConfig, type LoadConfigInput, type LoadedConfig } from '../lib/oslo-config/load.ts'
import { hostDefaults } from './host-defaults.ts'
import { optionGroups } from './index.ts'

/** The release of Ironic that this one stands in for. */
export const ironicVersion = '39.0.0'

export interface LoadIronicConfigInput {
  /** `ironic-api`, `ironic-conductor`, …: part of the names of the default files */
  readonly program: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly description?: string
  readonly command?: LoadConfigInput['command']
}

export type LoadedIronicConfig = LoadedConfig<typeof optionGroups>

/**
 * Reads Ironic's configuration: the files of the command line, else `IRONIC_CONFIG_FILE`, else `ironic.conf` and
 * `<program>.conf` where oslo.config looks for them (`~/.ironic`, `~`, `/etc/ironic`, `/etc`); folders likewise.
 *
 * @throws ConfigError, CommandLineExit
 */
export function loadIronicConfig(input: LoadIronicConfigInput): LoadedIronicConfig {
  const { program, env } = input
  const named = (variable: string, extension: string) => {
    const value = env[variable]
    return value === undefined || value === '' ? findConfigFiles('ironic', program, extension, env) : [value]
  }
  return loadConfig(optionGroups, {
    ...input,
    project: 'ironic',
    version: ironicVersion,
    hostDefaults: hostDefaults(),
    defaultFiles: named('IRONIC_CONFIG_FILE', '.conf'),
    defaultDirs: named('IRONIC_CONFIG_DIR', '.conf.d'),
  })
}
