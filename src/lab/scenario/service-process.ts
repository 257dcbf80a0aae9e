import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { open } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'

export interface ServiceCommand {
  /** program and arguments */
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** file that takes what the process prints */
  readonly output: string
  /** base URL of the API */
  readonly api: string
  /** milliseconds until the API must answer */
  readonly limit?: number
}

/** A service that runs as a process of its own. */
export interface ServiceProcess {
  readonly pid: number
  /** resolves when the process has ended, with its status or the signal that ended it */
  readonly ended: Promise<number | NodeJS.Signals>
  /** SIGTERM, then SIGKILL when it does not end within the time (milliseconds). Resolves with how it ended. */
  stop(patience?: number): Promise<number | NodeJS.Signals>
  /** SIGKILL at once */
  kill(): Promise<void>
}

/** Starts a service and waits until its API answers. @throws Error with what it printed when it ends or stays silent */
export async function startService(options: ServiceCommand): Promise<ServiceProcess> {
  const output = await open(options.output, 'a', 0o600)
  const [program = '', ...args] = options.command
  const child = spawn(program, args, {
    stdio: ['ignore', output.fd, output.fd],
    env: { ...process.env, ...options.env },
  })
  await output.close()
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 1))
  })
  ended.catch(() => {}) // told below, or by whoever awaits it
  const service = running(child, ended)
  const failed = await Promise.race([
    answers(options.api, options.limit ?? 60_000),
    ended.then((how) => `the service ended (${how}) before its API answered`),
  ])
  if (failed === null) return service
  await service.kill()
  throw new Error(`${failed}; it printed:\n${await tail(options.output)}`)
}

/** null when the API answered in time */
async function answers(api: string, limit: number): Promise<string | null> {
  const began = Date.now()
  while (Date.now() - began < limit) {
    try {
      const answer = await request(`${api}/v1`, { headersTimeout: 5000 })
      await answer.body.dump()
      if (answer.statusCode === 200) return null
    } catch (error) {
      if (!(error instanceof Error)) throw error // not there yet
    }
    await sleep(100)
  }
  return `the API at ${api} did not answer within ${limit / 1000} s`
}

function running(child: ChildProcess, ended: Promise<number | NodeJS.Signals>): ServiceProcess {
  return {
    pid: child.pid ?? -1,
    ended,
    stop: async (patience = 20_000) => {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), patience)
      try {
        return await ended
      } finally {
        clearTimeout(timer)
      }
    },
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** The last lines of a file. */
export async function tail(path: string, lines = 20): Promise<string> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    const length = Math.min(size, 64 * 1024)
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length)
    return buffer.toString('utf8').trimEnd().split('\n').slice(-lines).join('\n')
  } finally {
    await handle.close()
  }
}

/** Ports that nobody listens on now. */
export async function freePorts(count: number, host = '127.0.0.1'): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject)
          server.listen(0, host, () => resolve((server.address() as AddressInfo).port))
        }),
    ),
  )
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
