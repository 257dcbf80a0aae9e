/**
 * Many machines of the lab deployed at once: what the service itself adds to the time that the machine takes. The machine's
 * own time is read off its console: power, firmware, ramdisk, writing the image, the agent's pause between heartbeats.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { IronicClient } from '../src/lab/client.ts'
import { startLab, type LabMachine } from '../src/lab/lab.ts'
import { bring, enroll, type LifeOptions } from '../src/lab/scenario/life.ts'
import { quickTimings } from '../src/lab/timings.ts'
import { startServiceUnderTest } from '../test/e2e/service-under-test.ts'

const machines = Number(process.env['BENCH_LAB_MACHINES'] ?? '200')
/** Machines of today take this long; what they take is subtracted. Waits are spread so that they do not all come at once. */
const timings = {
  ...quickTimings,
  powerOn: 1000,
  powerOff: 1000,
  shutdown: 1000,
  firmware: 2000,
  ramdisk: 6000,
  heartbeatPause: 1000,
}

/** Beginnings and ends of what a machine does by itself, as its console tells them. */
const own: readonly (readonly [begin: RegExp, end: RegExp])[] = [
  [/^power PoweringOn$/, /^power On$/],
  [/^power On$/, /^agent: version/],
  [/^agent: deploy step write_image$/, /^agent: image .* written/],
  [/^power PoweringOff$/, /^power Off$/],
]

interface Deployment {
  readonly uuid: string
  readonly machine: LabMachine
  readonly lines: { readonly at: number; readonly text: string }[]
  began: number
}

/** Milliseconds that the machine itself took between two moments. */
function ownTime(deployment: Deployment, until: number): number {
  let sum = 0
  for (const [begin, end] of own) {
    let from: number | null = null
    for (const { at, text } of deployment.lines) {
      if (at > until) break
      if (begin.test(text)) from = at
      else if (from !== null && end.test(text)) {
        sum += at - from
        from = null
      }
    }
  }
  // After the image is written the next heartbeat comes when the pause since the last one is over.
  return sum + timings.heartbeatPause
}

/** Seconds of processor time that a process and its ended children have taken (`/proc`, in hundredths). */
async function processorTime(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
}

const percentile = (sorted: readonly number[], part: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0

/** The nodes, ready to be deployed. */
async function prepare(client: IronicClient, lab: readonly LabMachine[], life: LifeOptions): Promise<Deployment[]> {
  const made: Deployment[] = []
  const waiting = [...lab]
  const worker = async () => {
    for (let machine = waiting.shift(); machine !== undefined; machine = waiting.shift()) {
      const { uuid } = await enroll(client, machine, life)
      await bring(client, uuid, 'manage', 'manageable', life)
      await bring(client, uuid, 'provide', 'available', life)
      const { image } = life
      await client.patch(uuid, {
        '/instance_info/image_source': image.url,
        '/instance_info/image_os_hash_algo': 'sha256',
        '/instance_info/image_os_hash_value': image.sha256,
        '/instance_info/image_disk_format': 'raw',
      })
      const deployment: Deployment = { uuid, machine, lines: [], began: 0 }
      machine.machine.watch((text) => deployment.lines.push({ at: Date.now(), text }))
      made.push(deployment)
    }
  }
  await Promise.all(Array.from({ length: 16 }, worker))
  return made
}

/** Waits until all nodes are active. @returns when each became so, by its UUID @throws Error when one failed */
async function untilActive(client: IronicClient, count: number): Promise<Map<string, number>> {
  type Row = { uuid: string; provision_state: string; provision_updated_at: string; last_error: string | null }
  for (const deadline = Date.now() + 600_000; ;) {
    const fields = 'uuid,provision_state,provision_updated_at,last_error'
    const { nodes } = await client.call<{ nodes: Row[] }>('GET', `/v1/nodes?fields=${fields}&limit=1000`)
    const failed = nodes.find((node) => node.provision_state.endsWith('failed'))
    if (failed !== undefined) throw new Error(`node ${failed.uuid}: ${failed.provision_state}: ${failed.last_error}`)
    const active = nodes.filter((node) => node.provision_state === 'active')
    if (active.length === count)
      return new Map(active.map((node) => [node.uuid, Date.parse(node.provision_updated_at)]))
    if (Date.now() > deadline) throw new Error(`${active.length} of ${count} nodes are active after 10 minutes`)
    await sleep(1000)
  }
}

/** Prints the seconds that the service added per node: median, 95 of 100, worst. */
export async function benchLab(): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const service = await startServiceUnderTest({ imageSize: 6 * 1024 * 1024, set: { 'DEFAULT.debug': false } })
  stack.defer(() => service.close())
  const lab = await startLab({ machines, directory: join(service.directory, 'lab'), timings })
  stack.defer(() => lab.close())
  const { client, images, materials } = service
  const image = {
    url: `${images.url}/${materials.names.image}`,
    path: materials.image.path,
    sha256: materials.image.sha256,
  }
  const life: LifeOptions = { image, inspect: 'redfish', limit: 120_000, every: 500, clean: false }
  const deployments = await prepare(client, lab.machines, life)
  console.log(`${machines} nodes are available`)
  const pids = [service.process().pid, process.pid]
  const before = await Promise.all(pids.map(processorTime))
  const started = Date.now()
  await Promise.all(
    deployments.map(async (deployment) => {
      deployment.began = Date.now()
      await client.provision(deployment.uuid, 'active')
    }),
  )
  const ended = await untilActive(client, machines)
  const after = await Promise.all(pids.map(processorTime))
  const totals = deployments.map(({ uuid, began }) => (ended.get(uuid) ?? 0) - began).sort((a, b) => a - b)
  const added = deployments
    .map((deployment) => {
      const end = ended.get(deployment.uuid) ?? 0
      return end - deployment.began - ownTime(deployment, end)
    })
    .sort((a, b) => a - b)
  const line = (what: string, values: readonly number[]) =>
    console.log(
      `${what}: median ${(percentile(values, 0.5) / 1000).toFixed(2)} s, 95 % ${(percentile(values, 0.95) / 1000).toFixed(2)} s, worst ${((values.at(-1) ?? 0) / 1000).toFixed(2)} s`,
    )
  console.log(`all active after ${((Date.now() - started) / 1000).toFixed(1)} s`)
  const [ours, labs] = after.map((seconds, index) => (seconds - (before[index] ?? 0)) / machines)
  console.log(`processor time per node: service ${ours?.toFixed(3)} s, lab ${labs?.toFixed(3)} s`)
  line('whole deployment', totals)
  line('added by the service', added)
}
