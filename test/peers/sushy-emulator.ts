/** The real sushy-tools emulator as a BMC, with its fake driver. */
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { peerVenv } from './python.ts'

export interface SushyEmulator {
  readonly address: string
  readonly systemId: string
  readonly mac: string
  [Symbol.asyncDispose](): Promise<void>
}

export interface SushyOptions {
  readonly featureSet?: 'full' | 'vmedia' | 'minimum'
  /** PEM files; plain HTTP when left out */
  readonly tls?: { readonly key: string; readonly cert: string }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}

export async function startSushyEmulator({ featureSet = 'full', tls }: SushyOptions = {}): Promise<SushyEmulator> {
  const venv = await peerVenv('sushy-tools', ['sushy-tools==2.2.0'])
  const folder = await mkdtemp(join(tmpdir(), 'sushy-emulator-'))
  await mkdir(join(folder, 'state'))
  const uuid = crypto.randomUUID()
  const mac = '52:54:00:5a:b1:01'
  const port = await freePort()
  const config = join(folder, 'emulator.conf')
  const lines = [
    `SUSHY_EMULATOR_LISTEN_IP = '127.0.0.1'`,
    `SUSHY_EMULATOR_LISTEN_PORT = ${port}`,
    `SUSHY_EMULATOR_FAKE_DRIVER = True`,
    `SUSHY_EMULATOR_FEATURE_SET = '${featureSet}'`,
    `SUSHY_EMULATOR_STATE_DIR = '${join(folder, 'state')}'`,
    `SUSHY_EMULATOR_FAKE_SYSTEMS = [{'uuid': '${uuid}', 'name': 'fake', 'power_state': 'Off', 'external_notifier': False, 'nics': [{'mac': '${mac}', 'ip': '192.0.2.10'}]}]`,
    ...(tls === undefined ? [] : [`SUSHY_EMULATOR_SSL_CERT = '${tls.cert}'`, `SUSHY_EMULATOR_SSL_KEY = '${tls.key}'`]),
  ]
  await writeFile(config, `${lines.join('\n')}\n`)
  const child = spawn(join(venv, 'bin/sushy-emulator'), ['--config', config], {
    stdio: 'ignore',
    env: { ...process.env, TMPDIR: folder },
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const address = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  const close = async () => {
    child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await listens(port, () => child.exitCode)
  } catch (error) {
    await close()
    throw error
  }
  return { address, systemId: `/redfish/v1/Systems/${uuid}`, mac, [Symbol.asyncDispose]: close }
}

async function listens(port: number, ended: () => number | null): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (ended() !== null) throw new Error(`sushy-emulator ended with ${ended()}`)
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => {
        socket.destroy()
        resolve(true)
      })
      socket.once('error', () => resolve(false))
    })
    if (open) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error('sushy-emulator does not listen')
}
