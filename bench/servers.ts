/** Starts the two servers that are compared: ours and real Ironic, both all-in-one on SQLite with fake hardware. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../src/lab/scenario/service-process.ts'
import { peerVenv } from '../test/peers/python.ts'

const root = join(import.meta.dirname, '..')
const ticksPerSecond = 100 // USER_HZ of Linux on every architecture that Node runs on

export interface Server extends AsyncDisposable {
  readonly label: 'ours' | 'real'
  readonly url: string
  /** milliseconds from the start of the process to the first 200 of /v1/nodes */
  readonly startWallMs: number
  readonly startCpuMs: number
  /** user and system time of the process and its children, milliseconds */
  cpuMs(): Promise<number>
  /** resident memory of the process and its children, MiB */
  residentMib(): Promise<number>
}

const interfaces = {
  bios: 'fake,no-bios',
  boot: 'fake',
  console: 'fake,no-console',
  deploy: 'fake',
  firmware: 'fake,no-firmware',
  inspect: 'fake,no-inspect',
  management: 'fake',
  network: 'noop',
  power: 'fake',
  raid: 'fake,no-raid',
  rescue: 'fake,no-rescue',
  storage: 'fake,noop',
  vendor: 'fake,no-vendor',
}

/** One ironic.conf that both servers read. */
async function writeConfig(folder: string, port: number): Promise<string> {
  const lines = [
    '[DEFAULT]',
    'auth_strategy = noauth',
    'rpc_transport = none',
    'host = bench',
    'my_ip = 127.0.0.1',
    `state_path = ${folder}/state`,
    `tempdir = ${folder}/tmp`,
    `log_file = ${folder}/ironic.log`,
    'enabled_hardware_types = fake-hardware',
    ...Object.entries(interfaces).map(([type, names]) => `enabled_${type}_interfaces = ${names}`),
    'default_network_interface = noop',
    '[api]',
    'host_ip = 127.0.0.1',
    `port = ${port}`,
    '[database]',
    `connection = sqlite:///${folder}/ironic.sqlite`,
    '[conductor]',
    'sync_power_state_interval = 0',
    '[dhcp]',
    'dhcp_provider = none',
    '[deploy]',
    `http_root = ${folder}/http`,
    'http_url = http://127.0.0.1:1',
    '[oslo_concurrency]',
    `lock_path = ${folder}/lock`,
    '[service_catalog]',
    'auth_type = none',
    `endpoint_override = http://127.0.0.1:${port}`,
    '[inventory]',
    'data_backend = database',
  ]
  await Promise.all(['state', 'tmp', 'http', 'lock'].map((name) => mkdir(join(folder, name), { recursive: true })))
  const file = join(folder, 'ironic.conf')
  await writeFile(file, `${lines.join('\n')}\n`)
  return file
}

/** The process and all below it, from /proc. */
async function processTree(pid: number): Promise<number[]> {
  const parents = new Map<number, number>()
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => null)
    if (stat !== null) parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
  }
  const tree = [pid]
  for (const member of tree) for (const [child, parent] of parents) if (parent === member) tree.push(child)
  return tree
}

async function cpuOf(pid: number): Promise<number> {
  let ticks = 0
  for (const member of await processTree(pid)) {
    const stat = await readFile(`/proc/${member}/stat`, 'utf8').catch(() => null)
    if (stat === null) continue
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    ticks += Number(fields[11]) + Number(fields[12])
  }
  return (ticks / ticksPerSecond) * 1000
}

async function residentOf(pid: number): Promise<number> {
  let kib = 0
  for (const member of await processTree(pid)) {
    const status = await readFile(`/proc/${member}/status`, 'utf8').catch(() => '')
    kib += Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0)
  }
  return kib / 1024
}

async function untilServing(child: ChildProcess, url: string): Promise<number> {
  const started = performance.now()
  while (performance.now() - started < 120_000) {
    if (child.exitCode !== null) throw new Error(`the server ended with status ${child.exitCode}`)
    const drivers = await fetch(`${url}/v1/drivers`).catch(() => null)
    if (drivers?.ok && ((await drivers.json()) as { drivers: unknown[] }).drivers.length > 0)
      return performance.now() - started
    await sleep(5)
  }
  throw new Error(`${url} did not answer within 120 s`)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await Promise.race([ended, sleep(20_000).then(() => child.kill('SIGKILL'))])
}

/** Starts one of the two on an empty database and waits until its conductor is registered. */
export async function startServer(label: Server['label']): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), `bench-${label}-`))
  const [port = 0] = await freePorts(1)
  const config = await writeConfig(folder, port)
  const [command, ...args] =
    label === 'ours'
      ? [process.execPath, join(root, 'src/cmd/ironic.ts')]
      : [join(await peerVenv('ironic', ['ironic==39.0.0', 'pymysql']), 'bin/ironic')]
  const environment = { ...process.env, NODE_NO_WARNINGS: '1' }
  const dbsync =
    label === 'ours'
      ? spawn(process.execPath, [join(root, 'src/cmd/dbsync.ts'), '--config-file', config, 'create_schema'], {
          env: environment,
        })
      : spawn(command.replace(/ironic$/, 'ironic-dbsync'), ['--config-file', config, 'create_schema'])
  await new Promise<void>((resolve, reject) => {
    dbsync.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${label}: create_schema ended with ${code}`)),
    )
  })
  const child = spawn(command, [...args, '--config-file', config], { stdio: 'ignore', env: environment })
  const { pid } = child
  if (pid === undefined) throw new Error(`${label}: ${command} did not start`)
  const url = `http://127.0.0.1:${port}`
  const startWallMs = await untilServing(child, url)
  return {
    label,
    url,
    startWallMs,
    startCpuMs: await cpuOf(pid),
    cpuMs: () => cpuOf(pid),
    residentMib: () => residentOf(pid),
    async [Symbol.asyncDispose]() {
      await stop(child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
