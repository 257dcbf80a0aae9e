import { InvalidParameterValue } from '../errors/base.ts'
import { str } from '../lib/python/text.ts'

/** What a capability lookup needs of a node. */
export interface HasCapabilities {
  readonly uuid: string | null
  readonly properties: Record<string, unknown> | null
  readonly instance_info: Record<string, unknown> | null
}

/** Capabilities that have a closed list of values; anything else is free text. */
export const knownCapabilities = {
  boot_mode: ['bios', 'uefi'],
  secure_boot: ['true', 'false'],
  disk_label: ['msdos', 'gpt'],
} as const

/**
 * `properties.capabilities` as a table: `key:value` pairs with commas between.
 * @throws InvalidParameterValue when it is no text or a pair has no single colon
 */
export function capabilitiesToTable(capabilities: unknown): Record<string, string> {
  if (capabilities === null || capabilities === undefined || capabilities === '') return {}
  if (typeof capabilities !== 'string') {
    throw new InvalidParameterValue('capabilities must be text of the form "key:value,key:value".')
  }
  const table: Record<string, string> = {}
  for (const pair of capabilities.split(',')) {
    const [key, value, ...more] = pair.split(':')
    if (key === undefined || value === undefined || more.length > 0) {
      throw new InvalidParameterValue(`Capability "${pair}" is not of the form "key:value".`)
    }
    table[key] = value
  }
  return table
}

/** One capability of `properties.capabilities`; pairs that make no sense are passed over. */
export function nodeCapability(node: HasCapabilities, name: string): string | undefined {
  const capabilities = node.properties?.['capabilities']
  if (typeof capabilities !== 'string') return undefined
  for (const pair of capabilities.split(',')) {
    const parts = pair.split(':')
    if (parts.length === 2 && parts[0]!.trim() === name && parts[1]!.trim() !== '') return parts[1]!.trim()
  }
  return undefined
}

/**
 * `instance_info.capabilities`: an object, or its JSON as old Nova sends it.
 * @throws InvalidParameterValue when it is neither
 */
export function instanceCapabilities(node: HasCapabilities): Record<string, unknown> {
  let capabilities: unknown = {}
  if (node.instance_info !== null && 'capabilities' in node.instance_info) {
    capabilities = node.instance_info['capabilities']
  }
  if (typeof capabilities === 'string') {
    try {
      capabilities = JSON.parse(capabilities) as unknown
    } catch (cause) {
      throw badInstanceCapabilities(node, cause)
    }
  }
  if (typeof capabilities !== 'object' || capabilities === null || Array.isArray(capabilities)) {
    throw badInstanceCapabilities(node)
  }
  return capabilities as Record<string, unknown>
}

const badInstanceCapabilities = (node: HasCapabilities, cause?: unknown) =>
  new InvalidParameterValue(
    `instance_info.capabilities of node ${node.uuid} must be an object, or the JSON text of an object.`,
    { cause },
  )

/**
 * Adds or replaces pairs in capability text; pairs it does not know stay where they are.
 * @throws InvalidParameterValue when the text is malformed
 */
export function updateCapabilities(capabilities: unknown, changes: Readonly<Record<string, unknown>>): string {
  const table = new Map<string, string>()
  if (capabilities) {
    if (typeof capabilities !== 'string') throw new InvalidParameterValue('capabilities must be text.')
    for (const pair of capabilities.split(',')) {
      const colon = pair.indexOf(':')
      if (colon < 0) throw new InvalidParameterValue(`Capability "${pair}" is not of the form "key:value".`)
      table.set(pair.slice(0, colon), pair.slice(colon + 1))
    }
  }
  for (const [key, value] of Object.entries(changes)) table.set(key, str(value))
  return [...table].map(([key, value]) => `${key}:${value}`).join(',')
}

/** @throws InvalidParameterValue when a capability with a closed list of values has another one, in either place */
export function validateCapabilities(node: HasCapabilities): void {
  const instance = instanceCapabilities(node)
  for (const [name, allowed] of Object.entries(knownCapabilities)) {
    for (const [field, value] of [
      ['properties.capabilities', nodeCapability(node, name)],
      ['instance_info.capabilities', instance[name]],
    ] as const) {
      if (value && !(allowed as readonly unknown[]).includes(value)) {
        throw new InvalidParameterValue(`${name} in ${field} is "${value}", but must be one of ${allowed.join(', ')}.`)
      }
    }
  }
}
