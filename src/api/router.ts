/**
 * Finds the route of a request. Where no route fits, the refusal is the one that clients of real Ironic get: 404 for a path
 * that does not exist, 405 with the methods of the resource, 400 for too many or too few segments.
 */
import { BadRequest, NotAcceptable, NotFound } from '../errors/base.ts'
import { IronicError } from '../errors/define.ts'
import { isLogicalName } from '../lib/text/names.ts'
import { isUuidLike } from '../lib/text/uuid.ts'
import { RoutingFault } from './faults.ts'
import { isOpen, type Route } from './resource.ts'

interface Spot {
  readonly parent: Spot | undefined
  readonly segment: string
  readonly literals: Map<string, Spot>
  parameter: Spot | undefined
  readonly routes: Map<string, Route>
}

const newSpot = (parent: Spot | undefined, segment: string): Spot => ({
  parent,
  segment,
  literals: new Map(),
  parameter: undefined,
  routes: new Map(),
})

/** Words in place of an identifier: the name of a sub-resource there is no identifier. */
export interface ReservedWords {
  /** the parameter, with its path: `/v1/nodes/:node` */
  readonly parameter: string
  /** answered as a path that does not exist */
  readonly missing: ReadonlySet<string>
  /** answered as a path that lacks its identifier */
  readonly incomplete: ReadonlySet<string>
}

export interface Match {
  readonly route: Route
  readonly params: Record<string, string>
}

export class Router {
  readonly #root = newSpot(undefined, '')
  readonly #reserved = new Map<Spot, ReservedWords>()

  constructor(routes: readonly Route[], reserved: readonly ReservedWords[] = []) {
    for (const route of routes) {
      const spot = this.#spotAt(route.path)
      if (spot.routes.has(route.method)) throw new Error(`two routes for ${route.method} ${route.path}`)
      spot.routes.set(route.method, route)
    }
    for (const words of reserved) this.#reserved.set(this.#spotAt(words.parameter), words)
  }

  #spotAt(path: string): Spot {
    let spot = this.#root
    for (const segment of path.replace(/^\/v1\//, '').split('/')) {
      if (segment.startsWith(':')) spot = spot.parameter ??= newSpot(spot, segment)
      else {
        let next = spot.literals.get(segment)
        if (next === undefined) spot.literals.set(segment, (next = newSpot(spot, segment)))
        spot = next
      }
    }
    return spot
  }

  /**
   * @param segments decoded, without the version
   * @throws RoutingFault or a declared error when no route takes the request
   */
  find(method: string, segments: readonly string[], minor: number): Match {
    return (
      this.#match(method, segments, minor) ??
      this.#match(method, this.#identifierFirst(segments), minor) ??
      this.#refuse(method, segments, minor)
    )
  }

  #match(method: string, segments: readonly string[], minor: number): Match | undefined {
    const params: Record<string, string> = {}
    const route = this.#search(this.#root, method, segments, 0, minor, params)
    return route && { route, params }
  }

  /**
   * Real Ironic takes the identifier also behind the names of sub-resources, and there are clients that send it so:
   * `nodes/states/console/<node>`.
   * @returns the path as it is declared; empty when it is none of that kind
   */
  #identifierFirst(segments: readonly string[]): readonly string[] {
    const [resource = '', ...names] = segments
    const ident = names.pop() ?? ''
    const member = this.#root.literals.get(resource)?.parameter
    if (member === undefined || !this.#reserved.get(member)?.incomplete.has(names[0] ?? '')) return []
    let spot: Spot | undefined = member
    for (const name of names) spot = spot?.literals.get(name)
    return spot === undefined || spot.literals.has(ident) ? [] : [resource, ident, ...names]
  }

  #search(
    spot: Spot,
    method: string,
    segments: readonly string[],
    index: number,
    minor: number,
    params: Record<string, string>,
  ): Route | undefined {
    if (index === segments.length) {
      const route = spot.routes.get(method)
      return route !== undefined && opened(route, minor) ? route : undefined
    }
    const segment = segments[index]!
    const literal = spot.literals.get(segment)
    if (literal !== undefined) {
      const found = this.#search(literal, method, segments, index + 1, minor, params)
      if (found !== undefined) return found
    }
    const { parameter } = spot
    if (parameter === undefined) return undefined
    const found = this.#search(parameter, method, segments, index + 1, minor, params)
    if (found === undefined) return undefined
    this.#checkIdentifier(parameter, segment, segments[index + 1])
    params[parameter.segment.slice(1)] = segment
    return found
  }

  #checkIdentifier(spot: Spot, segment: string, below: string | undefined): void {
    const reserved = this.#reserved.get(spot)
    if (reserved === undefined) return
    if (reserved.missing.has(segment)) throw new RoutingFault(404)
    if (segment === '' || reserved.incomplete.has(segment)) {
      throw new BadRequest(`The path lacks an identifier in place of "${segment}".`)
    }
    const shown = segment.slice(0, 64)
    if (!isLogicalName(segment) && !isUuidLike(segment)) {
      const sentence = `Expected UUID or name for node: ${shown}`
      throw below !== undefined && reserved.incomplete.has(below)
        ? new BadRequest(sentence)
        : new RoutingFault(400, sentence)
    }
  }

  #refuse(method: string, segments: readonly string[], minor: number): Match {
    const params: Record<string, string> = {}
    let spot = this.#root
    let depth = 0
    for (const [index, segment] of segments.entries()) {
      let next = spot.literals.get(segment)
      const isPassedBy =
        next !== undefined && isAction(next) && index < segments.length - 1 && spot.parameter !== undefined
      if (isPassedBy || (next !== undefined && isAbsent(next, minor))) next = undefined
      if (next === undefined) {
        next = spot.parameter
        if (next === undefined) break
        this.#checkIdentifier(next, segment, segments[index + 1])
        params[next.segment.slice(1)] = segment
      }
      spot = next
      depth += 1
      if (isHidden(spot, minor)) throw new RoutingFault(404)
    }
    if (depth === 0) throw new RoutingFault(404)
    const closed = spot.routes.get(method)
    if (depth === segments.length && closed !== undefined) throw outside(closed)
    return refusal(method, spot, segments.slice(depth), params, minor)
  }
}

