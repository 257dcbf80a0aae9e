/** A real MariaDB in a temporary folder. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { access, cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createConnection } from 'mysql2/promise'
import { needPackages } from './debian.ts'
import { cacheFolder, locked } from './lock.ts'

const run = promisify(execFile)

export interface Mariadb {
  readonly port: number
  readonly socket: string
  /** Makes an empty database. @returns its SQLAlchemy URL over TCP */
  createDatabase(name: string): Promise<string>
  /** The URL of a database over the Unix socket. */
  socketUrl(name: string): string
  /** Runs statements as the administrator. @returns the rows of the last one */
  query(statement: string, database?: string): Promise<Record<string, unknown>[]>
  /** Ends the server at once, as a crash does; `start` brings it back with its data. */
  kill(): Promise<void>
  /** Ends the server in order; `start` brings it back. */
  shutdown(): Promise<void>
  start(): Promise<void>
  /** Ends the server and removes its data. */
  stop(): Promise<void>
}

const user = 'ironic'
const password = 'p@ss/w:rd'

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

/** An initialised data folder; making one takes seconds, copying it does not. */
async function template(): Promise<string> {
  const folder = join(cacheFolder, 'mariadb-data')
  const made = () =>
    access(folder).then(
      () => true,
      () => false,
    )
  if (await made()) return folder
  return await locked('mariadb-data', async () => {
    if (await made()) return folder
    const half = `${folder}.new`
    await rm(half, { recursive: true, force: true })
    await mkdir(half, { recursive: true })
    await run(
      'mariadb-install-db',
      [
        '--no-defaults',
        `--datadir=${half}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
        ...(process.getuid?.() === 0 ? ['--user=root'] : []),
      ],
      { timeout: 120_000, maxBuffer: 2 ** 24 },
    )
    await rename(half, folder)
    return folder
  })
}

/** Starts MariaDB on a free port of loopback. @param extra options of `mariadbd`, such as `--ssl-cert=…` */
export async function startMariadb(extra: readonly string[] = []): Promise<Mariadb> {
  await needPackages(['mariadb-server'])
  const folder = await mkdtemp(join(tmpdir(), 'openkeel-mariadb-'))
  const data = join(folder, 'data')
  await cp(await template(), data, { recursive: true })
  const port = await freePort()
  const socket = join(folder, 'sock')
  let child: ChildProcess | undefined

  async function query(statement: string, database?: string): Promise<Record<string, unknown>[]> {
    const connection = await createConnection({
      socketPath: socket,
      user: 'root',
      multipleStatements: true,
      dateStrings: true,
      ...(database === undefined ? {} : { database }),
    })
    try {
      const [rows] = await connection.query(statement)
      return rows as Record<string, unknown>[]
    } finally {
      connection.destroy()
    }
  }

  async function start(): Promise<void> {
    child = spawn(
      'mariadbd',
      [
        '--no-defaults',
        `--datadir=${data}`,
        `--socket=${socket}`,
        `--pid-file=${join(folder, 'pid')}`,
        `--log-error=${join(folder, 'log')}`,
        `--port=${port}`,
        '--bind-address=127.0.0.1',
        '--character-set-server=utf8mb4',
        '--collation-server=utf8mb4_general_ci',
        // tests want speed, and safety against crashes of the process, not of the machine
        '--innodb-flush-log-at-trx-commit=2',
        '--innodb-buffer-pool-size=64M',
        '--skip-log-bin',
        '--skip-name-resolve',
        ...extra,
        ...(process.getuid?.() === 0 ? ['--user=root'] : []),
      ],
      { stdio: 'ignore' },
    )
    const server = child
    for (const end = Date.now() + 60_000; ;) {
      try {
        await query('select 1')
        return
      } catch (error) {
        if (server.exitCode !== null || Date.now() > end)
          throw new Error(`MariaDB did not start: ${await readFile(join(folder, 'log'), 'utf8').catch(() => '')}`, {
            cause: error,
          })
        await sleep(50)
      }
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const server = child
    child = undefined
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const gone = new Promise((resolve) => server.once('exit', resolve))
    server.kill(signal)
    await gone
  }

  await start()
  await query(
    `create user if not exists '${user}'@'127.0.0.1' identified by '${password}';
     create user if not exists '${user}'@'localhost' identified by '${password}';
     grant all on *.* to '${user}'@'127.0.0.1'; grant all on *.* to '${user}'@'localhost'`,
  )
  const credentials = `${user}:${encodeURIComponent(password)}`
  return {
    port,
    socket,
    query,
    start,
    async createDatabase(name) {
      await query(`create database \`${name}\``)
      return `mysql+pymysql://${credentials}@127.0.0.1:${port}/${name}?charset=utf8`
    },
    socketUrl: (name) => `mysql+pymysql://${credentials}@localhost/${name}?charset=utf8&unix_socket=${socket}`,
    kill: () => end('SIGKILL'),
    shutdown: () => end('SIGTERM'),
    async stop() {
      await end('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
