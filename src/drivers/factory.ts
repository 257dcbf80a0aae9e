/**
 * From names to interfaces: which are enabled, which is the default, and the driver of a node, composed of one interface of
 * each type (real Ironic's `driver_factory`).
 */
import { optionGroups, type Config } from '../config/index.ts'
import { interfaceTypes, type InterfaceType } from '../domain/interfaces.ts'
import { IncorrectConfiguration } from '../errors/agent.ts'
import {
  DriverLoadError,
  DriverNotFound,
  DriverNotFoundInEntrypoint,
  IncompatibleInterface,
  InterfaceNotFoundInEntrypoint,
  NoValidDefaultForInterface,
} from '../errors/driver.ts'
import { NoDriversLoaded } from '../errors/general.ts'
import type { Node } from '../objects/index.ts'
import { hardwareTypes, isHardwareType, takesAnyInterface, type HardwareType } from './hardware-types.ts'
import { interfaceClasses, type InterfaceClasses } from './interface-classes.ts'
import type { DriverInterface } from './interfaces/base.ts'
import type { Driver, InterfacesByType } from './interfaces/driver.ts'
import type { DriverParts } from './task.ts'
import { unwrittenInterface } from './unwritten.ts'

export interface DriverFactory {
  /** enabled hardware types */
  readonly hardwareTypes: readonly HardwareType[]
  /** Enabled interfaces that the hardware type supports, for its registration. */
  supportedInterfaces(hardwareType: HardwareType): Record<InterfaceType, string[]>
  /** @throws NoValidDefaultForInterface, InterfaceNotFoundInEntrypoint */
  defaultInterface(hardwareType: string, type: InterfaceType, nodeUuid?: string | null): string
  /** @throws InterfaceNotFoundInEntrypoint, IncompatibleInterface */
  interfaceOf<T extends InterfaceType>(hardwareType: string, type: T, name: string): InterfacesByType[T]
  /** The hardware type, when it is enabled. @throws DriverNotFound */
  hardwareType(name: string | null): HardwareType
  /**
   * Checks the node's interfaces and fills those that are not set with their defaults, in the object only.
   * @returns was one filled?
   * @throws DriverNotFound, InterfaceNotFoundInEntrypoint, IncompatibleInterface, NoValidDefaultForInterface
   */
  fillInterfaces(node: Node): boolean
  /** The interfaces of the node, its fields filled as `fillInterfaces` does. */
  driverOf(node: Node): Driver
  /** Every enabled interface, once. */
  all(): readonly DriverInterface[]
}

export type InterfaceField = `${InterfaceType}_interface`
export const interfaceField = (type: InterfaceType): InterfaceField => `${type}_interface`

/** The interface that the node uses: what its instance wants goes before what the node says. */
export function interfaceNameOf(node: Node, type: InterfaceType): string | null {
  const wanted: unknown = node.instance_info?.[interfaceField(type)]
  return typeof wanted === 'string' ? wanted : node[interfaceField(type)]
}

export function createDriverFactory(parts: DriverParts, classes: InterfaceClasses = interfaceClasses): DriverFactory {
  const { config, log } = parts
  const enabled = enabledNames(parts, classes)
  const made = makeInterfaces(parts, classes, enabled.interfaces)
  for (const face of made.values()) {
    if (!face.supported) log.warning(`The ${face.type} interface ${face.name} is unsupported and may go away.`)
  }
  const key = (type: InterfaceType, name: string) => `${type}/${name}`
  const supports = (hardwareType: HardwareType, type: InterfaceType, name: string): boolean =>
    (hardwareTypes[hardwareType][type] as readonly string[]).includes(name)

  function hardwareType(name: string | null): HardwareType {
    const found = enabled.types.find((type) => type === name)
    if (found === undefined) throw new DriverNotFound({ driver_name: name })
    return found
  }

  function interfaceOf<T extends InterfaceType>(type: string, kind: T, name: string): InterfacesByType[T] {
    const face = made.get(key(kind, name))
    if (face === undefined) {
      throw new InterfaceNotFoundInEntrypoint({
        iface: name,
        entrypoint: `ironic.hardware.interfaces.${kind}`,
        valid: enabled.interfaces[kind].join(', ') || 'none',
      })
    }
    if (!takesAnyInterface.has(type) && !supports(hardwareType(type), kind, name)) {
      throw new IncompatibleInterface({ interface_type: kind, interface_impl: name, hardware_type: type })
    }
    return face as InterfacesByType[T]
  }

  function defaultInterface(type: string, kind: InterfaceType, nodeUuid?: string | null): string {
    const missing = () =>
      new NoValidDefaultForInterface({
        interface_type: kind,
        driver: type,
        node_info: nodeUuid === undefined || nodeUuid === null ? '' : ` of node ${nodeUuid}`,
      })
    const configured = config.DEFAULT[`default_${kind}_interface`]
    if (configured !== null) {
      try {
        interfaceOf(type, kind, configured)
      } catch (error) {
        if (error instanceof IncompatibleInterface) throw missing()
        throw error
      }
      return configured
    }
    const offered: readonly string[] = hardwareTypes[hardwareType(type)][kind]
    const first = offered.find((name) => enabled.interfaces[kind].includes(name))
    if (first === undefined) throw missing()
    return first
  }

  function fillInterfaces(node: Node): boolean {
    const type = hardwareType(node.driver)
    let filled = false
    for (const kind of interfaceTypes) {
      const field = interfaceField(kind)
      const wanted: unknown = node.instance_info?.[field]
      if (typeof wanted === 'string') interfaceOf(type, kind, wanted)
      const own = node[field]
      if (own !== null && own !== undefined) interfaceOf(type, kind, own)
      else if (typeof wanted !== 'string') {
        node[field] = defaultInterface(type, kind, node.uuid)
        filled = true
      }
    }
    return filled
  }

  return {
    hardwareTypes: enabled.types,
    hardwareType,
    interfaceOf,
    defaultInterface,
    fillInterfaces,
    supportedInterfaces: (type) =>
      perType((kind) => enabled.interfaces[kind].filter((name) => supports(type, kind, name))),
    driverOf(node) {
      fillInterfaces(node)
      const driver = perType((kind) => made.get(key(kind, interfaceNameOf(node, kind) ?? ''))!)
      return driver as unknown as Driver
    },
    all: () => [...made.values()],
  }
}

