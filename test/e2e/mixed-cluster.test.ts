/**
 * Real processes and ours on one MariaDB and one transport, in both directions: a machine of fake hardware goes its whole way through
 * each mixture, and a conductor that dies is taken over by the other.
 */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../../src/lab/scenario/service-process.ts'
import { startMariadb, type Mariadb } from '../peers/mariadb.ts'
import { peerVenv } from '../peers/python.ts'
import { startRabbitmq, type Rabbitmq } from '../peers/rabbitmq.ts'

type Kind = 'ours' | 'real'
type Role = 'api' | 'conductor'

const root = join(import.meta.dirname, '../..')

const interfaces: Readonly<Record<string, string>> = {
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

interface Cluster extends AsyncDisposable {
  readonly url: string
  readonly processes: ReadonlyMap<string, ChildProcess>
  request(method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }>
  /** Polls the node until the condition holds. */
  until(
    uuid: string,
    what: string,
    holds: (node: Record<string, unknown>) => boolean,
    seconds?: number,
  ): Promise<Record<string, unknown>>
}

interface Member {
  readonly role: Role
  readonly kind: Kind
  readonly host: string
}

interface Settings {
  readonly members: readonly Member[]
  readonly connection: string
  readonly transport: { readonly name: 'oslo'; readonly url: string } | { readonly name: 'json-rpc' }
  readonly more?: readonly string[]
}

async function startCluster({ members, connection, transport, more = [] }: Settings): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'mixed-'))
  const venv = await peerVenv('ironic', ['ironic==39.0.0', 'pymysql'])
  const conductorHosts = members.filter(({ role }) => role === 'conductor').map(({ host }) => host)
  const [apiPort = 0, ...others] = await freePorts(1 + conductorHosts.length)
  const rpcPorts = new Map(conductorHosts.map((host, index) => [host, others[index] ?? 0]))
  const configOf = async ({ role, host }: Member) => {
    const own = join(folder, `${role}-${host}`)
    for (const name of ['state', 'tmp', 'http', 'lock']) await mkdir(join(own, name), { recursive: true })
    const rpcHost = transport.name === 'json-rpc' ? '127.0.0.1' : host
    const lines = [
      '[DEFAULT]',
      'auth_strategy = noauth',
      `rpc_transport = ${transport.name}`,
      ...(transport.name === 'oslo' ? [`transport_url = ${transport.url}`] : []),
      `host = ${role === 'conductor' ? rpcHost : 'api'}`,
      'my_ip = 127.0.0.1',
      'debug = true',
      `state_path = ${own}/state`,
      `tempdir = ${own}/tmp`,
      'enabled_hardware_types = fake-hardware',
      ...Object.entries(interfaces).map(([type, names]) => `enabled_${type}_interfaces = ${names}`),
      'default_network_interface = noop',
      ...more,
      '[api]',
      'host_ip = 127.0.0.1',
      `port = ${apiPort}`,
      'api_workers = 1',
      '[database]',
      `connection = ${connection}`,
      '[json_rpc]',
      'auth_strategy = noauth',
      'host_ip = 127.0.0.1',
      `port = ${rpcPorts.get(host) ?? 8089}`,
      '[conductor]',
      'sync_power_state_interval = 60',
      'heartbeat_interval = 2',
      'heartbeat_timeout = 8',
      '[dhcp]',
      'dhcp_provider = none',
      '[deploy]',
      `http_root = ${own}/http`,
      'http_url = http://127.0.0.1:1',
      '[oslo_concurrency]',
      `lock_path = ${own}/lock`,
      '[service_catalog]',
      'auth_type = none',
      `endpoint_override = http://127.0.0.1:${apiPort}`,
      '[inventory]',
      'data_backend = database',
    ]
    const file = join(own, 'ironic.conf')
    await writeFile(file, `${lines.join('\n')}\n`)
    return file
  }
  const processes = new Map<string, ChildProcess>()
  for (const member of members) {
    const config = await configOf(member)
    const [command, ...args] =
      member.kind === 'ours'
        ? [process.execPath, join(root, `src/cmd/${member.role}.ts`)]
        : [join(venv, `bin/ironic-${member.role}`)]
    const child = spawn(command, [...args, '--config-file', config], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_NO_WARNINGS: '1' },
      detached: true,
    })
    const log = createWriteStream(join(folder, `${member.role}-${member.host}.log`))
    child.stdout.pipe(log)
    child.stderr.pipe(log)
    processes.set(member.host, child)
  }
  const url = `http://127.0.0.1:${apiPort}`
  const request: Cluster['request'] = async (method, path, body) => {
    const answer = await fetch(url + path, {
      method,
      headers: { 'x-openstack-ironic-api-version': '1.115', 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) }
  }
  const logs = async () => {
    const texts = members.map(async ({ role, host }) => {
      const text = await readFile(join(folder, `${role}-${host}.log`), 'utf8').catch(() => '')
      return `--- ${role} ${host}\n${text
        .split('\n')
        .filter((line) => /ERROR|WARNING|Traceback|Error:/.test(line))
        .slice(-15)
        .join('\n')}`
    })
    return (await Promise.all(texts)).join('\n')
  }
  const cluster: Cluster = {
    url,
    processes,
    request,
    async until(uuid, what, holds, seconds = 90) {
      let node: Record<string, unknown> = {}
      for (const limit = Date.now() + seconds * 1000; Date.now() < limit; await sleep(250)) {
        ;({ body: node } = await request('GET', `/v1/nodes/${uuid}`))
        if (holds(node)) return node
      }
      throw new Error(
        `${what}: ${JSON.stringify({ state: node['provision_state'], error: node['last_error'], lock: node['reservation'] })}\n${await logs()}`,
      )
    },
    async [Symbol.asyncDispose]() {
      for (const child of processes.values()) if (child.exitCode === null && child.pid) killGroup(child.pid)
      await rm(folder, { recursive: true, force: true })
    },
  }
  const conductors = members.filter(({ role }) => role === 'conductor').length
  for (const limit = Date.now() + 120_000; ; await sleep(500)) {
    const seen = await request('GET', '/v1/conductors').catch(() => null)
    const alive = ((seen?.body['conductors'] ?? []) as { alive: boolean }[]).filter((conductor) => conductor.alive)
    if (alive.length >= conductors) break
    if (Date.now() > limit) {
      const text = await logs()
      await cluster[Symbol.asyncDispose]()
      throw new Error(`${conductors} conductors are wanted, ${alive.length} are there\n${text}`)
    }
  }
  return cluster
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** From enroll to active and back to available. */
async function live(cluster: Cluster): Promise<string> {
  const uuid = randomUUID()
  const created = await cluster.request('POST', '/v1/nodes', { uuid, driver: 'fake-hardware', extra: { żółw: true } })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  const steps = [
    ['manage', 'manageable'],
    ['provide', 'available'],
    ['active', 'active'],
    ['deleted', 'available'],
  ] as const
  const info = [
    {
      op: 'add',
      path: '/instance_info',
      value: { image_source: 'http://127.0.0.1/x', image_checksum: 'd41d8cd98f00b204e9800998ecf8427e' },
    },
  ]
  const patched = await cluster.request('PATCH', `/v1/nodes/${uuid}`, info)
  assert.equal(patched.status, 200, JSON.stringify(patched.body))
  for (const [target, state] of steps) {
    const put = await cluster.request('PUT', `/v1/nodes/${uuid}/states/provision`, { target })
    assert.equal(put.status, 202, `${target}: ${JSON.stringify(put.body)}`)
    await cluster.until(uuid, target, (node) => node['provision_state'] === state && node['reservation'] === null)
  }
  return uuid
}

/** What else the API asks of a conductor. */
async function ask(cluster: Cluster, uuid: string): Promise<void> {
  const expect = async (method: string, path: string, status: number, body?: unknown) => {
    const answer = await cluster.request(method, `/v1/nodes/${uuid}${path}`, body)
    assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  assert.equal((await expect('GET', '/management/boot_device', 200))['boot_device'], 'pxe')
  await expect('PUT', '/management/boot_device', 204, { boot_device: 'pxe', persistent: false })
  await expect('PUT', '/management/boot_device', 400, { boot_device: 'nonsense' })
  const validation = await expect('GET', '/validate', 200)
  assert.deepEqual((validation['power'] as { result: boolean }).result, true)
  await expect('PUT', '/traits', 204, { traits: ['CUSTOM_A'] })
  assert.deepEqual((await expect('GET', '/traits', 200))['traits'], ['CUSTOM_A'])
  await expect('PUT', '/states/power', 202, { target: 'power on' })
  await cluster.until(uuid, 'power on', (node) => node['power_state'] === 'power on' && node['reservation'] === null)
  await expect('POST', '/vifs', 204, { id: randomUUID() })
  await expect('PUT', '/states/provision', 400, { target: 'rescue', rescue_password: 'x' })
  const port = await cluster.request('POST', '/v1/ports', {
    node_uuid: uuid,
    address: `52:54:00:${uuid.slice(0, 2)}:${uuid.slice(2, 4)}:${uuid.slice(4, 6)}`,
  })
  assert.equal(port.status, 201, JSON.stringify(port.body))
  const changed = await cluster.request('PATCH', `/v1/ports/${String(port.body['uuid'])}`, [
    { op: 'add', path: '/extra/a', value: 1 },
  ])
  assert.equal(changed.status, 200, JSON.stringify(changed.body))
  const drivers = await cluster.request('GET', '/v1/drivers/fake-hardware/properties')
  assert.equal(drivers.status, 200, JSON.stringify(drivers.body))
}

describe('mixed with real Ironic', { timeout: 1_500_000 }, () => {
  let mariadb: Mariadb
  let rabbit: Rabbitmq
  before(async () => {
    ;[mariadb, rabbit] = await Promise.all([startMariadb(), startRabbitmq()])
  })
  after(async () => {
    await rabbit[Symbol.asyncDispose]()
    await mariadb.stop()
  })

  const transports = {
    oslo: () => ({ name: 'oslo', url: rabbit.url }) as const,
    'json-rpc': () => ({ name: 'json-rpc' }) as const,
  }
  const mixtures: readonly (readonly [Kind, Kind])[] = [
    ['real', 'ours'],
    ['ours', 'real'],
    ['ours', 'ours'],
  ]
  for (const [name, transport] of Object.entries(transports))
    for (const [api, conductor] of mixtures)
      it(`${api} API, ${conductor} conductor, ${name}`, async () => {
        const connection = await mariadb.createDatabase(`${api}_${conductor}_${name.replace('-', '_')}`)
        await upgrade(connection)
        await using cluster = await startCluster({
          members: [
            { role: 'api', kind: api, host: 'api' },
            { role: 'conductor', kind: conductor, host: 'conductor-a' },
          ],
          connection,
          transport: transport(),
        })
        await ask(cluster, await live(cluster))
      })

  for (const dying of ['ours', 'real'] as const)
    it(`a conductor of ${dying === 'ours' ? 'ours' : 'real Ironic'} that is killed is taken over by the other`, async () => {
      const connection = await mariadb.createDatabase(`takeover_${dying}`)
      await upgrade(connection)
      await using cluster = await startCluster({
        members: [
          { role: 'api', kind: 'ours', host: 'api' },
          { role: 'conductor', kind: 'ours', host: 'conductor-ours' },
          { role: 'conductor', kind: 'real', host: 'conductor-real' },
        ],
        connection,
        transport: transports.oslo(),
        more: ['hash_ring_reset_interval = 3'],
      })
      const uuids = await Promise.all(Array.from({ length: 8 }, () => live(cluster)))
      const nodes = await Promise.all(uuids.map((uuid) => cluster.request('GET', `/v1/nodes/${uuid}`)))
      const served = new Set(nodes.map(({ body }) => body['conductor']))
      assert.ok(served.size === 2, `the ring names ${[...served].join(', ')}`)
      const victim = cluster.processes.get(`conductor-${dying}`)
      assert.ok(victim?.pid)
      killGroup(victim.pid)
      const heir = `conductor-${dying === 'ours' ? 'real' : 'ours'}`
      for (const uuid of uuids) {
        await cluster.until(uuid, 'take-over', (node) => node['conductor'] === heir && node['reservation'] === null, 60)
        const put = await cluster.request('PUT', `/v1/nodes/${uuid}/states/provision`, { target: 'manage' })
        assert.equal(put.status, 202, JSON.stringify(put.body))
        await cluster.until(uuid, 'manage', (node) => node['provision_state'] === 'manageable')
      }
    })
})

/** The schema, by our own dbsync. */
async function upgrade(connection: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'mixed-dbsync-'))
  const config = join(folder, 'ironic.conf')
  await writeFile(config, `[database]\nconnection = ${connection}\n`, { mode: 0o600 })
  const child = spawn(process.execPath, [join(root, 'src/cmd/dbsync.ts'), '--config-file', config, 'upgrade'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  await rm(folder, { recursive: true })
  assert.equal(code, 0, 'ironic-dbsync upgrade')
}
