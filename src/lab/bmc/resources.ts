import type { Machine } from '../machine.ts'
import { collection } from './message.ts'
import type { BmcProfile } from './profile.ts'
import {
  chassisParts,
  managerBody,
  registryBody,
  registryFileBody,
  rootBody,
  taskBody,
  updateServiceBody,
} from './service.ts'
import type { BmcTask } from './service.ts'
import {
  biosBody,
  biosSettingsBody,
  chassisPath,
  fixedSystemParts,
  managerPath,
  mediaBody,
  mediaPath,
  registryName,
  secureBootBody,
  systemBody,
  systemPath,
} from './system.ts'

/** What resources are made from. */
export interface ResourceParts {
  readonly machines: readonly Machine[]
  readonly profile: BmcProfile
  readonly uuid: string
  readonly firmware: string
  readonly sessions: readonly string[]
  readonly tasks: ReadonlyMap<string, BmcTask>
}

/** A resource as it is now, and the machine it belongs to (for its ETag). */
export interface Resource {
  readonly body: Record<string, unknown>
  readonly machine?: Machine
}

const root = '/redfish/v1'

/** The resource at a path without query and trailing slash; undefined when there is none. */
export function resourceAt(parts: ResourceParts, path: string): Resource | undefined {
  const [family = '', id = '', ...rest] = path.slice(root.length + 1).split('/')
  const below = rest.join('/')
  switch (path === root ? '' : family) {
    case '':
      return { body: rootBody(parts.profile, parts.uuid) }
    case 'Systems': {
      if (id === '') return { body: collection(path, 'ComputerSystem', parts.machines.map(systemPath)) }
      const machine = parts.machines.find((candidate) => candidate.identity.name === id)
      return machine === undefined ? undefined : systemResource(machine, parts.profile, below)
    }
    case 'Chassis': {
      if (id === '') return { body: collection(path, 'Chassis', parts.machines.map(chassisPath)) }
      const machine = parts.machines.find((candidate) => candidate.identity.name === id)
      const body = machine === undefined ? undefined : chassisParts(machine, parts.profile)[below]
      return body === undefined ? undefined : { body }
    }
    case 'Managers':
      return managerResource(parts, path, id, below)
    case 'Registries':
      if (id === '') return { body: collection(path, 'MessageRegistryFile', [`${root}/Registries/${registryName}`]) }
      if (id !== registryName) return undefined
      if (below === '') return { body: registryFileBody }
      return below === 'registry.json' ? { body: registryBody } : undefined
    case 'SessionService':
      return parts.profile.sessions ? sessionResource(parts, path, id, below) : undefined
    case 'UpdateService':
      if (!parts.profile.update) return undefined
      if (id === '') return { body: updateServiceBody }
      return id === 'FirmwareInventory' && below === ''
        ? { body: collection(path, 'SoftwareInventory', []) }
        : undefined
    case 'TaskService':
      return taskResource(parts, path, id, below)
    default:
      return undefined
  }
}

function systemResource(machine: Machine, profile: BmcProfile, below: string): Resource | undefined {
  if (below === '') return { body: systemBody(machine, profile), machine }
  if (below === 'Bios' && profile.bios) return { body: biosBody(machine), machine }
  if (below === 'Bios/Settings' && profile.bios) return { body: biosSettingsBody(machine), machine }
  if (below === 'SecureBoot' && profile.secureBoot) return { body: secureBootBody(machine), machine }
  if (profile.mediaUnder === 'system') {
    const media = mediaResource(machine, mediaPath(machine, profile), `${systemPath(machine)}/${below}`)
    if (media !== undefined) return media
  }
  if (!profile.storage && /^(Simple)?Storage/.test(below)) return undefined
  const body = fixedSystemParts(machine).get(below)
  return body === undefined ? undefined : { body }
}

function mediaResource(machine: Machine, base: string, path: string): Resource | undefined {
  if (path === base)
    return {
      body: collection(
        base,
        'VirtualMedia',
        machine.media.map((slot) => `${base}/${slot.id}`),
      ),
    }
  const slot = machine.media.find((candidate) => `${base}/${candidate.id}` === path)
  return slot === undefined ? undefined : { body: mediaBody(slot, base), machine }
}

function managerResource(parts: ResourceParts, path: string, id: string, below: string): Resource | undefined {
  if (id === '') return { body: collection(path, 'Manager', [managerPath]) }
  if (id !== 'bmc') return undefined
  const { machines, profile, uuid, firmware } = parts
  if (below === '') return { body: managerBody(machines, profile, { uuid, firmware, now: new Date() }) }
  if (below === 'EthernetInterfaces') return { body: collection(path, 'EthernetInterface', []) }
  const machine = machines[0] // media under a Manager belong to its one machine
  if (machine === undefined || profile.mediaUnder !== 'manager') return undefined
  return mediaResource(machine, mediaPath(machine, profile), path)
}

function sessionResource(parts: ResourceParts, path: string, id: string, below: string): Resource | undefined {
  const sessions = `${root}/SessionService/Sessions`
  if (id === '') {
    const links = { Sessions: { '@odata.id': sessions } }
    const type = '#SessionService.v1_1_6.SessionService'
    const shape = { '@odata.type': type, Id: 'SessionService', Name: 'Session Service', ServiceEnabled: true }
    return {
      body: { '@odata.id': path, ...shape, SessionTimeout: Math.round(parts.profile.sessionIdle / 1000), ...links },
    }
  }
  if (id !== 'Sessions') return undefined
  if (below === '')
    return {
      body: collection(
        path,
        'Session',
        parts.sessions.map((session) => `${sessions}/${session}`),
      ),
    }
  if (!parts.sessions.includes(below)) return undefined
  return { body: { '@odata.id': path, '@odata.type': '#Session.v1_2_1.Session', Id: below, Name: 'Session' } }
}

function taskResource(parts: ResourceParts, path: string, id: string, below: string): Resource | undefined {
  if (id === '') {
    const tasks = { Tasks: { '@odata.id': `${path}/Tasks` } }
    return {
      body: {
        '@odata.id': path,
        '@odata.type': '#TaskService.v1_1_4.TaskService',
        Id: 'TaskService',
        Name: 'Tasks',
        ...tasks,
      },
    }
  }
  if (id !== 'Tasks' && id !== 'TaskMonitors') return undefined
  if (below === '')
    return {
      body: collection(
        path,
        'Task',
        [...parts.tasks.keys()].map((task) => `${path}/${task}`),
      ),
    }
  const task = parts.tasks.get(below)
  return task === undefined ? undefined : { body: taskBody(task) }
}
