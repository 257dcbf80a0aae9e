/** CPU per REST request with many nodes and ports: ours and real Ironic in the same run, alternating. */
import { randomUUID } from 'node:crypto'
import { Client, measure, median, type Figures, type Request } from './load.ts'
import { startServer, type Server } from './servers.ts'

const nodeBody = (index: number) => ({
  uuid: randomUUID(),
  name: `bench-${index}-${randomUUID().slice(0, 8)}`,
  driver: 'fake-hardware',
  resource_class: 'baremetal',
  properties: { cpus: 16, memory_mb: 65536, local_gb: 480, cpu_arch: 'x86_64', capabilities: 'boot_mode:uefi' },
  driver_info: {
    redfish_address: `https://10.0.${index >> 8}.${index & 255}`,
    redfish_username: 'admin',
    redfish_password: 'x',
  },
  extra: { rack: index % 40, note: 'bench' },
})

/** Creates nodes, each with one port; returns the nodes' uuids and names. */
async function populate(server: Server, count: number): Promise<{ uuids: string[]; names: string[] }> {
  await using client = new Client(server.url, 4)
  const uuids: string[] = []
  const names: string[] = []
  let index = 0
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      while (index < count) {
        const i = index++
        const body = nodeBody(i)
        const node = await client.send({ method: 'POST', path: '/v1/nodes', body })
        if (node.status !== 201)
          throw new Error(`${server.label}: POST /v1/nodes answered ${node.status}: ${node.text}`)
        const mac = `52:54:${[i >> 24, i >> 16, i >> 8, i].map((byte) => (byte & 255).toString(16).padStart(2, '0')).join(':')}`
        const port = await client.send({
          method: 'POST',
          path: '/v1/ports',
          body: { node_uuid: body.uuid, address: mac },
        })
        if (port.status !== 201)
          throw new Error(`${server.label}: POST /v1/ports answered ${port.status}: ${port.text}`)
        uuids.push(body.uuid)
        names.push(body.name)
      }
    }),
  )
  return { uuids, names }
}

interface Case {
  readonly name: string
  readonly connections: number
  readonly aim: number
  readonly next: (data: { uuids: string[]; names: string[] }) => (index: number) => Request
}

const get = (path: string) => () => () => ({ method: 'GET', path }) as const
const pick = (list: string[], index: number) => list[index % list.length] ?? ''

const cases: readonly Case[] = [
  {
    name: 'show by uuid',
    connections: 1,
    aim: 50,
    next:
      ({ uuids }) =>
      (i) => ({ method: 'GET', path: `/v1/nodes/${pick(uuids, i)}` }),
  },
  {
    name: 'show by name',
    connections: 1,
    aim: 50,
    next:
      ({ names }) =>
      (i) => ({ method: 'GET', path: `/v1/nodes/${pick(names, i)}` }),
  },
  {
    name: 'show by uuid, 16 at once',
    connections: 16,
    aim: 50,
    next:
      ({ uuids }) =>
      (i) => ({ method: 'GET', path: `/v1/nodes/${pick(uuids, i)}` }),
  },
  { name: 'list 1000', connections: 1, aim: 25, next: get('/v1/nodes?limit=1000') },
  {
    name: 'list 1000, three fields',
    connections: 1,
    aim: 25,
    next: get('/v1/nodes?limit=1000&fields=uuid,name,provision_state'),
  },
  {
    name: 'list 1000 by provision_state',
    connections: 1,
    aim: 25,
    next: get('/v1/nodes?limit=1000&provision_state=enroll'),
  },
  { name: 'list 1000 in detail', connections: 1, aim: 20, next: get('/v1/nodes/detail?limit=1000') },
  { name: 'list 1000 ports', connections: 1, aim: 25, next: get('/v1/ports?limit=1000') },
  {
    name: 'PATCH',
    connections: 1,
    aim: 25,
    next:
      ({ uuids }) =>
      (i) => ({
        method: 'PATCH',
        path: `/v1/nodes/${pick(uuids, i)}`,
        body: [{ op: 'add', path: '/extra/touched', value: i }],
      }),
  },
  {
    name: 'POST',
    connections: 1,
    aim: 25,
    next: () => (i) => ({ method: 'POST', path: '/v1/nodes', body: nodeBody(100_000 + i) }),
  },
]

/** @param nodes how many nodes each server holds  @param rounds how often each case is measured */
export async function benchApi({ nodes = 2000, rounds = 3, seconds = 3 } = {}): Promise<void> {
  await using ours = await startServer('ours')
  await using real = await startServer('real')
  const servers = [ours, real]
  const atStart = new Map(await Promise.all(servers.map(async (s) => [s.label, await s.residentMib()] as const)))
  console.log(
    `start: ours ${ours.startWallMs.toFixed(0)} ms wall, ${ours.startCpuMs.toFixed(0)} ms CPU; real ${real.startWallMs.toFixed(0)} ms, ${real.startCpuMs.toFixed(0)} ms CPU; ratio ${(real.startCpuMs / ours.startCpuMs).toFixed(1)} (aim 5)`,
  )
  const data = new Map<string, { uuids: string[]; names: string[] }>()
  for (const server of servers) {
    console.log(`filling ${server.label} with ${nodes} nodes and ports`)
    data.set(server.label, await populate(server, nodes))
  }
  console.log('\ncase | ours CPU ms | real CPU ms | ratio | aim | ours p50 / p99 ms | real p50 / p99 ms | errors')
  for (const one of cases) {
    const figures = new Map<string, Figures[]>(servers.map((s) => [s.label, []]))
    for (let round = 0; round < rounds; round++)
      for (const server of servers) {
        const own = data.get(server.label) ?? { uuids: [], names: [] }
        figures.get(server.label)?.push(await measure(server, one.next(own), { connections: one.connections, seconds }))
      }
    const of = (label: string, key: keyof Figures) => median((figures.get(label) ?? []).map((f) => f[key]))
    const [o, r] = [of('ours', 'cpuMsPerRequest'), of('real', 'cpuMsPerRequest')]
    const wall = (label: string) => `${of(label, 'p50Ms').toFixed(2)} / ${of(label, 'p99Ms').toFixed(2)}`
    const errors = [...figures.values()].flat().reduce((sum, f) => sum + f.errors, 0)
    console.log(
      `${one.name} | ${o.toFixed(3)} | ${r.toFixed(1)} | ${(r / o).toFixed(0)} | ${one.aim} | ${wall('ours')} | ${wall('real')} | ${errors}`,
    )
  }
  for (const s of servers)
    console.log(
      `${s.label}: resident ${atStart.get(s.label)?.toFixed(0)} MiB at start, ${(await s.residentMib()).toFixed(0)} MiB after`,
    )
}
