import { Agent, type Dispatcher, errors, request } from 'undici'
import type { Config } from '../config/index.ts'
import { booleanFrom } from '../domain/booleans.ts'
import { ImageDownloadFailed, ImageRefValidationFailed } from '../errors/image.ts'
import { tlsClientOptions } from '../lib/tls/client-options.ts'
import { imageAuthorization, withoutPassword } from './credentials.ts'

/** What a server tells of an image before it is fetched. */
export interface ImageHead {
  /** where the image is after all redirects */
  readonly url: string
  readonly status: number
  /** undefined: the server does not say */
  readonly size: number | undefined
  readonly lastModified: Date | undefined
  readonly etag: string | undefined
  /** the server forbids keeping it */
  readonly noStore: boolean
  readonly contentType: string | undefined
}

export interface ImageBody extends ImageHead {
  readonly body: AsyncIterable<Buffer>
}

interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  /** the URL itself is a secret (temporary URL) and is not shown */
  readonly secret?: boolean
}

const mostRedirects = 10
const redirects = new Set([301, 302, 303, 307, 308])
/** A list of checksums is text; nobody's is this long. */
const longestText = 1024 * 1024

/** HTTP(S) to image servers: `[DEFAULT]webserver_*` and `[deploy]image_server_*`. Every wait has a limit. */
export class ImageServers {
  readonly #config: Config
  #connections: Promise<Agent> | undefined

  constructor(config: Config) {
    this.#config = config
  }

  async close(): Promise<void> {
    await (await this.#connections)?.destroy()
  }

  /**
   * Asks for an image without fetching it; redirects are followed.
   * @throws ImageRefValidationFailed when it is not there, or the server cannot be reached
   */
  async head(href: string, options: RequestOptions = {}): Promise<ImageHead> {
    const shown = options.secret === true ? 'secreturl' : withoutPassword(href)
    const seconds = this.#config.DEFAULT.webserver_verify_timeout
    const { url, answer } = await this.#follow('HEAD', href, shown, seconds, options)
    await answer.body.dump()
    // a web server that shows no folder index: the path itself may be right all the same
    const folder = answer.statusCode === 403 && href.endsWith('/')
    if (answer.statusCode !== 200 && !folder) {
      throw new ImageRefValidationFailed({
        image_href: shown,
        reason: `the server answered HEAD with ${answer.statusCode} instead of 200`,
      })
    }
    return headOf(url, answer)
  }

  /** Opens a download. @throws ImageRefValidationFailed, ImageDownloadFailed */
  async get(href: string, options: RequestOptions = {}): Promise<ImageBody> {
    const shown = options.secret === true ? 'secreturl' : withoutPassword(href)
    const seconds = this.#config.DEFAULT.webserver_connection_timeout
    const { url, answer } = await this.#follow('GET', href, shown, seconds, options)
    if (answer.statusCode !== 200) {
      await answer.body.dump()
      throw new ImageRefValidationFailed({
        image_href: shown,
        reason: `the server answered GET with ${answer.statusCode} instead of 200`,
      })
    }
    return { ...headOf(url, answer), body: wholeBody(answer, shown) }
  }

  /** A short text, such as a list of checksums. @throws ImageRefValidationFailed, ImageDownloadFailed */
  async text(href: string, options: RequestOptions = {}): Promise<string> {
    const { body } = await this.get(href, options)
    const parts: Buffer[] = []
    let length = 0
    for await (const part of body) {
      length += part.length
      if (length > longestText) {
        throw new ImageDownloadFailed({
          image_href: withoutPassword(href),
          reason: `it is longer than ${longestText} bytes, which no list of checksums is`,
        })
      }
      parts.push(part)
    }
    return Buffer.concat(parts).toString('utf8')
  }

  async #follow(
    method: 'HEAD' | 'GET',
    href: string,
    shown: string,
    seconds: number,
    { signal }: RequestOptions,
  ): Promise<{ url: string; answer: Dispatcher.ResponseData }> {
    const refuse = (reason: string, cause?: unknown) =>
      new ImageRefValidationFailed({ image_href: shown, reason }, { cause })
    if (!URL.canParse(href)) throw refuse('it is not a URL')
    const seen = new Set<string>()
    for (let url = new URL(href); ;) {
      if (seen.has(url.href)) throw refuse('the server redirects in a circle')
      if (seen.size > mostRedirects) throw refuse(`the server redirects more than ${mostRedirects} times`)
      seen.add(url.href)
      const answer = await this.#once(method, url, seconds, shown, signal)
      const location = answer.headers['location']
      if (!redirects.has(answer.statusCode) || typeof location !== 'string') return { url: withoutUser(url), answer }
      await answer.body.dump()
      if (!URL.canParse(location, url.href)) throw refuse('the server redirects to something that is not a URL')
      const next = new URL(location, url)
      if (next.protocol !== 'http:' && next.protocol !== 'https:') throw refuse(`it redirects to ${next.protocol}//`)
      if (url.protocol === 'https:' && next.protocol === 'http:') throw refuse('it redirects from https to http')
      // what the user wrote into the URL is for that server alone
      if (next.origin === url.origin && next.username === '') {
        next.username = url.username
        next.password = url.password
      }
      url = next
    }
  }

