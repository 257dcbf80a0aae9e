import { InvalidParameterValue } from '../../errors/base.ts'
import { RedfishError } from '../../errors/driver.ts'
import type { Bmc, Resource } from '../../lib/redfish/bmc.ts'
import { PropertyMissing } from '../../lib/redfish/problems.ts'
import { EventDestination, EventService } from '../../lib/redfish/resources.ts'
import { isObject, type JsonObject, link } from '../../lib/redfish/shape.ts'
import type { MediaType } from '../../lib/redfish/virtual-media.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { VendorInterface, type VendorMethod } from '../interfaces/driver.ts'
import type { DriverParts, Task } from '../task.ts'
import { Bmcs } from './bmcs.ts'
import { ejectFrom } from './media.ts'

/** What is shown of a subscription; the rest may hold secrets. */
const shown = ['Id', 'Context', 'Protocol', 'Destination', 'EventTypes'] as const
/** Event types of a BMC that does not list its own (schema EventService). */
const usualEventTypes = [
  'StatusChange',
  'ResourceUpdated',
  'ResourceAdded',
  'ResourceRemoved',
  'Alert',
  'MetricReport',
  'Other',
]
const ejectable: Readonly<Record<string, MediaType>> = { cd: 'CD', dvd: 'DVD', usb: 'USBStick', floppy: 'Floppy' }

type Check = (task: Task, info: JsonDict) => Promise<void> | void

/** Event subscriptions of a BMC, and an eject that is older than the API's own. */
export class RedfishVendorPassthru extends VendorInterface {
  readonly name: string = 'redfish'
  private readonly bmcs: Bmcs

  constructor(parts: DriverParts) {
    super(parts)
    this.bmcs = parts.shared.of(Bmcs, parts)
  }

  validate(): Promise<void> {
    return Promise.resolve()
  }

  methods(): Readonly<Record<string, VendorMethod>> {
    const waits = { async: false, requireExclusiveLock: true }
    return {
      eject_vmedia: {
        httpMethods: ['POST'],
        async: true,
        requireExclusiveLock: true,
        description:
          'Ejects virtual media: all of them, or one kind by "boot_device", which is "cd", "dvd", "usb" or "floppy".',
        run: (task, info) => this.eject(task, info),
      },
      create_subscription: {
        ...waits,
        httpMethods: ['POST'],
        description:
          'Subscribes to events of the BMC. "Destination", a URL, is required; "EventTypes", "Context", "Protocol" and "HttpHeaders" may be given.',
        run: (task, info) => this.create(task, info),
      },
      delete_subscription: {
        ...waits,
        httpMethods: ['DELETE'],
        description: 'Ends a subscription. "id", as the BMC names it, is required.',
        run: (task, info) => this.remove(task, info),
      },
      get_all_subscriptions: {
        ...waits,
        httpMethods: ['GET'],
        description: 'Lists the subscriptions of the BMC.',
        run: (task) => this.withService(task, 'list the subscriptions', async (path, bmc) => this.read(bmc, path)),
      },
      get_subscription: {
        ...waits,
        httpMethods: ['GET'],
        description: 'Shows a subscription. "id", as the BMC names it, is required.',
        run: (task, info) => this.show(task, info),
      },
    }
  }

  private readonly checks: Readonly<Record<string, Check>> = {
    eject_vmedia: (_task, info) => {
      mediaOf(info)
    },
    create_subscription: (task, info) => this.checkSubscription(task, info),
    delete_subscription: (_task, info) => {
      subscriptionId(info)
    },
    get_subscription: (_task, info) => {
      subscriptionId(info)
    },
  }

  override async validateMethod(task: Task, method: string, _httpMethod: string, info: JsonDict): Promise<void> {
    await this.checks[method]?.(task, info)
  }

  private async eject(task: Task, info: JsonDict): Promise<void> {
    const media = mediaOf(info)
    await this.bmcs.withSystem(task, 'eject virtual media', (system) => ejectFrom(task, system, media))
  }

  private async create(task: Task, info: JsonDict): Promise<JsonDict> {
    const headers: unknown = info['HttpHeaders']
    const body = {
      Destination: info['Destination'] as unknown,
      Protocol: (info['Protocol'] as unknown) ?? 'Redfish',
      Context: (info['Context'] as unknown) ?? '',
      EventTypes: (info['EventTypes'] as unknown) ?? ['Alert'],
      ...(Array.isArray(headers) && headers.length > 0 && { HttpHeaders: headers }),
    }
    return this.withService(task, `subscribe ${String(info['Destination'])} to events`, async (path, bmc) => {
      const answer = await bmc.client.call('POST', path, { body, signal: bmc.signal, repeatable: false })
      const made = answer.headers['location'] ?? link(answer.body)
      if (made !== undefined) return picked((await bmc.get(EventDestination, made)).json)
      if (isObject(answer.body)) return picked(answer.body)
      throw new PropertyMissing('Location', path)
    })
  }

