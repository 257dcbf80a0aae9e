/** `GET /openapi.json?microversion=1.N`: an addition to real Ironic, readable by everybody as the list of versions is. */
import { NotAcceptable } from '../../errors/base.ts'
import { parseQuery } from '../arguments.ts'
import { MAXIMUM_MINOR, negotiate } from '../microversions.ts'
import type { Target } from '../request.ts'
import type { Route } from '../resource.ts'
import { openApi } from './openapi.ts'

export class OpenApiEndpoint {
  readonly #routes: readonly Route[]
  /** documents by version, for the URL that was asked at last */
  readonly #texts = new Map<number, string>()
  #url = ''

  constructor(routes: readonly Route[]) {
    this.#routes = routes
  }

  isAsked(method: string, { path, jsonSuffix }: Target): boolean {
    return (method === 'GET' || method === 'HEAD') && (jsonSuffix ? `${path}.json` : path) === '/openapi.json'
  }

  /**
   * @param url where clients reach the service
   * @throws NotAcceptable for a version that is not served
   */
  text(query: string, url: string): string {
    const { microversion = 'latest' } = parseQuery(query)
    const negotiated = negotiate(String(microversion), MAXIMUM_MINOR)
    if ('refused' in negotiated) throw new NotAcceptable(negotiated.refused)
    if (url !== this.#url) this.#texts.clear()
    this.#url = url
    const { minor } = negotiated
    let text = this.#texts.get(minor)
    if (text === undefined) this.#texts.set(minor, (text = JSON.stringify(openApi(this.#routes, minor, url))))
    return text
  }
}
