import type { Config } from '../../config/index.ts'
import { booleanFrom } from '../../domain/booleans.ts'
import { InvalidParameterValue } from '../../errors/base.ts'
import { MissingParameterValue } from '../../errors/driver.ts'
import type { Node } from '../../objects/index.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'

const layoutFields = ['root_gb', 'swap_mb', 'ephemeral_gb'] as const

/**
 * The disk layout that `instance_info` asks of a partition image, sizes in MiB beside those in GiB.
 * @throws MissingParameterValue without `root_gb`; InvalidParameterValue for sizes that are no integers, and when
 *   `preserve_ephemeral` is asked for with another layout than the one deployed
 */
export function partitionLayout(node: Node, config: Config): JsonDict {
  const info = node.instance_info ?? {}
  if (!info['root_gb']) {
    throw new MissingParameterValue(`instance_info of node ${node.uuid} lacks root_gb, which a partition image needs.`)
  }
  const preserveEphemeral = booleanFrom(info['preserve_ephemeral'] ?? false)
  if (preserveEphemeral === undefined) {
    throw new InvalidParameterValue(`preserve_ephemeral in instance_info of node ${node.uuid} must be true or false.`)
  }
  const sizes = {
    root_gb: integer(node, 'root_gb', info['root_gb']),
    swap_mb: integer(node, 'swap_mb', info['swap_mb'] ?? 0),
    ephemeral_gb: integer(node, 'ephemeral_gb', info['ephemeral_gb'] ?? 0),
  }
  const format: unknown =
    info['ephemeral_format'] ?? (sizes.ephemeral_gb > 0 ? config.pxe.default_ephemeral_format : null)
  if (preserveEphemeral) checkLayoutUnchanged(node, sizes)
  return {
    image_source: info['image_source'],
    root_gb: info['root_gb'],
    preserve_ephemeral: preserveEphemeral,
    swap_mb: sizes.swap_mb,
    ephemeral_gb: info['ephemeral_gb'] ?? 0,
    root_mb: sizes.root_gb * 1024,
    ephemeral_mb: sizes.ephemeral_gb * 1024,
    ephemeral_format: format,
    configdrive: info['configdrive'] ?? null,
  }
}

function integer(node: Node, name: string, value: unknown): number {
  const number = typeof value === 'number' ? Math.trunc(value) : Number(/^\s*[+-]?\d+\s*$/.exec(String(value))?.[0])
  if (Number.isSafeInteger(number)) return number
  throw new InvalidParameterValue(
    `${name} in instance_info of node ${node.uuid} must be an integer, not ${String(value)}.`,
  )
}

function checkLayoutUnchanged(node: Node, sizes: Record<(typeof layoutFields)[number], number>): void {
  const deployed: unknown = node.driver_internal_info?.['instance']
  if (typeof deployed !== 'object' || deployed === null) return
  for (const name of layoutFields) {
    const before = Number((deployed as JsonDict)[name])
    if (before !== sizes[name]) {
      throw new InvalidParameterValue(
        `The ephemeral partition of node ${node.uuid} can only be kept with the layout that was deployed: ` +
          `${name} was ${before}, now it is ${sizes[name]}.`,
      )
    }
  }
}
