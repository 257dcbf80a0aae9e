/**
 * The all-in-one service as a process of its own, with a configuration for a lab. `E2E_SERVICE=real` takes real Ironic
 * 39.0.0 instead: what passes there and not here is our fault, what fails there too is the test's.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { IronicClient } from '../../src/lab/client.ts'
import { startFileServer } from '../../src/lab/scenario/file-server.ts'
import type { FileServer } from '../../src/lab/scenario/file-server.ts'
import { makeMaterials } from '../../src/lab/scenario/materials.ts'
import type { Materials } from '../../src/lab/scenario/materials.ts'
import { serviceConfig } from '../../src/lab/scenario/service-config.ts'
import { freePorts, startService } from '../../src/lab/scenario/service-process.ts'
import type { ServiceProcess } from '../../src/lab/scenario/service-process.ts'
import { needPackages } from '../peers/debian.ts'
import { ironicPeer } from '../peers/python.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

export interface ServiceOptions {
  /** options beside those of the lab, or instead of them: `section.option` */
  readonly set?: Readonly<Record<string, string | number | boolean>>
  /** bytes of the image that is made */
  readonly imageSize?: number
}

/** The service with the files around it. */
export interface ServiceUnderTest {
  readonly directory: string
  /** what the service keeps: database, logs, files */
  readonly state: string
  readonly config: string
  readonly api: string
  readonly client: IronicClient
  /** kernel, ramdisk and image, and the web server that has them */
  readonly materials: Materials
  readonly images: FileServer
  /** the process as it runs now */
  process(): ServiceProcess
  /** starts it again after it has ended */
  restart(): Promise<void>
  /** ends everything and removes the folder */
  close(): Promise<void>
}

const directories = [
  'tmp',
  'http',
  'images',
  'images-master',
  'iso-cache',
  'tftp',
  'tftp-master',
  'certs',
  'lock',
  'deploy-logs',
]

/** What real Ironic must be told and ours need not. */
const realOnly = (state: string, api: string) => ({
  'api.api_workers': 1,
  'service_catalog.auth_type': 'none',
  'service_catalog.endpoint_override': api,
  'dhcp.dhcp_provider': 'none',
  'pxe.tftp_root': join(state, 'tftp'),
  'pxe.tftp_master_path': join(state, 'tftp-master'),
  'redfish.use_swift': false,
  'oslo_concurrency.lock_path': join(state, 'lock'),
})

/** Makes a folder, a configuration and a database, and starts the service on them. */
export async function startServiceUnderTest(options: ServiceOptions = {}): Promise<ServiceUnderTest> {
  await needPackages(['xorriso', 'qemu-utils'])
  const directory = await mkdtemp(join(tmpdir(), 'ironic-e2e-'))
  const state = join(directory, 'state')
  const real = process.env['E2E_SERVICE'] === 'real'
  for (const name of directories) await mkdir(join(state, name), { recursive: true })
  const [apiPort = 0, filesPort = 0] = await freePorts(2)
  const api = `http://127.0.0.1:${apiPort}`
  const materials = await makeMaterials(
    directory,
    options.imageSize === undefined ? {} : { imageSize: options.imageSize },
  )
  await using stack = new AsyncDisposableStack()
  if (process.env['E2E_KEEP'] === undefined) stack.defer(() => rm(directory, { recursive: true, force: true }))
  const images = await startFileServer(materials.directory)
  stack.defer(() => images.close())
  if (real) {
    const files = await startFileServer(join(state, 'http'), { port: filesPort })
    stack.defer(() => files.close())
  }
  const config = join(directory, 'ironic.conf')
  const text = serviceConfig({
    state,
    apiPort,
    filesPort,
    esp: materials.esp,
    kernel: `${images.url}/${materials.names.kernel}`,
    ramdisk: `${images.url}/${materials.names.ramdisk}`,
    set: {
      'DEFAULT.debug': true,
      ...(real ? realOnly(state, api) : { 'openkeel.embedded_http_server': true }),
      ...options.set,
    },
  })
  await writeFile(config, text, { mode: 0o600 })
  const bin = real ? join(await ironicPeer(), 'bin') : ''
  const command = (name: string) =>
    real ? [join(bin, name)] : [process.execPath, join(root, 'src/cmd', `${name.replace('ironic-', '')}.ts`)]
  const [dbsync = '', ...rest] = command('ironic-dbsync')
  await run(dbsync, [...rest, '--config-file', config, 'create_schema'], { timeout: 120_000 })
  const start = () =>
    startService({
      command: [...command('ironic'), '--config-file', config],
      env: {
        NODE_NO_WARNINGS: '1',
        PATH: `${bin === '' ? '' : `${bin}:`}${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`,
      },
      output: join(directory, 'service.out'),
      api,
    })
  let service = await start()
  const around = stack.move()
  return {
    directory,
    state,
    config,
    api,
    client: new IronicClient(api),
    materials,
    images,
    process: () => service,
    restart: async () => {
      service = await start()
    },
    close: async () => {
      await service.stop()
      await around.disposeAsync()
    },
  }
}