const perType = <T>(make: (type: InterfaceType) => T): Record<InterfaceType, T> =>
  Object.fromEntries(interfaceTypes.map((type) => [type, make(type)])) as Record<InterfaceType, T>

interface Enabled {
  readonly types: readonly HardwareType[]
  readonly interfaces: Record<InterfaceType, readonly string[]>
}

/** Reads the enabled_* options; what the stock lists hold and this release lacks is left out with one warning. */
function enabledNames({ config, log, host }: DriverParts, classes: InterfaceClasses): Enabled {
  const leftOut: string[] = []
  const unwritten: string[] = []
  const has = (kind: InterfaceType, name: string) => Object.hasOwn(classes[kind], name)

  const asked = unique(config, 'enabled_hardware_types', log)
  const unknown = asked.filter((name) => !isHardwareType(name))
  if (unknown.length > 0) {
    throw new DriverNotFoundInEntrypoint({
      option: 'enabled_hardware_types',
      names: unknown.join(', '),
      known: Object.keys(hardwareTypes),
    })
  }
  let types = asked.filter(isHardwareType)
  if (isStock(config, 'enabled_hardware_types')) {
    const usable = types.filter((type) =>
      ['power', 'management'].every((kind) =>
        hardwareTypes[type][kind as InterfaceType].some((name) => has(kind as InterfaceType, name)),
      ),
    )
    leftOut.push(...types.filter((type) => !usable.includes(type)).map((type) => `the hardware type ${type}`))
    types = usable
  }
  if (types.length === 0) throw new NoDriversLoaded({ conductor: host })

  const interfaces = perType((kind): readonly string[] => {
    const option = `enabled_${kind}_interfaces` as const
    let names = unique(config, option, log)
    if (isStock(config, option)) {
      const there = names.filter((name) => has(kind, name))
      leftOut.push(...names.filter((name) => !there.includes(name)).map((name) => `${kind} ${name}`))
      names = there
    }
    if (names.length === 0) return firstOfEach(types, kind, has)
    for (const name of names) checkKnown(kind, name, has(kind, name) || unwrittenInterface(kind, name) !== undefined)
    unwritten.push(...names.filter((name) => !has(kind, name)).map((name) => `${kind} ${name}`))
    return names
  })
  if (unwritten.length > 0) {
    log.warning(
      `Enabled, but not part of this release: ${unwritten.join(', ')}. Nodes may name them; what would touch hardware through them is refused.`,
    )
  }
  if (leftOut.length > 0) {
    log.warning(`Enabled by the stock configuration but not part of this release, so left out: ${leftOut.join(', ')}.`)
  }
  return { types, interfaces }
}

/** An empty list means the first interface of each enabled hardware type. */
function firstOfEach(
  types: readonly HardwareType[],
  kind: InterfaceType,
  has: (kind: InterfaceType, name: string) => boolean,
): string[] {
  const first = types.map((type) => {
    const offered: readonly string[] = hardwareTypes[type][kind]
    return offered.find((name) => has(kind, name)) ?? offered[0]!
  })
  for (const name of first) checkKnown(kind, name, has(kind, name) || unwrittenInterface(kind, name) !== undefined)
  return [...new Set(first)]
}

const everyName = (kind: InterfaceType): ReadonlySet<string> =>
  new Set(Object.values(hardwareTypes).flatMap((offers): readonly string[] => offers[kind]))

function checkKnown(kind: InterfaceType, name: string, available: boolean): void {
  if (available) return
  if (!everyName(kind).has(name)) {
    throw new DriverNotFoundInEntrypoint({
      option: `enabled_${kind}_interfaces`,
      names: name,
      known: [...everyName(kind)],
    })
  }
  throw new DriverLoadError({
    driver: `${kind} interface ${name}`,
    reason: `this release does not have it yet; take it out of [DEFAULT]enabled_${kind}_interfaces`,
  })
}

type ListOption = 'enabled_hardware_types' | `enabled_${InterfaceType}_interfaces`

const isStock = (config: Config, option: ListOption): boolean =>
  JSON.stringify(config.DEFAULT[option] ?? null) ===
  JSON.stringify(optionGroups.DEFAULT.options[option].default ?? null)

function unique(config: Config, option: ListOption, log: DriverParts['log']): string[] {
  const names = (config.DEFAULT[option] ?? []).filter((name) => name !== '')
  const once = [...new Set(names)]
  if (once.length < names.length) log.warning(`[DEFAULT]${option} names something twice: ${names.join(', ')}.`)
  return once
}

function makeInterfaces(
  parts: DriverParts,
  classes: InterfaceClasses,
  names: Record<InterfaceType, readonly string[]>,
): Map<string, DriverInterface> {
  const made = new Map<string, DriverInterface>()
  for (const kind of interfaceTypes) {
    for (const name of names[kind]) {
      const Interface = classes[kind][name] ?? unwrittenInterface(kind, name)
      if (Interface === undefined) throw new IncorrectConfiguration({ error: `there is no ${kind} interface ${name}` })
      made.set(`${kind}/${name}`, new Interface(parts))
    }
  }
  return made
}
