import type { Bmc, Resource } from './bmc.ts'
import { NoSingleSystem, PropertyMissing, RedfishProblem, ResourceMissing, ValueNotAllowed } from './problems.ts'
import { ActionInfo, bootShape, ComputerSystem, Manager, SystemSettings } from './resources.ts'
import { type Data, isObject, type JsonObject, link } from './shape.ts'

export type SystemResource = Resource<typeof ComputerSystem.shape>
export type ManagerResource = Resource<typeof Manager.shape>
export type Boot = Data<typeof bootShape>

export type ResetType =
  | 'On'
  | 'ForceOn'
  | 'ForceOff'
  | 'ForceRestart'
  | 'GracefulShutdown'
  | 'GracefulRestart'
  | 'Nmi'
  | 'PushPowerButton'
  | 'PowerCycle'

export type BootTarget =
  | 'None'
  | 'Pxe'
  | 'Hdd'
  | 'Cd'
  | 'BiosSetup'
  | 'UefiHttp'
  | 'UsbCd'
  | 'Usb'
  | 'Floppy'
  | 'UefiTarget'
export type BootEnabled = 'Once' | 'Continuous' | 'Disabled'
export type BootMode = 'UEFI' | 'Legacy'

/**
 * The system of that path; without one, the only system of the BMC.
 * @throws NoSingleSystem naming the systems there are, ResourceMissing, RedfishProblem when it is no system
 */
