/**
 * The demonstration: an all-in-one service as a process of its own, a lab of machines in this one, and every machine
 * taken from enroll to active before your eyes. The service is spoken to by HTTP alone.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { IronicClient } from '../lab/client.ts'
import { startLab } from '../lab/lab.ts'
import type { Lab, LabMachine } from '../lab/lab.ts'
import { startFileServer } from '../lab/scenario/file-server.ts'
import { deployMachine, lastEvent } from '../lab/scenario/life.ts'
import type { LifeOptions } from '../lab/scenario/life.ts'
import { makeMaterials } from '../lab/scenario/materials.ts'
import { serviceConfig } from '../lab/scenario/service-config.ts'
import { freePorts, startService, tail } from '../lab/scenario/service-process.ts'
import { quickTimings } from '../lab/timings.ts'
import { Progress, seconds } from './demo/progress.ts'
import { needXorriso } from './demo/tools.ts'

const usage = `usage: demo [--nodes N] [--keep DIR] [--once]

  --nodes N   how many machines (8)
  --keep DIR  an empty or new folder for configuration, database, logs and disks; it stays
  --once      end when all nodes are active: status 0; 1 if any is not`

interface DemoOptions {
  readonly nodes: number
  readonly keep: string | null
  readonly once: boolean
}

/** How long each phase of a node may take, for one node and for each other node beside it; milliseconds. */
const phaseLimit = (nodes: number) => 120_000 + nodes * 2000

/** @throws Error with the usage when the arguments are wrong */
function readArguments(args: readonly string[]): DemoOptions | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: { type: 'string' },
      keep: { type: 'string' },
      once: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help === true) return null
  const nodes = Number(values.nodes ?? '8')
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > 1000) {
    throw new Error(`--nodes must be a whole number from 1 to 1000, not ${values.nodes}`)
  }
  return { nodes, keep: values.keep === undefined ? null : resolve(values.keep), once: values.once === true }
}

/** The folder that everything goes into. */
async function prepareFolder(keep: string | null): Promise<string> {
  if (keep === null) return await mkdtemp(join(tmpdir(), 'ironic-demo-'))
  try {
    await mkdir(keep, { mode: 0o700 })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code !== 'EEXIST')
      throw new Error(
        `the folder ${keep} cannot be made (${code}): name another after --keep, in a folder that is there`,
        {
          cause,
        },
      )
  }
  if ((await readdir(keep)).length > 0) throw new Error(`the folder ${keep} is not empty: name a new one after --keep`)
  return keep
}

/** Resolves when the person presses Ctrl-C, or the process is told to end; a second time ends it at once. */
function untilInterrupted(): { readonly signal: AbortSignal; readonly done: Promise<void> } {
  const controller = new AbortController()
  const done = new Promise<void>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.on(name, () => {
        if (controller.signal.aborted) process.exit(130)
        controller.abort()
        resolve()
      })
    }
  })
  return { signal: controller.signal, done }
}

async function main(): Promise<number> {
  const options = readArguments(process.argv.slice(2))
  const say = (line: string) => process.stdout.write(`${line}\n`)
  if (options === null) {
    say(usage)
    return 0
  }
  await needXorriso(say)
  const interrupted = untilInterrupted()
  const directory = await prepareFolder(options.keep)
  try {
    return await demonstrate(options, directory, say, interrupted)
  } finally {
    if (options.keep === null) await rm(directory, { recursive: true, force: true })
  }
}

