import { MalformedRequestURI } from '../errors/general.ts'
import { Anything } from './values.ts'
import { route, type Route } from './resource.ts'

/**
 * What else may be tried at a list that is only a view of another resource (`/v1/nodes/:node/ports`): single members, and changes,
 * have their own place.
 */
export function collectionOnly(path: string, window: { since?: number; outside?: Route['outside'] } = {}): Route[] {
  const refuse = (): never => {
    throw new MalformedRequestURI({})
  }
  const refused = (method: Route['method'], at: string): Route =>
    route({ ...window, method, path: at, policy: [], asks: 'handler', lenient: true, body: Anything, handler: refuse })
  const member = `${path}/:member`
  return [
    refused('POST', path),
    ...(['GET', 'PATCH', 'DELETE'] as const).map((method) => refused(method, member)),
    refused('GET', `${member}/:rest`),
  ]
}
