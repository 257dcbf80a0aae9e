/** A small load program: keep-alive connections, bounded in time, server CPU per request beside wall time. */
import { Pool } from 'undici'
import type { Server } from './servers.ts'

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly version?: string
}

export interface Figures {
  readonly requests: number
  readonly errors: number
  readonly cpuMsPerRequest: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export class Client implements AsyncDisposable {
  private readonly pool: Pool
  constructor(url: string, connections = 16) {
    this.pool = new Pool(url, { connections, headersTimeout: 120_000, bodyTimeout: 120_000 })
  }

  /** @returns status and body text */
  async send({ method, path, body, version = '1.115' }: Request): Promise<{ status: number; text: string }> {
    const answer = await this.pool.request({
      method,
      path,
      headers: {
        'x-openstack-ironic-api-version': version,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
    return { status: answer.statusCode, text: await answer.body.text() }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pool.close()
  }
}

const quantile = (sorted: number[], q: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0

/** Sends requests from `connections` at once for `seconds`, at least three in all. */
export async function measure(
  server: Server,
  next: (index: number) => Request,
  { connections = 1, seconds = 3 }: { connections?: number; seconds?: number } = {},
): Promise<Figures> {
  await using client = new Client(server.url, connections)
  const times: number[] = []
  let errors = 0
  let index = 0
  const before = await server.cpuMs()
  const until = performance.now() + seconds * 1000
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < until || times.length < 3) {
        const started = performance.now()
        const { status } = await client.send(next(index++))
        if (status >= 400) errors++
        times.push(performance.now() - started)
      }
    }),
  )
  const cpu = (await server.cpuMs()) - before
  times.sort((a, b) => a - b)
  return {
    requests: times.length,
    errors,
    cpuMsPerRequest: cpu / times.length,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
  }
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
