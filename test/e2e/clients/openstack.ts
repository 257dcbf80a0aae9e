import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { peerVenv } from '../../peers/python.ts'

export interface CommandAnswer {
  readonly status: number
  readonly out: string
  readonly err: string
}

/** The real `openstack` command. */
export interface Openstack {
  /** Runs `openstack baremetal ARGS`; never throws for a status that is not 0. */
  run(...args: readonly string[]): Promise<CommandAnswer>
  /** Runs it, wants status 0, and reads its `-f json`. */
  json<T>(...args: readonly string[]): Promise<T>
  close(): Promise<void>
}

/** python-openstackclient with python-ironicclient 6.3.0, one process for all commands. */
export async function startOpenstack(api: string): Promise<Openstack> {
  const venv = await peerVenv('openstackclient', ['python-openstackclient==10.5.0', 'python-ironicclient==6.3.0'])
  const child = spawn(join(venv, 'bin/python'), ['-W', 'ignore', join(import.meta.dirname, 'openstack_commands.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', OS_AUTH_TYPE: 'none', OS_ENDPOINT: api },
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const run = async (...args: readonly string[]): Promise<CommandAnswer> => {
    child.stdin.write(`${JSON.stringify(['baremetal', ...args])}\n`)
    const line = await lines.next()
    if (line.done === true) throw new Error('the openstack client ended')
    return JSON.parse(line.value) as CommandAnswer
  }
  return {
    run,
    json: async <T>(...args: readonly string[]) => {
      const answer = await run(...args, '-f', 'json')
      if (answer.status !== 0) throw new Error(`openstack baremetal ${args.join(' ')}: ${answer.err}`)
      return JSON.parse(answer.out) as T
    },
    close: async () => {
      child.stdin.end()
      await ended
    },
  }
}
