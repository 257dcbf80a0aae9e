/** What the recordings of workflows say of a node, and how ours is told in the same words. */
import type { ConfigOverrides } from '../../../src/config/for-tests.ts'
import { startTestConductor, type TestConductor } from '../../../src/conductor/for-tests.ts'
import { fakeHardwareConfig } from '../../../src/drivers/fake/for-tests.ts'
import { encodeTime } from '../../../src/db/codec.ts'
import { updateNode, type NodeValues } from '../../../src/db/nodes.ts'
import { listNodeHistory } from '../../../src/db/node-history.ts'
import type { InterfaceClasses } from '../../../src/drivers/interface-classes.ts'
import { silentLogger } from '../../../src/lib/oslo-log/logger.ts'
import type { Notification } from '../../../src/notifications/notifier.ts'
import type { Node } from '../../../src/objects/index.ts'
import { noauth } from '../../../src/api/auth/noauth.ts'
import { openAuthorizer } from '../../../src/api/authorizer.ts'
import { createApi, type ApiServer } from '../../../src/api/server.ts'
import { routingTo } from '../../../src/api/for-tests.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- recorded JSON
export type Recorded = any

/** Periodic work is run by hand where a recording wants it. */
export const quiet: ConfigOverrides = {
  conductor: { sync_power_state_interval: 0, check_provision_state_interval: 0, power_failure_recovery_interval: 0 },
}

export interface Answer {
  readonly status: number
  readonly body: Recorded
}

export interface Service extends AsyncDisposable {
  readonly conductor: TestConductor
  readonly ask: (method: string, path: string, body?: unknown, version?: string) => Promise<Answer>
}

export interface ServiceOptions {
  readonly config?: ConfigOverrides
  readonly interfaces?: InterfaceClasses
}

/** API and conductor in this process. */
export async function startService({ config = {}, interfaces }: ServiceOptions = {}): Promise<Service> {
  const overrides: ConfigOverrides = { ...config, conductor: { ...quiet.conductor, ...config.conductor } }
  const conductor = await startTestConductor({ config: overrides, ...(interfaces === undefined ? {} : { interfaces }) })
  const api: ApiServer = createApi({
    config: fakeHardwareConfig(overrides),
    db: conductor.db,
    log: silentLogger,
    clock: conductor.running.parts.clock,
    conductors: routingTo(conductor.rpc),
    policy: openAuthorizer,
    authenticator: noauth,
  })
  return {
    conductor,
    async ask(method, path, body, version = '1.115') {
      const answer = await api.inject({
        method: method as 'GET',
        url: path,
        headers: {
          'x-openstack-ironic-api-version': version,
          ...(body === undefined || body === null ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined || body === null ? {} : { payload: JSON.stringify(body) }),
      })
      return { status: answer.statusCode, body: answer.payload === '' ? null : JSON.parse(answer.payload) }
    },
    async [Symbol.asyncDispose]() {
      await api.close()
      await conductor[Symbol.asyncDispose]()
    },
  }
}

const hour = 3600_000
const spokenTimes: Readonly<Record<string, number>> = {
  'an hour ago': hour,
  'two hours ago': 2 * hour,
  'older than the limit': hour,
  'younger than the limit': 0,
}

/** Writes columns behind the service's back, the lock too. */
export async function writeRow({ db }: TestConductor, id: number, row: Recorded): Promise<void> {
  const { reservation, provision_updated_at: updated, inspection_started_at: started, ...values } = row
  if (Object.keys(values).length > 0) await updateNode(db, id, values as NodeValues)
  // whatever time the recording was made with: what matters is how long ago it was
  const time = (told: unknown) => {
    if (told === null) return null
    return encodeTime(new Date(Date.now() - (spokenTimes[String(told)] ?? hour)), db.dialect)
  }
  await db.sql
    .updateTable('nodes')
    .set({
      reservation: reservation ?? null,
      // the recordings wrote the row directly, which sets no time
      provision_updated_at: updated === undefined ? null : time(updated),
      inspection_started_at: started === undefined ? null : time(started),
    })
    .where('id', '=', id)
    .execute()
}

const sorted = (dict: object | null) => Object.keys(dict ?? {}).sort()

/** The row in the words of a recording; `last_error_kept` is told apart by the caller. */
export const rowInWords = (node: Node): Record<string, unknown> => ({
  provision_state: node.provision_state,
  target_provision_state: node.target_provision_state,
  power_state: node.power_state,
  target_power_state: node.target_power_state,
  fault: node.fault,
  instance_uuid: node.instance_uuid,
  reservation: node.reservation,
  lessee: node.lessee,
  boot_mode: node.boot_mode,
  secure_boot: node.secure_boot,
  maintenance: node.maintenance,
  retired: node.retired ?? false,
  protected: node.protected,
  console_enabled: node.console_enabled,
  automated_clean: node.automated_clean,
  clean_step: node.clean_step ?? {},
  deploy_step: node.deploy_step ?? {},
  service_step: node.service_step ?? {},
  last_error_set: node.last_error !== null,
  maintenance_reason_set: node.maintenance_reason !== null,
  retired_reason_set: node.retired_reason !== null,
  protected_reason_set: node.protected_reason !== null,
  inspection_started_at_set: node.inspection_started_at !== null,
  inspection_finished_at_set: node.inspection_finished_at !== null,
  provision_updated_at_set: node.provision_updated_at !== null,
  conductor_affinity_set: node.conductor_affinity !== null,
  allocation_id_set: node.allocation_id !== null,
  driver_internal_info_keys: sorted(node.driver_internal_info),
  instance_info_keys: sorted(node.instance_info),
  properties: node.properties,
})

const conductorEvents = ['provision_set', 'power_set', 'power_state_corrected', 'console_set', 'console_restore']
/** Notifications of the conductor only: those of the API have tests of their own. */
export const ofConductor = (notifications: readonly Recorded[]): Recorded[] =>
  notifications.filter(({ type }) => conductorEvents.includes(String(type).split('.')[2] ?? ''))

export const notificationInWords = ({ event, status, source, extra = {} }: Notification): Record<string, unknown> => {
  const of = (key: string): unknown => extra[key] ?? source[key] ?? null
  const words: Record<string, unknown> = {
    type: `baremetal.${event}.${status}`,
    level: status === 'error' ? 'error' : 'info',
    provision_state: of('provision_state'),
    target_provision_state: of('target_provision_state'),
    power_state: of('power_state'),
    maintenance: of('maintenance'),
    fault: of('fault'),
  }
  for (const key of ['event', 'previous_provision_state', 'to_power', 'from_power']) {
    if (key in extra) words[key] = of(key)
  }
  return words
}

export async function historyInWords({ db }: TestConductor, nodeId: number, from: number): Promise<Recorded[]> {
  const entries = await listNodeHistory(db, nodeId)
  return entries.slice(from).map(({ event_type, severity }) => ({ event_type, severity }))
}
