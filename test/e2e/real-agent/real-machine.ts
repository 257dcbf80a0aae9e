/**
 * A machine whose BMC is sushy-tools' emulator (fake driver) and whose system is the real agent. The emulator tells each
 * change of its machine to this process, which does what firmware does: reads the kernel line from the medium and starts
 * the agent, or ends it when the power goes.
 */
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { appendFileSync, openSync } from 'node:fs'
import { mkdir, open, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { request } from 'undici'
import { listen } from '../../../src/lab/listen.ts'
import { bootFromCd } from '../../../src/lab/media/boot-config.ts'
import { openFile } from '../../../src/lab/media/byte-source.ts'
import { IsoReader } from '../../../src/lab/media/iso-reader.ts'
import { freePorts } from '../../../src/lab/scenario/service-process.ts'
import { needPackages } from '../../peers/debian.ts'
import { peerVenv } from '../../peers/python.ts'

const run = promisify(execFile)

/** What the agent shells out to. */
const tools = [
  'gdisk',
  'parted',
  'util-linux',
  'udev',
  'mtools',
  'e2fsprogs',
  'curl',
  'psmisc',
  'lshw',
  'dmidecode',
  'pciutils',
  'hdparm',
  'file',
  'qemu-utils',
]

export interface RealMachine {
  readonly driverInfo: Readonly<Record<string, string>>
  readonly mac: string
  /** file behind the loop device */
  readonly disk: string
  /** what firmware and agent said */
  readonly console: string
  close(): Promise<void>
}

/** The fake machine as the emulator tells it. */
interface EmulatedSystem {
  readonly power_state?: string
  readonly boot_device?: string
  readonly boot_image?: Readonly<Record<string, readonly [string | null, boolean, boolean]>> | null
}

const mac = '52:54:00:0e:2e:01'
const uuid = '6f1d2a3c-0e2e-4e2e-8e2e-0000000000a1'

/** Whether this host lets us make loop devices and namespaces; else a sentence that says what is missing. */
export async function whyNoRealMachine(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'loop devices and namespaces need root'
  try {
    await run('unshare', ['--mount', '--pid', '--fork', 'true'])
    await run('losetup', ['--find'])
    return null
  } catch (error) {
    return `this host has no loop devices or no namespaces: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** @param directory an empty folder */
export async function startRealMachine(directory: string): Promise<RealMachine> {
  await needPackages(tools)
  const agentVenv = await peerVenv('agent', ['ironic-python-agent==13.0.0'])
  const bmcVenv = await peerVenv('sushy-tools', ['sushy-tools==2.2.0'])
  const home = join(directory, 'agent')
  await mkdir(join(home, 'plugin/one_disk-1.dist-info'), { recursive: true })
  await run('cp', [join(import.meta.dirname, 'one_disk_manager.py'), join(home, 'plugin')])
  await writeFile(
    join(home, 'plugin/one_disk-1.dist-info/METADATA'),
    'Metadata-Version: 2.1\nName: one-disk\nVersion: 1\n',
  )
  const entry = '[ironic_python_agent.hardware_managers]\none_disk = one_disk_manager:OneDiskManager\n'
  await writeFile(join(home, 'plugin/one_disk-1.dist-info/entry_points.txt'), entry)
  const disk = join(directory, 'disk.raw')
  await writeFile(disk, '')
  await truncate(disk, 5 * 1024 ** 3)
  const loop = (await run('losetup', ['--find', '--show', '--partscan', disk])).stdout.trim()
  const [agentPort = 0, bmcPort = 0] = await freePorts(2)
  const console = join(directory, 'console.log')
  const guest = new Guest({ home, console, loop, agentVenv, agentPort, bmc: `http://127.0.0.1:${bmcPort}` })
  const notified = await guest.listen()
  const config = join(directory, 'emulator.conf')
  await mkdir(join(directory, 'emulator'), { recursive: true })
  const system = {
    uuid,
    name: 'machine',
    power_state: 'Off',
    external_notifier: true,
    nics: [{ mac, ip: '192.0.2.60' }],
  }
  const lines = [
    `SUSHY_EMULATOR_FAKE_DRIVER = True`,
    `SUSHY_EMULATOR_LISTEN_IP = '127.0.0.1'`,
    `SUSHY_EMULATOR_LISTEN_PORT = ${bmcPort}`,
    `SUSHY_EMULATOR_STATE_DIR = ${JSON.stringify(join(directory, 'emulator'))}`,
    `SUSHY_EMULATOR_FAKE_SYSTEMS = [${JSON.stringify(system).replaceAll('true', 'True')}]`,
    `EXTERNAL_NOTIFICATION_URL = '${notified.url}'`,
  ]
  await writeFile(config, `${lines.join('\n')}\n`)
  const log = openSync(join(directory, 'emulator.log'), 'a')
  const emulator = spawn(join(bmcVenv, 'bin/sushy-emulator'), ['--config', config], {
    stdio: ['ignore', log, log],
    env: { ...process.env, TMPDIR: join(directory, 'emulator') },
  })
  const ended = new Promise<void>((resolve) => emulator.once('exit', () => resolve()))
  await answers(`http://127.0.0.1:${bmcPort}/redfish/v1/`)
  return {
    driverInfo: { redfish_address: `http://127.0.0.1:${bmcPort}`, redfish_system_id: `/redfish/v1/Systems/${uuid}` },
    mac,
    disk,
    console,
    close: async () => {
      await guest.powerOff()
      emulator.kill('SIGTERM')
      await ended
      await notified.close()
      await run('losetup', ['--detach', loop])
    },
  }
}

async function answers(url: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      const answer = await request(url)
      await answer.body.dump()
      return
    } catch (error) {
      if (attempt > 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

interface GuestParts {
  readonly home: string
  readonly console: string
  readonly loop: string
  readonly agentVenv: string
  readonly agentPort: number
  readonly bmc: string
}

/** Firmware and power of the machine: starts and ends the agent. */
class Guest {
  readonly #parts: GuestParts
  #process: ChildProcess | undefined
  #on = false
  #url = ''

  constructor(parts: GuestParts) {
    this.#parts = parts
  }

  /** Listens to the emulator's notifications, and to the agent that powers itself off. */
  async listen(): Promise<{ url: string; close(): Promise<void> }> {
    const server = createServer((incoming, response) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () => {
        response.end('{}')
        const how = /^\/guest\/(poweroff|reboot)$/.exec(incoming.url ?? '')?.[1]
        const work =
          how === undefined
            ? this.#notified(JSON.parse(Buffer.concat(chunks).toString()) as EmulatedSystem)
            : this.#leave(how)
        work.catch((error: unknown) => this.#say(`firmware: ${error instanceof Error ? error.message : String(error)}`))
      })
    })
    const listening = await listen(server, '127.0.0.1', 0)
    this.#url = `http://127.0.0.1:${listening.port}`
    return { url: this.#url, close: () => listening.close() }
  }

  async powerOff(): Promise<void> {
    this.#on = false
    const child = this.#process
    if (child === undefined) return
    this.#process = undefined
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await ended
    }
  }

  #say(line: string): void {
    appendFileSync(this.#parts.console, `${new Date().toISOString()} ${line}\n`)
  }

  async #notified(system: EmulatedSystem): Promise<void> {
    if (system.power_state === 'Off') return await this.powerOff()
    if (system.power_state !== 'On' || this.#on) return
    this.#on = true
    this.#say(`firmware: boot from ${system.boot_device ?? 'Hdd'}`)
    if (system.boot_device !== 'Cd') return
    const [image] = system.boot_image?.['Cd'] ?? [null]
    if (image === null) throw new Error('no medium in the drive')
    const source = await openFile(image)
    const kernel = await bootFromCd(await IsoReader.open(source), 'uefi').finally(() => void source.close())
    this.#say(`firmware: kernel command line: ${kernel.line}`)
    await writeFile(join(this.#parts.home, 'cmdline'), `${kernel.line}\n`)
    const output = await open(this.#parts.console, 'a')
    const { home, loop, agentVenv, agentPort } = this.#parts
    const env = {
      ...process.env,
      AGENT_HOME: home,
      AGENT_DISK: loop,
      AGENT_MAC: mac,
      AGENT_VENV: agentVenv,
      AGENT_PORT: String(agentPort),
      AGENT_MACHINE: this.#url,
    }
    const args = [
      '--mount',
      '--pid',
      '--fork',
      '--mount-proc',
      '--kill-child',
      join(import.meta.dirname, 'boot-agent.sh'),
    ]
    this.#process = spawn('unshare', args, { stdio: ['ignore', output.fd, output.fd], env })
    await output.close()
  }

  /** The agent's own poweroff or reboot: the agent ends, then the BMC sees the power go. */
  async #leave(how: string): Promise<void> {
    this.#say(`firmware: the agent asks for ${how}`)
    await new Promise((resolve) => setTimeout(resolve, 500))
    const type = how === 'reboot' ? 'ForceRestart' : 'ForceOff'
    const url = `${this.#parts.bmc}/redfish/v1/Systems/${uuid}/Actions/ComputerSystem.Reset`
    const answer = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ResetType: type }),
    })
    await answer.body.dump()
  }
}
