import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import { redfishBench, type RedfishBench } from '../../../src/drivers/redfish/for-tests.ts'
import { readInventory } from '../../../src/drivers/redfish/inventory.ts'
import { Bmcs } from '../../../src/drivers/redfish/bmcs.ts'
import { IronicError } from '../../../src/errors/define.ts'
import { type Operation, operationsOf, ReplayedBmc } from './replay.ts'

type Body = Record<string, unknown>
type Act = (bench: RedfishBench, operation: Operation) => Promise<unknown>

const image = ({ exchanges }: Operation) =>
  String(
    exchanges.find(({ path }) => path?.endsWith('VirtualMedia.InsertMedia'))?.request_body?.['Image'] ??
      'http://x/none.iso',
  )

async function manage({ power, management, task }: RedfishBench): Promise<void> {
  await power.getPowerState(task)
  await management.getBootMode(task)
  await management.getSecureBootState(task)
}

/** What our driver does for each request of a user that the recordings hold. */
const acts: readonly (readonly [RegExp, Act])[] = [
  [/^PUT .*\/states\/power$/, ({ task }, { body }) => task.powerAction(String(body['target']))],
  [
    /^PUT .*\/management\/boot_device$/,
    ({ management, task }, { body }) =>
      management.setBootDevice(task, String(body['boot_device']), Boolean(body['persistent'])),
  ],
  [/^GET .*\/management\/boot_device$/, ({ management, task }) => management.getBootDevice(task)],
  [
    /^GET .*\/boot_device\/supported$/,
    async ({ management }) => ({ supported_boot_devices: await management.supportedBootDevices() }),
  ],
  [/^PUT .*\/inject_nmi$/, ({ management, task }) => management.injectNmi(task)],
  [
    /^PUT .*\/states\/boot_mode$/,
    ({ management, task }, { body }) => management.setBootMode(task, String(body['target'])),
  ],
  [
    /^PUT .*\/states\/secure_boot$/,
    ({ management, task }, { body }) => management.setSecureBootState(task, Boolean(body['target'])),
  ],
  [/^GET .*\/indicators$/, ({ management, task }) => management.supportedIndicators(task, null)],
  [
    /^GET .*\/indicators\/.+@/,
    async ({ management, task }, { path }) => {
      const [id = '', component = ''] = path.split('/').at(-1)!.split('@')
      return { state: await management.getIndicatorState(task, component, id) }
    },
  ],
  [
    /^PUT .*\/indicators\/.+@/,
    ({ management, task }, { path, body }) => {
      const [id = '', component = ''] = path.split('/').at(-1)!.split('@')
      return management.setIndicatorState(task, component, id, String(body['state']))
    },
  ],
  [/^GET .*\/vmedia$/, ({ management, task }) => management.getVirtualMedia(task)],
  [
    /^POST .*\/vmedia$/,
    ({ management, task }, operation) =>
      management.attachVirtualMedia(task, String(operation.body['device_type']), image(operation)),
  ],
  [
    /^DELETE .*\/vmedia/,
    ({ management, task }, { path }) =>
      management.detachVirtualMedia(task, path.includes('=') ? path.split('=')[1]!.split(',') : []),
  ],
  [
    /^PUT .*\/states\/provision$/,
    async (bench, { body }) => {
      if (body['target'] === 'manage') return manage(bench)
      const bmcs = bench.parts.shared.of(Bmcs, bench.parts)
      if (body['target'] === 'inspect')
        await bmcs.withSystem(bench.task, 'inspect', (system) => readInventory(bench.task, system))
    },
  ],
  [/^GET .*\/states$/, () => Promise.resolve()],
  [/^POST .*\/ports$/, () => Promise.resolve()],
  [/^DELETE .*\/(nodes\/[^/]+|maintenance)$/, () => Promise.resolve()],
]

/** Where we say more than real Ironic did, and why. */
const more: Readonly<Record<string, string>> = {
  vmedia: 'a slot is looked at after inserting and after ejecting',
}

const settle =
  (address: string) =>
  (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value)
        .replace(/http:\/\/\{(bmc2?|sushy-emulator)\}/g, address)
        .replaceAll('{password}', 'secret'),
    ) as unknown

for (const name of readdirSync(new URL('recordings/', import.meta.url))
  .map((file) => file.replace('.json', ''))
  .toSorted()) {
  if (name === 'bmc-resources') continue
  describe(name, () => {
    test('our driver says the same to the BMC, or less', async () => {
      await using bmc = await ReplayedBmc.start()
      const info: Body = {
        redfish_address: bmc.address,
        redfish_system_id: '/redfish/v1/Systems/host',
        redfish_username: 'admin',
        redfish_password: 'secret',
      }
      await using bench = redfishBench(bmc, {
        node: { properties: { capabilities: 'boot_mode:uefi' } },
        config: { redfish: { read_timeout: 1 } },
      })
      bench.node.driver_info = info
      if (name.startsWith('b14')) await bench.power.getPowerState(bench.task) // its session is older than the recording
      for (const operation of operationsOf(name)) {
        const settled = settle(bmc.address)(operation.body) as Body
        if (operation.method === 'POST' && operation.path === '/v1/nodes') {
          bench.node.driver_info = { ...(settled['driver_info'] as Body) }
          continue
        }
        if (operation.method === 'PATCH') {
          for (const patch of operation.body as unknown as { path: string; value: unknown }[]) {
            const key = patch.path.split('/').at(-1)!
            bench.node.driver_info = { ...bench.node.driver_info, [key]: settle(bmc.address)(patch.value) }
          }
          continue
        }
        if (name.startsWith('d') && operation.exchanges.length > 0) useSystemOf(bench, operation)
        const line = `${operation.method} ${operation.path}`
        const act = acts.find(([pattern]) => pattern.test(line))?.[1]
        assert.ok(act !== undefined, `no act for ${line}`)
        const expected = bmc.play(operation)
        const outcome = await act(bench, operation).then(
          (value) => ({ value }),
          (thrown: unknown) => {
            if (!(thrown instanceof IronicError)) throw thrown
            return { thrown }
          },
        )
        const place = `${line} ${JSON.stringify(operation.body)}`
        assert.deepEqual(bmc.strange, [], `${place}: said what real Ironic did not`)
        if (!('thrown' in outcome)) assert.deepEqual(bmc.changes, expected, place)
        const extra = Object.keys(more).some((word) => operation.path.includes(word))
          ? 8
          : /power|boot_mode/.test(operation.path)
            ? 6
            : 0
        const theirs = operation.exchanges.filter(({ method }) => method === 'GET').length
        assert.ok(bmc.reads <= theirs + extra, `${place}: ${bmc.reads} readings, real Ironic ${theirs}`)
        if (operation.method === 'GET' && operation.status === 200 && operation.path.endsWith('boot_device')) {
          assert.deepEqual('value' in outcome ? outcome.value : outcome.thrown, operation.answer, place)
        }
        if (operation.status >= 500) assert.ok('thrown' in outcome, `${place}: should have failed`)
      }
    })
  })
}

/** The emulator names its system by a UUID. */
function useSystemOf(bench: RedfishBench, { exchanges }: Operation): void {
  const path = exchanges
    .map((entry) => /^\/redfish\/v1\/Systems\/[^/]+/.exec(entry.path ?? '')?.[0])
    .find((found) => found !== undefined)
  if (path !== undefined) bench.node.driver_info = { ...bench.node.driver_info, redfish_system_id: path }
}