export async function findSystem(bmc: Bmc, path: string | null): Promise<SystemResource> {
  const system = await bmc.get(ComputerSystem, path ?? (await onlySystemPath(bmc)))
  const type = system.json['@odata.type']
  if (typeof type === 'string' && !/^#ComputerSystem\b/.test(type))
    throw new RedfishProblem(
      `${system.path} is of type ${type}, not a ComputerSystem; redfish_system_id must name a system, such as one of ${(await systemPaths(bmc)).join(', ') || 'the members of the Systems collection'}`,
    )
  return system
}

async function onlySystemPath(bmc: Bmc): Promise<string> {
  const paths = await systemPaths(bmc)
  if (paths.length === 1) return paths[0]!
  throw new NoSingleSystem(
    paths.length === 0
      ? 'The BMC lists no systems; name one in redfish_system_id'
      : `The BMC has ${paths.length} systems; name one of ${paths.join(', ')} in redfish_system_id`,
  )
}

/** Paths of all systems that the service root leads to. */
export async function systemPaths(bmc: Bmc): Promise<string[]> {
  const root = await bmc.root()
  const collection = link(root['Systems'])
  if (collection === undefined) throw new PropertyMissing('Systems', bmc.client.rootPrefix)
  return bmc.memberPaths(collection)
}

/** The managers (BMCs) of a system: by its links, in either spelling; else all managers when the BMC has just one. */
export async function managersOf(system: SystemResource): Promise<ManagerResource[]> {
  const named = managerPaths(system)
  const paths = named.length > 0 ? named : await onlyManagerPath(system.bmc)
  const managers: ManagerResource[] = []
  for (const path of paths) {
    const manager = await system.bmc.find(Manager, path)
    if (manager !== null) managers.push(manager)
  }
  return managers
}

const managerPaths = (system: SystemResource): readonly string[] => {
  const { Links } = system.data
  return (
    [Links?.ManagedBy, Links?.Managers, system.data.Managers].find(
      (paths) => paths !== undefined && paths.length > 0,
    ) ?? []
  )
}

async function onlyManagerPath(bmc: Bmc): Promise<string[]> {
  const collection = link((await bmc.root())['Managers'])
  if (collection === undefined) return []
  try {
    const paths = await bmc.memberPaths(collection)
    return paths.length === 1 ? paths : []
  } catch (error) {
    if (error instanceof ResourceMissing) return []
    throw error
  }
}

/** Values that the BMC takes for `ResetType`; null when it does not say. */
export async function allowedResets(system: SystemResource): Promise<readonly string[] | null> {
  const reset = system.action('#ComputerSystem.Reset')
  const inline = reset?.allowable['ResetType']
  if (inline !== undefined && inline.length > 0) return inline
  if (reset?.actionInfo === undefined) return null
  const info = await system.bmc.find(ActionInfo, reset.actionInfo)
  return info?.data.Parameters?.find((parameter) => parameter.Name === 'ResetType')?.AllowableValues ?? null
}

/** `ComputerSystem.Reset`. @throws ActionMissing, ValueNotAllowed before anything is sent; BmcRefused */
export async function resetSystem(system: SystemResource, type: ResetType): Promise<void> {
  const allowed = await allowedResets(system)
  if (allowed !== null && !allowed.includes(type)) throw new ValueNotAllowed('ResetType', type, system.path, allowed)
  await system.act('#ComputerSystem.Reset', { ResetType: type })
}

/**
 * The boot settings of a system. Where it keeps them in a settings resource, what the system itself leaves out is read there.
 */
export async function bootOf(system: SystemResource): Promise<Boot> {
  const own = system.data.Boot
  const settingsPath = system.data['@Redfish.Settings']?.SettingsObject
  const complete =
    own?.BootSourceOverrideTarget !== undefined &&
    own.BootSourceOverrideEnabled !== undefined &&
    own.BootSourceOverrideMode !== undefined &&
    own['BootSourceOverrideTarget@Redfish.AllowableValues'] !== undefined
  const pending = complete || settingsPath === undefined ? null : await system.bmc.find(SystemSettings, settingsPath)
  const read = Object.keys(bootShape).map((name) => {
    const key = name as keyof Boot
    return [name, own?.[key] ?? pending?.data.Boot?.[key]]
  })
  return Object.fromEntries(read) as Boot
}

export interface BootChange {
  readonly target?: BootTarget
  readonly enabled?: BootEnabled | undefined
  readonly mode?: BootMode | undefined
  readonly httpBootUri?: string | null
}

/**
 * Writes boot settings, each where the BMC keeps it: the settings resource or the system. A leftover `HttpBootUri` is cleared
 * when another target is chosen.
 * @throws ValueNotAllowed before anything is sent; PropertyMissing when a URI is given that the BMC has no place for; BmcRefused
 */
export async function setBoot(system: SystemResource, change: BootChange): Promise<void> {
  const settingsPath = system.data['@Redfish.Settings']?.SettingsObject
  const settings = settingsPath === undefined ? null : await system.bmc.find(SystemSettings, settingsPath)
  const inSettings = isObject(settings?.json['Boot']) ? settings.json['Boot'] : {}
  const inSystem = isObject(system.json['Boot']) ? system.json['Boot'] : {}
  const forSettings: Record<string, unknown> = {}
  const forSystem: Record<string, unknown> = {}
  const put = (name: string, value: unknown) => {
    const place = Object.hasOwn(inSettings, name) ? forSettings : forSystem
    place[name] = value
  }
  const current = (name: string): unknown => (Object.hasOwn(inSettings, name) ? inSettings[name] : inSystem[name])
  const advertised = (name: string) => Object.hasOwn(inSettings, name) || Object.hasOwn(inSystem, name)

  if (change.target !== undefined) {
    checkTarget(system, change.target, allowedTargets(inSettings, inSystem))
    put('BootSourceOverrideTarget', change.target)
    if (change.target === 'UefiHttp' && change.httpBootUri) {
      if (!advertised('HttpBootUri')) throw new PropertyMissing('Boot/HttpBootUri', system.path)
      put('HttpBootUri', change.httpBootUri)
    } else if ((current('HttpBootUri') ?? null) !== null) put('HttpBootUri', null)
  }
  if (change.enabled !== undefined) put('BootSourceOverrideEnabled', change.enabled)
  if (change.mode !== undefined) put('BootSourceOverrideMode', change.mode)

  if (settings !== null && Object.keys(forSettings).length > 0) await settings.patch({ Boot: forSettings })
  if (Object.keys(forSystem).length > 0) await system.patch({ Boot: forSystem })
}

const targetsKey = 'BootSourceOverrideTarget@Redfish.AllowableValues'

function allowedTargets(inSettings: JsonObject, inSystem: JsonObject): readonly unknown[] | null {
  for (const boot of [inSystem, inSettings]) {
    const listed = boot[targetsKey]
    if (Array.isArray(listed) && listed.length > 0) return listed
  }
  return null
}

function checkTarget(system: SystemResource, target: string, allowed: readonly unknown[] | null): void {
  if (allowed !== null && !allowed.includes(target))
    throw new ValueNotAllowed('BootSourceOverrideTarget', target, system.path, allowed.map(String))
}
