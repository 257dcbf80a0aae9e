import type { RedfishClient } from './client.ts'
import { ActionMissing, PropertyMissing, RedfishProblem, ResourceMissing } from './problems.ts'
import {
  type Action,
  type Data,
  isObject,
  type JsonObject,
  link,
  type ResourceKind,
  type Shape,
  view,
} from './shape.ts'
import type { Answer } from './transport.ts'

/** A collection of more pages than this is not a collection but a loop. */
const maxPages = 512
const maxMembers = 20_000

/** A BMC as one caller talks to it: the shared client, and the signal that ends this caller's work. */
export class Bmc {
  readonly client: RedfishClient
  readonly signal: AbortSignal | undefined

  constructor(client: RedfishClient, signal?: AbortSignal) {
    this.client = client
    this.signal = signal
  }

  root(): Promise<JsonObject> {
    return this.client.root(this.signal)
  }

  async get<S extends Shape>(kind: ResourceKind<S>, path: string): Promise<Resource<S>> {
    const answer = await this.client.call('GET', path, { signal: this.signal })
    return this.read(kind, path, answer)
  }

  /** The same, or null when the BMC has no such resource. */
  async find<S extends Shape>(kind: ResourceKind<S>, path: string | undefined): Promise<Resource<S> | null> {
    if (path === undefined) return null
    try {
      return await this.get(kind, path)
    } catch (error) {
      if (error instanceof ResourceMissing) return null
      throw error
    }
  }

  read<S extends Shape>(kind: ResourceKind<S>, path: string, answer: Answer): Resource<S> {
    if (!isObject(answer.body)) throw new PropertyMissing('body', path)
    return new Resource(this, kind, path, answer.body, answer.headers)
  }

  /** Paths of the members of a collection, over all its pages (`Members@odata.nextLink`). */
  async memberPaths(path: string): Promise<string[]> {
    return (await this.pages(path)).map((member) => member.path)
  }

  /** The members, one GET each; those that the answer holds in full already (`$expand`) are taken from it. */
  async members<S extends Shape>(kind: ResourceKind<S>, path: string): Promise<Resource<S>[]> {
    const found: Resource<S>[] = []
    for (const member of await this.pages(path)) {
      const whole = Object.keys(member.json).some((name) => !name.startsWith('@'))
      const resource = whole
        ? new Resource(this, kind, member.path, member.json, {})
        : await this.find(kind, member.path)
      if (resource !== null) found.push(resource)
    }
    return found
  }

  /** The members; none when there is no such collection. */
  async membersIfAny<S extends Shape>(kind: ResourceKind<S>, path: string | undefined): Promise<Resource<S>[]> {
    if (path === undefined) return []
    try {
      return await this.members(kind, path)
    } catch (error) {
      if (error instanceof ResourceMissing) return []
      throw error
    }
  }

  private async pages(path: string): Promise<{ path: string; json: JsonObject }[]> {
    const seen = new Set<string>()
    const found: { path: string; json: JsonObject }[] = []
    for (let next: string | undefined = path; next !== undefined;) {
      if (seen.has(next) || seen.size >= maxPages)
        throw new RedfishProblem(
          `The collection ${path} does not end: its next page ${next} was read already, or is one too many`,
        )
      seen.add(next)
      const { body } = await this.client.call('GET', next, { signal: this.signal })
      if (!isObject(body)) throw new PropertyMissing('Members', next)
      const members = Array.isArray(body['Members']) ? body['Members'] : []
      for (const member of members) {
        const memberPath = link(member)
        if (memberPath !== undefined && isObject(member)) found.push({ path: trimmed(memberPath), json: member })
      }
      if (found.length > maxMembers)
        throw new RedfishProblem(`The collection ${path} has more than ${maxMembers} members`)
      const more: unknown = body['Members@odata.nextLink'] ?? body['@odata.nextLink']
      next = typeof more === 'string' ? more : undefined
    }
    return found
  }
}

const trimmed = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, '') : path)

/** A resource as it was read: unchangeable; `refresh` gives a newer one. */
export class Resource<S extends Shape> {
  readonly bmc: Bmc
  readonly kind: ResourceKind<S>
  readonly path: string
  /** what we know how to read */
  readonly data: Data<S>
  /** all that the BMC said */
  readonly json: JsonObject
  readonly headers: Readonly<Record<string, string>>

  constructor(
    bmc: Bmc,
    kind: ResourceKind<S>,
    path: string,
    json: JsonObject,
    headers: Readonly<Record<string, string>>,
  ) {
    this.bmc = bmc
    this.kind = kind
    this.path = path
    this.json = json
    this.headers = headers
    this.data = view(kind.shape, json)
  }

  /** The tag for `If-Match`: the header, else the property. */
  get tag(): string | undefined {
    const own = this.json['@odata.etag']
    return this.headers['etag'] ?? (typeof own === 'string' ? own : undefined)
  }

  /** Its `Id`, else the last part of its path. */
  get id(): string {
    const id = this.json['Id']
    return typeof id === 'string' ? id : (this.path.split('/').findLast((part) => part !== '') ?? this.path)
  }

  refresh(): Promise<Resource<S>> {
    return this.bmc.get(this.kind, this.path)
  }

  /** The property. @throws PropertyMissing */
  need<K extends keyof S & string>(name: K): NonNullable<Data<S>[K]> {
    const value = this.data[name]
    if (value === undefined || value === null) throw new PropertyMissing(name, this.path)
    return value
  }

  /** Changes properties, with the tag that this resource was read with. */
  patch(body: JsonObject): Promise<Answer> {
    return this.bmc.client.patch(this.path, body, {
      tag: this.tag,
      currentTag: async () => (await this.refresh()).tag,
      signal: this.bmc.signal,
    })
  }

  /** The action of that name (`#ComputerSystem.Reset`), or undefined. */
  action(name: string): Action | undefined {
    const actions = this.data['Actions'] as Readonly<Record<string, Action | undefined>> | undefined
    return actions?.[name]
  }

  /** Posts an action. Most carry a body; without one nothing is sent. @throws ActionMissing */
  act(name: string, body?: JsonObject, { repeatable = true }: { repeatable?: boolean } = {}): Promise<Answer> {
    const action = this.action(name)
    if (action === undefined) throw new ActionMissing(name, this.path)
    return this.bmc.client.call('POST', action.target, { body, signal: this.bmc.signal, repeatable })
  }
}
