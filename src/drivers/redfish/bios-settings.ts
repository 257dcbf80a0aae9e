import { InvalidParameterValue } from '../../errors/base.ts'
import { isObject } from '../../lib/redfish/shape.ts'
import type { BIOSSetting, Node } from '../../objects/index.ts'

export interface Setting {
  readonly name: string
  readonly value: unknown
}

/** The value as its type wants it; undefined when it does not fit. */
type Convert = (value: unknown, known: BIOSSetting) => unknown

const outside = (size: number, least: number | null, most: number | null): boolean =>
  (least !== null && size < least) || (most !== null && size > most)

/** By the `Type` of the attribute registry; other types are left to the BMC. */
const converters: Readonly<Record<string, Convert>> = {
  Enumeration: (value, { allowable_values: allowed }) =>
    allowed === null || allowed.length === 0 || allowed.includes(value as string) ? value : undefined,
  Integer: (value, { lower_bound: least, upper_bound: most }) => {
    const read =
      typeof value === 'number'
        ? Math.trunc(value)
        : typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value)
          ? Number(value)
          : undefined
    return read === undefined || outside(read, least, most) ? undefined : read
  },
  Boolean: (value) => (typeof value === 'string' ? value.toLowerCase() === 'true' : value),
  String: (value, { min_length: least, max_length: most }) =>
    typeof value === 'string' && !outside(value.length, least, most) ? value : undefined,
}

/**
 * Checks what a step was given against what is known of the settings, and converts it.
 * @throws InvalidParameterValue naming the settings that do not fit
 */
export function checkedSettings(node: Node, given: unknown, known: readonly BIOSSetting[]): Setting[] {
  if (
    !Array.isArray(given) ||
    !given.every((each): each is Setting => isObject(each) && typeof each['name'] === 'string' && 'value' in each)
  )
    throw new InvalidParameterValue(
      `The BIOS settings for node ${node.uuid} must be a list of objects with name and value.`,
    )
  const byName = new Map(known.map((setting) => [setting.name, setting]))
  const wrong: string[] = []
  const settings = given.map(({ name, value }) => {
    const setting = byName.get(name)
    if (setting === undefined) return { name, value }
    const converted =
      setting.read_only === true
        ? undefined
        : (converters[setting.attribute_type ?? ''] ?? ((same) => same))(value, setting)
    if (converted === undefined) wrong.push(name)
    return { name, value: converted }
  })
  if (wrong.length > 0)
    throw new InvalidParameterValue(
      `The BIOS of node ${node.uuid} does not take these values: ${wrong.join(', ')}; its settings tell what it takes, and which are read-only.`,
    )
  return settings
}
