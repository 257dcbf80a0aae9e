/**
 * Errors as answers. Two shapes, as clients of real Ironic know them: what a handler refuses is
 * `{faultcode, faultstring, debuginfo}`, what routing refuses is `{code, title, description}`; both travel as JSON text inside
 * `error_message`.
 */
import { STATUS_CODES } from 'node:http'
import { IronicError } from '../errors/define.ts'

/** Refused before a handler was reached: no such path, method, version or media type. Sent without the version headers. */
export class RoutingFault extends Error {
  override readonly name = 'RoutingFault'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, description = '', headers: Readonly<Record<string, string>> = {}) {
    super(description)
    this.status = status
    this.headers = headers
  }
}

const envelope = (text: string): string => JSON.stringify({ error_message: text })

export interface Fault {
  readonly status: number
  readonly body: string
}

/** Statuses that a peer's error may ask for; anything else is a 500. */
const isStatus = (code: number): boolean => code >= 400 && code < 600 && STATUS_CODES[code] !== undefined

/**
 * An error of a handler as an answer. An undeclared error is ours: its text stays in the log.
 * @param stack added as `debuginfo` when `[DEFAULT]debug_tracebacks_in_api` is on
 */
export function handlerFault(error: unknown, showStack = false): Fault {
  const declared = error instanceof IronicError
  const status = declared && isStatus(error.code) ? error.code : 500
  const sentence = declared ? error.message : 'The service failed while it handled this request; its log tells why.'
  const stack = showStack && status >= 500 && error instanceof Error ? (error.stack ?? null) : null
  return {
    status,
    body: envelope(
      JSON.stringify({
        faultcode: status < 500 ? 'Client' : 'Server',
        faultstring: sentence.split('Traceback (most recent call last):')[0]!.trimEnd() || STATUS_CODES[status],
        debuginfo: stack,
      }),
    ),
  }
}

/** Bodies that are too large or too deep are refused outside of any envelope. */
export const guardFault = (status: 400 | 413, sentence: string): Fault => ({
  status,
  body: JSON.stringify({ faultcode: 'Client', faultstring: sentence }),
})

const titleOf = (status: number): string => STATUS_CODES[status] ?? 'Error'

/** A routing fault in the form that the Accept header prefers; without JSON in it, the text inside is HTML or plain. */
export function routingFault(fault: RoutingFault, accept: string | undefined): Fault {
  const { status, message } = fault
  const title = titleOf(status)
  switch (preferredForm(accept)) {
    case 'json':
      return { status, body: envelope(JSON.stringify({ code: status, title, description: message })) }
    case 'html': {
      const safe = message.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
      return {
        status,
        body: envelope(
          `<html>\n <head>\n  <title>${status} ${title}</title>\n </head>\n <body>\n  <h1>${status} ${title}</h1>\n  ${safe}\n </body>\n</html>`,
        ),
      }
    }
    case 'plain':
      return { status, body: envelope(`${status} ${title}\n\n${message}\n`) }
  }
}

interface MediaRange {
  readonly type: string
  readonly quality: number
}
const mediaRanges = (accept: string): MediaRange[] =>
  accept.split(',').map((entry) => {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.find((part) => part.startsWith('q='))?.slice(2)
    return { type, quality: quality === undefined ? 1 : Number(quality) || 0 }
  })

const anything = (accept: string | undefined): boolean => accept === undefined || accept === '' || accept === '*/*'

/** Whether an answer in JSON is wanted at all. */
export function acceptsJson(accept: string | undefined): boolean {
  if (anything(accept) || accept!.startsWith('application/json')) return true
  return mediaRanges(accept!).some(
    ({ type, quality }) => quality > 0 && (type === 'application/json' || type === 'application/*' || type === '*/*'),
  )
}

function preferredForm(accept: string | undefined): 'json' | 'html' | 'plain' {
  if (anything(accept)) return 'json'
  const ranges = mediaRanges(accept!)
  const qualityOf = (type: string): number => {
    const [main] = type.split('/')
    for (const pattern of [type, `${main}/*`, '*/*']) {
      const range = ranges.find((candidate) => candidate.type === pattern)
      if (range !== undefined) return range.quality
    }
    return 0
  }
  const offers = [
    ['plain', qualityOf('text/plain')],
    ['html', qualityOf('text/html')],
    ['json', qualityOf('application/json')],
  ] as const
  const best = offers.reduce((a, b) => (b[1] > a[1] ? b : a))
  return best[1] > 0 ? best[0] : 'plain'
}
