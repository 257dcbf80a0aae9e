/** CPU per node of a whole life on fake hardware: manage, provide with cleaning, active, deleted, available. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, median } from './load.ts'
import { startServer, type Server } from './servers.ts'

const life = [
  ['manage', 'manageable'],
  ['provide', 'available'],
  ['active', 'active'],
  ['deleted', 'available'],
] as const

async function liveOnce(client: Client): Promise<void> {
  const uuid = randomUUID()
  const body = {
    uuid,
    driver: 'fake-hardware',
    instance_info: {
      image_source: 'http://127.0.0.1/x',
      image_checksum: 'd41d8cd98f00b204e9800998ecf8427e',
      root_gb: 10,
    },
  }
  const created = await client.send({ method: 'POST', path: '/v1/nodes', body })
  if (created.status !== 201) throw new Error(`POST /v1/nodes answered ${created.status}: ${created.text}`)
  for (const [target, wanted] of life) {
    const put = await client.send({ method: 'PUT', path: `/v1/nodes/${uuid}/states/provision`, body: { target } })
    if (put.status !== 202) throw new Error(`${target} answered ${put.status}: ${put.text}`)
    const deadline = Date.now() + 120_000
    for (;;) {
      const { text } = await client.send({
        method: 'GET',
        path: `/v1/nodes/${uuid}?fields=provision_state,reservation,last_error`,
      })
      const node = JSON.parse(text) as {
        provision_state: string
        reservation: string | null
        last_error: string | null
      }
      if (node.provision_state === wanted && node.reservation === null) break
      if (node.provision_state.endsWith('failed') || Date.now() > deadline)
        throw new Error(`${target}: ${node.provision_state}: ${node.last_error}`)
      await sleep(100)
    }
  }
}

async function lives(server: Server, count: number, atOnce: number): Promise<{ cpuMs: number; seconds: number }> {
  await using client = new Client(server.url, atOnce)
  const before = await server.cpuMs()
  const started = performance.now()
  let index = 0
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (index++ < count) await liveOnce(client)
    }),
  )
  return { cpuMs: ((await server.cpuMs()) - before) / count, seconds: (performance.now() - started) / 1000 }
}

export async function benchLifecycle({ nodes = 30, rounds = 3 } = {}): Promise<void> {
  await using ours = await startServer('ours')
  await using real = await startServer('real')
  const figures = { ours: [] as number[], real: [] as number[] }
  for (let round = 0; round < rounds; round++)
    for (const server of [ours, real]) {
      const { cpuMs, seconds } = await lives(server, nodes, 8)
      figures[server.label].push(cpuMs)
      console.log(
        `round ${round + 1} ${server.label}: ${cpuMs.toFixed(1)} CPU ms per node, ${nodes} nodes in ${seconds.toFixed(1)} s`,
      )
    }
  const [o, r] = [median(figures.ours), median(figures.real)]
  console.log(
    `life cycle: ours ${o.toFixed(1)} ms, real ${r.toFixed(0)} ms CPU per node, ratio ${(r / o).toFixed(0)} (aim 30)`,
  )
}
