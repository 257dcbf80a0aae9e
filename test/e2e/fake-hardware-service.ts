/** The all-in-one service as a process, with fake hardware and an empty database: for tests of the API and of who may use it. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePorts, startService } from '../../src/lab/scenario/service-process.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

export interface FakeHardwareService extends AsyncDisposable {
  readonly url: string
  /** its folder: configuration, database, what it printed */
  readonly directory: string
  /** file with what it printed and logged */
  readonly output: string
}

const interfaces = {
  bios: 'fake,no-bios',
  boot: 'fake',
  console: 'fake,no-console',
  deploy: 'fake',
  firmware: 'fake,no-firmware',
  inspect: 'fake,no-inspect',
  management: 'fake,noop',
  network: 'noop',
  power: 'fake',
  raid: 'fake,no-raid',
  rescue: 'fake,no-rescue',
  storage: 'noop,fake',
  vendor: 'fake,no-vendor',
}

const baseConfig = (directory: string, port: number) => `[DEFAULT]
auth_strategy = noauth
rpc_transport = none
host = test-host
enabled_hardware_types = fake-hardware
${Object.entries(interfaces)
  .map(([name, enabled]) => `enabled_${name}_interfaces = ${enabled}`)
  .join('\n')}
default_network_interface = noop
[api]
host_ip = 127.0.0.1
port = ${port}
[database]
connection = sqlite:///${join(directory, 'ironic.sqlite')}
[deploy]
http_root = ${join(directory, 'http')}
http_url = http://127.0.0.1:${port}
[conductor]
automated_clean = true
sync_power_state_interval = 0
[oslo_messaging_notifications]
driver = noop
[service_catalog]
auth_type = none
endpoint_override = http://127.0.0.1:${port}
`

/** Starts it. @param more a second configuration file, read after the stock one */
export async function startFakeHardwareService(more: string): Promise<FakeHardwareService> {
  const directory = await mkdtemp(join(tmpdir(), 'ironic-fake-'))
  const [port = 0] = await freePorts(1)
  const url = `http://127.0.0.1:${port}`
  await mkdir(join(directory, 'http'))
  const files = [join(directory, 'ironic.conf'), join(directory, 'more.conf')] as const
  await writeFile(files[0], baseConfig(directory, port), { mode: 0o600 })
  await writeFile(files[1], more, { mode: 0o600 })
  const args = files.flatMap((file) => ['--config-file', file])
  const command = (name: string) => [process.execPath, join(root, `src/cmd/${name}.ts`), ...args]
  const [program = '', ...dbsync] = command('dbsync')
  await run(program, [...dbsync, 'create_schema'], { timeout: 120_000 })
  const output = join(directory, 'service.out')
  const service = await startService({ command: command('ironic'), env: { NODE_NO_WARNINGS: '1' }, output, api: url })
  return {
    url,
    directory,
    output,
    async [Symbol.asyncDispose]() {
      await service.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