  async #once(
    method: 'HEAD' | 'GET',
    url: URL,
    seconds: number,
    shown: string,
    signal: AbortSignal | undefined,
  ): Promise<Dispatcher.ResponseData> {
    const authorization = imageAuthorization(url.href, this.#config.deploy)
    try {
      return await request(withoutUser(url), {
        method,
        dispatcher: await this.#agent(),
        headers: { accept: '*/*', ...(authorization === undefined ? {} : { authorization }) },
        headersTimeout: seconds * 1000,
        bodyTimeout: this.#config.DEFAULT.webserver_connection_timeout * 1000,
        signal: signal ?? null,
      })
    } catch (cause) {
      signal?.throwIfAborted()
      const reason = `the server could not be reached: ${reasonOf(cause)}`
      if (method === 'HEAD') throw new ImageRefValidationFailed({ image_href: shown, reason }, { cause })
      throw new ImageDownloadFailed({ image_href: shown, reason }, { cause })
    }
  }

  #agent(): Promise<Agent> {
    return (this.#connections ??= this.#connect())
  }

  async #connect(): Promise<Agent> {
    const {
      webserver_verify_ca: verifyCa,
      webserver_tls_minimum_version: minimumVersion,
      webserver_tls_ciphers: ciphers,
      webserver_connection_timeout: seconds,
    } = this.#config.DEFAULT
    const verify = booleanFrom(verifyCa) ?? { caPath: verifyCa }
    const tls = await tlsClientOptions({ verify, minimumVersion, ciphers })
    return new Agent({ connect: { ...tls, timeout: seconds * 1000 }, keepAliveTimeout: 4000 })
  }
}

function withoutUser(url: URL): string {
  const copy = new URL(url)
  copy.username = ''
  copy.password = ''
  return copy.href
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error))

const header = (answer: Dispatcher.ResponseData, name: string): string | undefined => {
  const value = answer.headers[name]
  return Array.isArray(value) ? value[0] : value
}

function headOf(url: string, answer: Dispatcher.ResponseData): ImageHead {
  const length = header(answer, 'content-length')
  const modified = Date.parse(header(answer, 'last-modified') ?? '')
  return {
    url,
    status: answer.statusCode,
    size: length === undefined || !/^\d+$/.test(length) ? undefined : Number(length),
    lastModified: Number.isNaN(modified) ? undefined : new Date(modified),
    etag: header(answer, 'etag'),
    noStore: (header(answer, 'cache-control') ?? '').toLowerCase().includes('no-store'),
    contentType: header(answer, 'content-type'),
  }
}

/** The body; one that ends early is an error, never a short file. */
async function* wholeBody(answer: Dispatcher.ResponseData, shown: string): AsyncGenerator<Buffer> {
  const wanted = header(answer, 'content-length')
  let length = 0
  try {
    for await (const part of answer.body) {
      length += (part as Buffer).length
      yield part as Buffer
    }
  } catch (cause) {
    if (!(cause instanceof errors.UndiciError) && (cause as NodeJS.ErrnoException).code === undefined) throw cause
    throw new ImageDownloadFailed(
      { image_href: shown, reason: `the download broke off after ${length} bytes: ${reasonOf(cause)}` },
      { cause },
    )
  }
  if (wanted !== undefined && Number(wanted) !== length) {
    throw new ImageDownloadFailed({ image_href: shown, reason: `${length} of ${wanted} bytes came` })
  }
}
