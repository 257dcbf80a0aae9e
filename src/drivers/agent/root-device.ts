import { parseRootDeviceHints, type RootDeviceHints } from '../../domain/root-device-hints.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import type { Node } from '../../objects/index.ts'

/**
 * The hints that choose the disk to write to: those of the instance, else the node's own.
 * @throws InvalidParameterValue
 */
export function validateRootDeviceHints(node: Node): RootDeviceHints | null {
  const [where, hints] = hintsOf(node)
  if (hints === null) return null
  try {
    return parseRootDeviceHints(hints)
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    throw new InvalidParameterValue(`The root device hints in ${where} of node ${node.uuid}: ${cause.message}`, {
      cause,
    })
  }
}

function hintsOf(node: Node): ['instance_info' | 'properties', Record<string, unknown> | null] {
  const given = (hints: unknown) =>
    typeof hints === 'object' && hints !== null && Object.keys(hints).length > 0
      ? (hints as Record<string, unknown>)
      : null
  const own = given(node.instance_info?.['root_device'])
  return own === null ? ['properties', given(node.properties?.['root_device'])] : ['instance_info', own]
}
