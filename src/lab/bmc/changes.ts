import type { Machine, MediaSlot, ResetType } from '../machine.ts'
import { redfishError } from './message.ts'
import type { BmcAnswer } from './message.ts'
import type { BmcProfile } from './profile.ts'
import { biosDefaults } from './service.ts'
import { bootTargets, mediaPath, systemPath } from './system.ts'

/** Body of a request that must be an object. */
export type Body = Readonly<Record<string, unknown>>

const done: BmcAnswer = { status: 204 }
const isObject = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value)

const bad = (name: string, value: unknown) =>
  redfishError(
    400,
    'PropertyValueNotInList',
    `The value ${JSON.stringify(value)} for the property ${name} is not in the list of acceptable values.`,
  )
const unknownProperty = (name: string) =>
  redfishError(400, 'PropertyUnknown', `The property ${name} is not in the list of valid properties for the resource.`)

/** PATCH of a System: boot override and identification light. */
export function patchSystem(machine: Machine, profile: BmcProfile, body: Body): BmcAnswer {
  const { Boot: boot, IndicatorLED: indicator, LocationIndicatorActive: location, ...others } = body
  const other = Object.keys(others).find((name) => !name.includes('@') && name !== 'AssetTag')
  if (other !== undefined) return unknownProperty(other)
  if (boot !== undefined) {
    if (!isObject(boot)) return bad('Boot', boot)
    const refused = patchBoot(machine, profile, boot)
    if (refused !== null) return refused
  }
  if (indicator !== undefined) {
    if (indicator !== 'Off' && indicator !== 'Lit' && indicator !== 'Blinking') return bad('IndicatorLED', indicator)
    machine.indicator = indicator
  }
  if (location !== undefined) {
    if (typeof location !== 'boolean') return bad('LocationIndicatorActive', location)
    machine.indicator = location ? 'Lit' : 'Off'
  }
  machine.touch()
  return done
}

/** null when it was done */
function patchBoot(machine: Machine, profile: BmcProfile, boot: Body): BmcAnswer | null {
  const enabled = boot['BootSourceOverrideEnabled'] ?? machine.boot.enabled
  const target = boot['BootSourceOverrideTarget'] ?? machine.boot.target
  const mode = boot['BootSourceOverrideMode'] ?? machine.boot.mode
  const uri = boot['HttpBootUri'] === undefined ? machine.boot.uri : boot['HttpBootUri']
  if (enabled !== 'Disabled' && enabled !== 'Once' && enabled !== 'Continuous')
    return bad('BootSourceOverrideEnabled', enabled)
  if (!profile.overrides.includes(enabled)) return bad('BootSourceOverrideEnabled', enabled)
  const known = bootTargets.find((name) => name === target)
  if (known === undefined) return bad('BootSourceOverrideTarget', target)
  if (mode !== 'UEFI' && mode !== 'Legacy') return bad('BootSourceOverrideMode', mode)
  if (uri !== null && typeof uri !== 'string') return bad('HttpBootUri', uri)
  Object.assign(machine.boot, { enabled, target: enabled === 'Disabled' ? 'None' : known, mode, uri })
  return null
}

/** The Reset action of a System. */
export function resetSystem(machine: Machine, profile: BmcProfile, body: Body): BmcAnswer {
  const type = profile.resets.find((name) => name === body['ResetType'])
  if (type === undefined) return bad('ResetType', body['ResetType'])
  if (profile.refusesCurrentState && alreadyThere(machine, type)) {
    return redfishError(409, 'NoOperation', `The system is already in the state that ${type} asks for.`)
  }
  machine.reset(type)
  return done
}

function alreadyThere(machine: Machine, type: ResetType): boolean {
  const on = machine.power === 'On' || machine.power === 'PoweringOn'
  return type === 'On' || type === 'ForceOn' ? on : type === 'ForceOff' || type === 'GracefulShutdown' ? !on : false
}

/** PATCH of the settings that the firmware takes at the next boot. */
export function patchBiosSettings(machine: Machine, body: Body): BmcAnswer {
  const attributes = body['Attributes']
  if (!isObject(attributes)) return unknownProperty('Attributes')
  for (const [name, value] of Object.entries(attributes)) {
    if (!machine.bios.has(name)) return unknownProperty(name)
    machine.pendingBios.set(name, value)
  }
  machine.touch()
  return { status: 200, body: {} }
}

export function resetBios(machine: Machine): BmcAnswer {
  for (const [name, value] of Object.entries(biosDefaults)) machine.pendingBios.set(name, value)
  machine.touch()
  return done
}

export function patchSecureBoot(machine: Machine, body: Body): BmcAnswer {
  const enable = body['SecureBootEnable']
  if (typeof enable !== 'boolean') return bad('SecureBootEnable', enable)
  machine.secureBoot.enabled = enable
  machine.touch()
  return done
}

/** The drive that an action's path names. */
export function mediaSlot(
  machines: readonly Machine[],
  profile: BmcProfile,
  path: string,
): [Machine, MediaSlot] | undefined {
  for (const machine of machines) {
    const slot = machine.media.find((candidate) =>
      path.startsWith(`${mediaPath(machine, profile)}/${candidate.id}/Actions/`),
    )
    if (slot !== undefined) return [machine, slot]
  }
  return undefined
}

export function insertMedium(machine: Machine, slot: MediaSlot, body: Body): BmcAnswer {
  const image = body['Image']
  if (typeof image !== 'string' || image === '') {
    return redfishError(
      400,
      'ActionParameterMissing',
      'The action InsertMedia requires that the parameter Image be present.',
    )
  }
  if (!/^https?:\/\/[^/]+\/./.test(image)) return bad('Image', image)
  if (slot.image !== null) {
    return redfishError(409, 'ResourceInUse', `The drive ${slot.id} holds a medium already; eject it first.`)
  }
  slot.image = image
  machine.say(`medium in ${slot.id}: ${image}`)
  machine.touch()
  return done
}

export function ejectMedium(machine: Machine, slot: MediaSlot): BmcAnswer {
  if (slot.image === null) return redfishError(400, 'ActionNotSupported', `The drive ${slot.id} holds no medium.`)
  slot.image = null
  machine.say(`medium out of ${slot.id}`)
  machine.touch()
  return done
}

/** The machine whose System a path is at or below. */
export function machineAt(machines: readonly Machine[], path: string): Machine | undefined {
  return machines.find((machine) => path === systemPath(machine) || path.startsWith(`${systemPath(machine)}/`))
}