const opened = (route: Route, minor: number): boolean => isOpen(route, minor) || route.also.includes(minor)

/** A sub-resource that older versions take for something else. */
const isAbsent = (spot: Spot, minor: number): boolean => {
  const routes = [...spot.routes.values()]
  return routes.length > 0 && routes.every((route) => route.outside === 'absent' && !opened(route, minor))
}

/** A resource that the version does not know at all, nor anything below it. */
const isHidden = (spot: Spot, minor: number): boolean => {
  const routes = [...spot.routes.values()]
  const hidden = routes.some((route) => route.outside === 'routing 404')
  return hidden && routes.every((route) => !opened(route, minor) && route.outside !== 'routing 405')
}

function outside({ outside: answer, since }: Route): Error {
  const sentence = `This needs API version 1.${since} or newer.`
  switch (answer) {
    case 'routing 404':
      return new RoutingFault(404, sentence)
    case 'routing 405':
      return new RoutingFault(405, sentence)
    case 406:
      return new NotAcceptable(sentence)
    case 404:
    case 'absent':
      return new NotFound(sentence)
    default:
      return new IronicError(sentence, { code: answer })
  }
}

/** A path whose routes are all actions of the resource above it, as `states/power` is. */
const isAction = (spot: Spot): boolean =>
  spot.routes.size > 0 && [...spot.routes.values()].every((route) => route.action)

/** The collection and its members are one resource: their methods are what it allows. */
function baseOf(spot: Spot): Spot {
  let base = spot
  while (base.parent !== undefined && (base.segment.startsWith(':') || isAction(base))) base = base.parent
  return base
}

/** Methods that the resource takes, its actions left out. */
const methodsOf = (base: Spot): Route['method'][] => {
  const routes = [...base.routes.values(), ...(base.parameter?.routes.values() ?? [])]
  return [...new Set(routes.filter((route) => !route.action).map((route) => route.method))].sort()
}

const notAllowed = (base: Spot, methods: readonly string[]): RoutingFault => {
  // real Ironic loses the list on its way out of `management`
  const listed = insideOf(base, 'management') ? '' : methods.join(', ')
  return new RoutingFault(405, '', { allow: listed })
}

function refusal(
  method: string,
  spot: Spot,
  rest: readonly string[],
  params: Record<string, string>,
  minor: number,
): Match {
  const base = baseOf(spot)
  const member = base.parameter
  const methods = methodsOf(base)
  const single = member?.routes.get(method)
  if (!methods.includes(method as Route['method']) || (method === 'GET' && single === undefined)) {
    throw notAllowed(base, methods)
  }
  if (rest.length === 0) {
    throw new BadRequest(`${method} takes ${single === undefined ? 'no' : 'an'} identifier in this path.`)
  }
  if (rest.length === 1 && rest[0] === 'detail' && base.literals.has('detail') && base.segment !== 'nodes') {
    throw new NotFound('A single thing has no detail path.')
  }
  if (
    single !== undefined &&
    method === 'GET' &&
    spot === member &&
    rest.length === 1 &&
    'fields' in single.args &&
    opened(single, minor)
  ) {
    return { route: single, params: { ...params, [extraField]: rest[0]! } }
  }
  const nearest = spot.routes.get(method) ?? single
  if (nearest?.extra === 404) throw new NotFound('There is nothing under that path.')
  throw new BadRequest(`There are segments too many in this path: ${rest.join('/').slice(0, 128)}`)
}

/** The segment after a member's identifier: real Ironic takes it for the `fields` parameter. */
export const extraField = '*fields'

function insideOf(spot: Spot, segment: string): boolean {
  for (let place: Spot | undefined = spot; place !== undefined; place = place.parent) {
    if (place.segment === segment) return true
  }
  return false
}
