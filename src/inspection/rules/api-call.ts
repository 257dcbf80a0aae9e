import { readFile } from 'node:fs/promises'
import { Agent, ProxyAgent, request, type Dispatcher } from 'undici'
import type { Task } from '../../drivers/task.ts'
import { booleanFrom } from '../../domain/booleans.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'

const retriedStatus: readonly number[] = [429, 500, 502, 503, 504]

const positive = (name: string, value: unknown, least: number): number => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number) || number < least)
    throw new TypeError(`"${name}" must be a number of ${least} or more`)
  return number
}

/** TLS settings of `[DEFAULT]webserver_verify_ca`: true, false, or the file of a CA. */
async function tlsOf(verifyCa: string): Promise<{ rejectUnauthorized?: boolean; ca?: string }> {
  const verify = booleanFrom(verifyCa)
  if (verify !== undefined) return { rejectUnauthorized: verify }
  return { ca: await readFile(verifyCa, 'utf8') }
}

/** One GET. @returns the status. @throws Error when there was no answer in time */
async function get(
  url: URL,
  headers: Record<string, string>,
  dispatcher: Dispatcher,
  seconds: number,
  signal: AbortSignal,
) {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)])
  const { statusCode, body } = await request(url, { headers, dispatcher, signal: limit })
  await body.dump({ limit: 65536 })
  return statusCode
}

/**
 * The `api-call` action: GET, tried again after no answer and after 429 and 5xx.
 * @throws Error with what went wrong when the last try failed
 */
export async function callApi(task: Task, args: JsonDict): Promise<void> {
  const url = new URL(String(args.url))
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError(`${url.protocol} is not http or https`)
  const seconds = positive('timeout', args.timeout ?? 5, Number.MIN_VALUE)
  const retries = Math.trunc(positive('retries', args.retries ?? 3, 0))
  const backoff = positive('backoff_factor', args.backoff_factor ?? 0.3, 0)
  const proxy: unknown = (args.proxies as JsonDict | null | undefined)?.[url.protocol.slice(0, -1)]
  const tls = await tlsOf(task.config.DEFAULT.webserver_verify_ca)
  const dispatcher =
    typeof proxy === 'string' ? new ProxyAgent({ uri: proxy, requestTls: tls }) : new Agent({ connect: tls })
  try {
    for (let attempt = 0; ; attempt++) {
      let fault: string
      try {
        const status = await get(url, (args.headers ?? {}) as Record<string, string>, dispatcher, seconds, task.signal)
        if (status < 400) return
        fault = `the server answered ${status}`
        if (!retriedStatus.includes(status)) throw new RefusedByServer(fault)
      } catch (error) {
        if (error instanceof RefusedByServer || task.signal.aborted) throw error
        fault = error instanceof Error ? error.message : String(error)
      }
      if (attempt >= retries) throw new Error(fault)
      await task.clock.sleep(attempt === 0 ? 0 : backoff * 2 ** attempt * 1000, task.signal)
    }
  } finally {
    await dispatcher.close()
  }
}

class RefusedByServer extends Error {}
