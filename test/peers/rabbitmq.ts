/** A real RabbitMQ in a temporary folder, with an Erlang port mapper of its own. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../../src/lab/scenario/service-process.ts'
import { needPackages } from './debian.ts'

export interface Rabbitmq extends AsyncDisposable {
  readonly port: number
  /** for `transport_url` */
  readonly url: string
  /** Ends the broker at once; `start` brings it back, without its transient queues. */
  kill(): Promise<void>
  start(): Promise<void>
}

/** Answers the broker on that port to the AMQP greeting? */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (result: boolean) => {
      socket.destroy()
      resolve(result)
    }
    socket.once('connect', () => socket.write('AMQP\0\0\x09\x01'))
    socket.once('data', () => end(true))
    socket.once('error', () => end(false))
    socket.setTimeout(2000, () => end(false))
  })
}

/** Starts RabbitMQ on a free port of loopback; user and password are `guest`. */
export async function startRabbitmq(): Promise<Rabbitmq> {
  await needPackages(['rabbitmq-server'])
  const folder = await mkdtemp(join(tmpdir(), 'openkeel-rabbitmq-'))
  const [port = 0, distribution = 0, mapper = 0] = await freePorts(3)
  await mkdir(join(folder, 'home'))
  const config = join(folder, 'rabbitmq.conf')
  await writeFile(
    config,
    `listeners.tcp.1 = 127.0.0.1:${port}\nvm_memory_high_watermark.absolute = 1GB\ndisk_free_limit.absolute = 50MB\n`,
  )
  await writeFile(join(folder, 'plugins'), '[].\n')
  await writeFile(join(folder, 'env.conf'), '')
  const env = {
    PATH: process.env['PATH'],
    HOME: join(folder, 'home'),
    LANG: 'C.UTF-8',
    ERL_EPMD_PORT: String(mapper),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_RELAXED_COMMAND_CHECK: '1',
    RABBITMQ_NODENAME: 'rabbit@localhost',
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_CONFIG_FILE: config,
    RABBITMQ_CONF_ENV_FILE: join(folder, 'env.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
  }
  let child: ChildProcess | null = null

  const start = async () => {
    const own = spawn('/usr/lib/rabbitmq/bin/rabbitmq-server', [], { env, stdio: 'ignore', detached: true })
    child = own
    for (const until = Date.now() + 90_000; Date.now() < until; await sleep(200)) {
      if (own.exitCode !== null) throw new Error(`RabbitMQ ended with status ${own.exitCode}`)
      if (await greets(port)) return
    }
    throw new Error('RabbitMQ did not answer within 90 s')
  }

  /** The script starts the virtual machine as its child: the whole group goes. */
  const kill = async () => {
    const own = child
    child = null
    if (own?.pid === undefined || own.exitCode !== null) return
    const ended = new Promise((resolve) => own.once('exit', resolve))
    process.kill(-own.pid, 'SIGKILL')
    await ended
  }

  try {
    await start()
  } catch (error) {
    await kill()
    throw error
  }
  return {
    port,
    url: `rabbit://guest:guest@127.0.0.1:${port}/`,
    start,
    kill,
    async [Symbol.asyncDispose]() {
      await kill()
      await stopMapper(mapper)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The port mapper outlives the broker. It ends on a KILL_REQ of its protocol. */
function stopMapper(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from([0, 1, 0x6b])))
    socket.once('close', () => resolve())
    socket.once('error', () => resolve())
    socket.on('data', () => socket.end())
    socket.setTimeout(2000, () => socket.destroy())
  })
}
