import { InvalidParameterValue } from '../errors/base.ts'
import { type HasCapabilities, instanceCapabilities, nodeCapability } from './capabilities.ts'

export interface HasBootMode extends HasCapabilities {
  readonly driver_internal_info: Record<string, unknown> | null
}

const lower = (value: unknown) => (typeof value === 'string' && value !== '' ? value.toLowerCase() : undefined)

export const secureBootRequested = (node: HasCapabilities): boolean =>
  lower(String(instanceCapabilities(node)['secure_boot'] ?? 'false')) === 'true'

/**
 * The boot mode that the node is told to use, in the order instance capability, `instance_info.deploy_boot_mode` (old),
 * property capability, what an earlier deploy settled on. Secure boot means UEFI.
 * @throws InvalidParameterValue when it differs from the property capability, which binds
 */
export function requestedBootMode(node: HasBootMode): string | undefined {
  if (secureBootRequested(node)) return 'uefi'
  const fixed = lower(nodeCapability(node, 'boot_mode'))
  const mode =
    lower(instanceCapabilities(node)['boot_mode']) ??
    lower(node.instance_info?.['deploy_boot_mode']) ??
    fixed ??
    lower(node.driver_internal_info?.['deploy_boot_mode'])
  if (mode !== undefined && fixed !== undefined && mode !== fixed) {
    throw new InvalidParameterValue(
      `Boot mode ${mode} of node ${node.uuid} is not the ${fixed} that properties.capabilities declares.`,
    )
  }
  return mode
}

/** The same with `[deploy]default_boot_mode` where nothing is told. */
export const bootModeOf = (node: HasBootMode, otherwise: string): string => requestedBootMode(node) ?? otherwise
