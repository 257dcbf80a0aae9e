/** The service as the recordings want it: API and conductor in this process on a new database, listening at a free port. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hash } from '@node-rs/bcrypt'
import { authenticatorFor } from '../../../src/api/auth/strategies.ts'
import { openAuthorizer } from '../../../src/api/authorizer.ts'
import { createApi } from '../../../src/api/server.ts'
import { allInterfaces } from '../../../src/conductor/all-interfaces.ts'
import { realClock } from '../../../src/conductor/for-tests.ts'
import { startConductor } from '../../../src/conductor/conductor.ts'
import { testConfig, type ConfigOverrides } from '../../../src/config/for-tests.ts'
import { openDatabase } from '../../../src/db/database.ts'
import { createSchema } from '../../../src/db/migrations/index.ts'
import type { InterfaceType } from '../../../src/domain/interfaces.ts'
import type { InterfaceClass, InterfaceClasses } from '../../../src/drivers/interface-classes.ts'
import type { DriverParts } from '../../../src/drivers/task.ts'
import { silentLogger } from '../../../src/lib/oslo-log/logger.ts'
import { conductorContract } from '../../../src/rpc/conductor.ts'
import { conductorRing } from '../../../src/rpc/ring.ts'
import { conductorRouting } from '../../../src/rpc/routing.ts'
import { localTransport } from '../../../src/rpc/transports/local.ts'

export type ServerKind = 'noauth' | 'http_basic'
export const basicUser = { name: 'alice', password: 'open-sesame' } as const

export interface RecordedService extends AsyncDisposable {
  /** where it listens, without a slash at the end */
  readonly base: string
  readonly conductor: string
}

const enabled: Readonly<Record<InterfaceType, readonly string[]>> = {
  bios: ['fake', 'no-bios', 'redfish'],
  boot: ['fake', 'ipxe', 'pxe', 'redfish-virtual-media'],
  console: ['fake', 'no-console'],
  deploy: ['fake', 'direct', 'ramdisk', 'noop'],
  firmware: ['fake', 'no-firmware', 'redfish'],
  inspect: ['fake', 'no-inspect', 'agent', 'redfish'],
  management: ['fake', 'noop', 'ipmitool', 'redfish'],
  network: ['noop'],
  power: ['fake', 'ipmitool', 'redfish', 'agent'],
  raid: ['fake', 'no-raid', 'agent', 'redfish'],
  rescue: ['fake', 'no-rescue', 'agent'],
  storage: ['fake', 'noop'],
  vendor: ['fake', 'no-vendor', 'ipmitool', 'redfish'],
}

/** Scenarios, and steps, that a fake interface cannot play: what each needs. */
const needs: Readonly<Record<string, readonly [InterfaceType, string]>> = {
  'history-a': ['inspect', 'agent'],
  'inspect-a': ['inspect', 'agent'],
  'drivers-a #14': ['power', 'ipmitool'],
}

/** The interface that a scenario or step needs and this release does not have. */
export function lacking(what: string): string | undefined {
  const [type, name] = needs[what] ?? []
  if (type === undefined || name === undefined || Object.hasOwn(allInterfaces[type], name)) return undefined
  return `the ${type} interface ${name}`
}

/** The recordings name interfaces that this release may not have; fake ones answer for those. */
function withStandIns(): InterfaceClasses {
  const types = Object.keys(enabled) as InterfaceType[]
  return Object.fromEntries(
    types.map((type) => {
      const known = allInterfaces[type]
      return [
        type,
        Object.fromEntries(enabled[type].map((name) => [name, known[name] ?? standIn(known['fake']!, name)])),
      ]
    }),
  ) as unknown as InterfaceClasses
}

function standIn(Fake: InterfaceClass, name: string): InterfaceClass {
  const Base = Fake as new (parts: DriverParts) => object
  return class extends Base {
    readonly name = name
  } as InterfaceClass
}

async function overridesFor(kind: ServerKind, base: string, directory: string): Promise<ConfigOverrides> {
  const users = join(directory, 'users')
  await writeFile(users, `${basicUser.name}:${(await hash(basicUser.password, { cost: 4 })).replace('$2b$', '$2y$')}\n`)
  const interfaces = Object.fromEntries(
    Object.entries(enabled).map(([type, names]) => [`enabled_${type}_interfaces`, [...names]]),
  )
  return {
    DEFAULT: {
      ...interfaces,
      auth_strategy: kind,
      http_basic_auth_user_file: users,
      rpc_transport: 'none',
      host: 'recorded-host',
      enabled_hardware_types: ['fake-hardware', 'redfish', 'ipmi', 'manual-management'],
      default_network_interface: 'noop',
    },
    conductor: { automated_clean: true, sync_power_state_interval: 0 },
    agent: { deploy_logs_collect: 'never' },
    inspector: { require_managed_boot: false },
    dhcp: { dhcp_provider: 'none' },
    service_catalog: { auth_type: 'none', endpoint_override: base },
    oslo_messaging_notifications: { driver: ['noop'] },
    deploy: { http_url: 'http://127.0.0.1:1', http_root: join(directory, 'http') },
    pxe: {
      tftp_root: join(directory, 'tftp'),
      tftp_master_path: join(directory, 'tftp-master'),
      images_path: join(directory, 'images'),
      instance_master_path: join(directory, 'masters'),
    },
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

export async function startRecordedService(kind: ServerKind): Promise<RecordedService> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'recorded-rest-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const config = testConfig(await overridesFor(kind, base, directory))
  const clock = realClock
  const db = await openDatabase('sqlite://', { clock })
  stack.defer(() => db.close())
  await createSchema(db)
  const ring = conductorRing({ db, config, clock })
  const parts = { config, db, clock, log: silentLogger }
  const conductor = await startConductor({ ...parts, ring, interfaces: withStandIns() })
  stack.defer(() => conductor.stop({ timeout: 1 }))
  const transport = localTransport(silentLogger)
  stack.use(await transport.serve(conductorContract, conductor.host, conductor.service))
  const authenticator = await authenticatorFor(config, silentLogger)
  stack.defer(() => authenticator.close())
  const api = createApi({
    ...parts,
    conductors: conductorRouting(ring, transport),
    policy: openAuthorizer,
    authenticator,
  })
  stack.defer(() => api.close())
  await api.listen({ host: '127.0.0.1', port })
  const closing = stack.move()
  return { base, conductor: conductor.host, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}