async function demonstrate(
  options: DemoOptions,
  directory: string,
  say: (line: string) => void,
  interrupted: { readonly signal: AbortSignal; readonly done: Promise<void> },
): Promise<number> {
  const state = join(directory, 'state')
  await Promise.all(['http', 'tmp'].map((name) => mkdir(join(state, name), { recursive: true })))
  const [apiPort = 0, filesPort = 0] = await freePorts(2)
  const api = `http://127.0.0.1:${apiPort}`
  const materials = await makeMaterials(directory)
  await using stack = new AsyncDisposableStack()
  const images = await startFileServer(materials.directory)
  stack.defer(() => images.close())
  const lab = await startLab({ machines: options.nodes, directory: join(directory, 'lab'), timings: quickTimings })
  stack.defer(() => lab.close())
  const config = join(directory, 'ironic.conf')
  const text = serviceConfig({
    state,
    apiPort,
    filesPort,
    esp: materials.esp,
    kernel: `${images.url}/${materials.names.kernel}`,
    ramdisk: `${images.url}/${materials.names.ramdisk}`,
    set: { 'openkeel.embedded_http_server': true },
  })
  await writeFile(config, text, { mode: 0o600 })
  const command = (name: string) => [process.execPath, join(import.meta.dirname, name + extname(import.meta.filename))]
  const output = join(directory, 'service.out')
  say(`Starting the service: API ${api}, database and logs in ${state}`)
  await createSchema(command('dbsync'), config)
  const began = Date.now()
  const service = await startService({
    command: [...command('ironic'), '--config-file', config],
    env: { NODE_NO_WARNINGS: '1' },
    output,
    api,
  })
  stack.defer(async () => void (await service.stop()))
  say(`The API answered after ${seconds(Date.now() - began)}. ${lab.machines.length} machines with a BMC each are up.`)
  const image = {
    url: `${images.url}/${materials.names.image}`,
    path: materials.image.path,
    sha256: materials.image.sha256,
  }
  const outcome = await Promise.race([
    deployAll(new IronicClient(api), lab, { image, inspect: 'agent', limit: phaseLimit(options.nodes), clean: true }),
    interrupted.done.then(() => 'interrupted' as const),
    service.ended.then((how) => new Error(`the service ended by itself (${how}):`)),
  ])
  if (outcome === 'interrupted') return 130
  if (outcome instanceof Error) {
    say(`${outcome.message}\n${await tail(output)}`)
    return 1
  }
  say(`\n${outcome.active} of ${options.nodes} nodes are active after ${seconds(outcome.took)}.`)
  for (const line of outcome.failed) say(line)
  if (!options.once) {
    say(nextSteps(api, lab))
    const end = await Promise.race([interrupted.done.then(() => null), service.ended])
    if (end !== null) {
      say(`the service ended by itself (${end}):\n${await tail(output)}`)
      return 1
    }
  }
  return outcome.failed.length === 0 ? 0 : 1
}

async function createSchema(command: readonly string[], config: string): Promise<void> {
  const [program = '', ...args] = command
  await promisify(execFile)(program, [...args, '--config-file', config, 'create_schema'], {
    timeout: 60_000,
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
}

interface Outcome {
  readonly active: number
  readonly failed: readonly string[]
  /** milliseconds */
  readonly took: number
}

/** Takes all machines through their life at once; every other one is inspected by its BMC instead of its agent. */
async function deployAll(client: IronicClient, lab: Lab, options: LifeOptions): Promise<Outcome> {
  const progress = new Progress({ write: (text) => process.stdout.write(text), isTTY: process.stdout.isTTY })
  const began = Date.now()
  progress.start(lab.machines.map((machine) => machine.name))
  const results = await Promise.all(
    lab.machines.map((machine, index) =>
      deployOne(client, machine, { ...options, inspect: index % 2 === 0 ? 'agent' : 'redfish' }, progress),
    ),
  )
  progress.stop()
  const failed = results.filter((result) => result !== null)
  return { active: results.length - failed.length, failed, took: Date.now() - began }
}

/** null when the node became active, else why not */
async function deployOne(
  client: IronicClient,
  machine: LabMachine,
  options: LifeOptions,
  progress: Progress,
): Promise<string | null> {
  const { name } = machine
  try {
    await deployMachine(client, machine, {
      ...options,
      phase: (_, phase) => progress.update(name, { phase }),
      seen: (node) =>
        progress.update(name, {
          state: node.provision_state,
          power: node.power_state ?? '',
          step: node.clean_step?.step ?? node.deploy_step?.step ?? '',
        }),
    })
    progress.update(name, { phase: 'done', step: '', outcome: 'active', reason: 'image written, checksum verified' })
    return null
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const event = await lastEvent(client, name).catch(() => null)
    progress.update(name, { outcome: 'failed', reason })
    return `${name}: ${reason}${event === null || reason.includes(event) ? '' : `\n  history: ${event}`}`
  }
}

function nextSteps(api: string, lab: Lab): string {
  const name = lab.machines[0]?.name ?? 'lab-1'
  return `
The service stays up. Try it from another terminal:

  export OS_AUTH_TYPE=none OS_ENDPOINT=${api}      # pip install python-openstackclient python-ironicclient
  openstack baremetal node list
  openstack baremetal node show ${name}
  openstack baremetal node power off ${name} --power-timeout 60
  openstack baremetal node undeploy ${name} --wait
  openstack baremetal node history list ${name}

  curl -s -H 'X-OpenStack-Ironic-API-Version: latest' ${api}/v1/nodes/${name}

Ctrl-C ends everything.`
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