  private async show(task: Task, info: JsonDict): Promise<JsonDict> {
    const id = subscriptionId(info)
    return this.withService(task, `show subscription ${id}`, async (path, bmc) =>
      picked((await bmc.get(EventDestination, below(path, id))).json),
    )
  }

  private async remove(task: Task, info: JsonDict): Promise<void> {
    const id = subscriptionId(info)
    try {
      await this.withService(task, `delete subscription ${id}`, async (path, bmc) => {
        await bmc.client.call('DELETE', below(path, id), { signal: bmc.signal })
      })
    } catch (cause) {
      if (!(cause instanceof RedfishError)) throw cause
      throw new RedfishError(cause.message, { cause, code: 404 })
    }
  }

  private async read(bmc: Bmc, path: string): Promise<JsonObject> {
    const { body } = await bmc.client.call('GET', path, { signal: bmc.signal })
    if (!isObject(body)) throw new PropertyMissing('Members', path)
    return body
  }

  private async checkSubscription(task: Task, info: JsonDict): Promise<void> {
    const wrong = (name: string, wanted: string) =>
      new InvalidParameterValue(`${name} of the subscription must be ${wanted}, not ${JSON.stringify(info[name])}.`)
    for (const name of ['Context', 'Protocol'])
      if (info[name] !== undefined && typeof info[name] !== 'string') throw wrong(name, 'a text')
    if (info['HttpHeaders'] !== undefined && info['HttpHeaders'] !== null && !Array.isArray(info['HttpHeaders']))
      throw new InvalidParameterValue('HttpHeaders of the subscription must be a list.')
    const destination: unknown = info['Destination']
    if (typeof destination !== 'string' || !isUrl(destination)) throw wrong('Destination', 'a URL with scheme and host')
    const types: unknown = info['EventTypes']
    if (types === undefined || types === null) return
    const allowed = await this.telling(
      task,
      async (service) => service.data.EventTypesForSubscription ?? usualEventTypes,
    )
    if (!Array.isArray(types) || !types.every((type) => allowed.includes(type as string)))
      throw wrong('EventTypes', `a list of ${allowed.join(', ')}`)
  }

  /** Work on the collection of subscriptions. */
  private async withService<T>(task: Task, doing: string, work: (path: string, bmc: Bmc) => Promise<T>): Promise<T> {
    return this.telling(task, (service) => work(service.need('Subscriptions'), service.bmc), doing)
  }

  private telling<T>(
    task: Task,
    work: (service: Resource<typeof EventService.shape>) => Promise<T>,
    doing = 'read the event service',
  ): Promise<T> {
    return this.bmcs.telling(task, doing, async () => {
      const service = await this.bmcs.connected(task, async (bmc) => {
        const path = link((await bmc.root())['EventService'])
        if (path === undefined) throw new PropertyMissing('EventService', bmc.client.rootPrefix)
        return bmc.get(EventService, path)
      })
      return work(service)
    })
  }
}

const picked = (json: JsonObject): JsonDict =>
  Object.fromEntries(shown.filter((name) => Object.hasOwn(json, name)).map((name) => [name, json[name]]))

function isUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && url.hostname !== '' && /^[\x21-\x7e]+$/.test(text) && /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
}

/** The id as one segment of a path: whatever is in it, it leads nowhere else. */
function subscriptionId(info: JsonDict): string {
  const id: unknown = info['id']
  if (
    typeof id !== 'string' ||
    id === '' ||
    id === '.' ||
    id === '..' ||
    !/^[\x21-\x7e]+$/.test(id) ||
    /[/\\?#%]/.test(id)
  )
    throw new InvalidParameterValue(
      `id of the subscription must be the Id that the BMC gave it, not ${JSON.stringify(id)}.`,
    )
  return id
}

const below = (path: string, id: string): string => `${path.replace(/\/+$/, '')}/${encodeURIComponent(id)}`

function mediaOf(info: JsonDict): MediaType | null {
  const wanted: unknown = info['boot_device']
  if (!wanted) return null
  const media = typeof wanted === 'string' ? ejectable[wanted.toLowerCase()] : undefined
  if (media === undefined)
    throw new InvalidParameterValue(
      `boot_device must be one of ${Object.keys(ejectable).join(', ')}, not ${JSON.stringify(wanted)}.`,
    )
  return media
}
