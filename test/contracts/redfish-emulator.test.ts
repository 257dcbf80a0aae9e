import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { RedfishBios } from '../../src/drivers/redfish/bios.ts'
import { redfishBench, type RedfishBench } from '../../src/drivers/redfish/for-tests.ts'
import { readInventory } from '../../src/drivers/redfish/inventory.ts'
import { Bmcs } from '../../src/drivers/redfish/bmcs.ts'
import { RedfishConnectionError, UnsupportedDriverExtension } from '../../src/errors/driver.ts'
import { selfSigned } from '../peers/certificates.ts'
import { startSushyEmulator, type SushyEmulator } from '../peers/sushy-emulator.ts'

const benchFor = (bmc: SushyEmulator, info: Record<string, unknown> = {}) =>
  redfishBench(bmc, {
    realTime: true,
    node: {
      driver_info: {
        redfish_address: bmc.address,
        redfish_system_id: bmc.systemId,
        redfish_username: null,
        redfish_password: null,
        ...info,
      },
    },
    config: { redfish: { read_timeout: 20 } },
  })

for (const featureSet of ['full', 'vmedia', 'minimum'] as const) {
  describe(`sushy-tools, feature set ${featureSet}`, () => {
    let bmc: SushyEmulator
    let bench: RedfishBench
    before(async () => {
      bmc = await startSushyEmulator({ featureSet })
      bench = benchFor(bmc)
    })
    after(async () => {
      await bench[Symbol.asyncDispose]()
      await bmc[Symbol.asyncDispose]()
    })

    test('power', async () => {
      const { power, task } = bench
      assert.equal(await power.getPowerState(task), 'power off')
      await power.setPowerState(task, 'power on')
      assert.equal(await power.getPowerState(task), 'power on')
      await power.reboot(task)
      await power.setPowerState(task, 'soft power off', { timeout: 60 })
      assert.equal(await power.getPowerState(task), 'power off')
    })

    test('boot device', async () => {
      const { management, task } = bench
      for (const device of ['pxe', 'disk', 'cdrom']) {
        await management.setBootDevice(task, device, true) // this emulator keeps all of them
        assert.deepEqual(await management.getBootDevice(task), { boot_device: device, persistent: true })
      }
    })

    test('the system is found without its id', async () => {
      await using other = benchFor(bmc, { redfish_system_id: null })
      assert.equal(await other.power.getPowerState(other.task), 'power off')
    })

    if (featureSet !== 'minimum') {
      test('virtual media, in and out', async () => {
        const { management, task } = bench
        await using web = await startWeb()
        await management.attachVirtualMedia(task, 'cdrom', `${web.url}/boot.iso`)
        const cd = async () =>
          (await management.getVirtualMedia(task)).find((slot) => (slot['media_types'] as string[]).includes('CD'))!
        assert.equal((await cd())['inserted'], true)
        await management.detachVirtualMedia(task, ['cdrom'])
        assert.equal((await cd())['inserted'], false)
      })
    }

    if (featureSet === 'full') {
      test('boot mode and secure boot', async () => {
        const { management, task } = bench
        await management.setBootMode(task, 'uefi')
        assert.equal(await management.getBootMode(task), 'uefi')
        await management.setSecureBootState(task, true)
        assert.equal(await management.getSecureBootState(task), true)
        await management.setSecureBootState(task, false)
      })

      test('indicators, MACs, sensors, NMI', async () => {
        const { management, task } = bench
        const lamps = await management.supportedIndicators(task, null)
        for (const [component, found] of Object.entries(lamps)) {
          for (const id of Object.keys(found)) {
            await management.setIndicatorState(task, component, id, 'blinking')
            assert.equal(await management.getIndicatorState(task, component, id), 'blinking')
          }
        }
        assert.ok(Object.keys(lamps).length > 0)
        assert.deepEqual(await management.getMacAddresses(task), [bmc.mac])
        assert.ok('Temperature' in (await management.getSensorsData(task)))
        await assert.rejects(management.injectNmi(task), /501/) // this driver has none, and says so
      })

      test('inspection', async () => {
        const bmcs = bench.parts.shared.of(Bmcs, bench.parts)
        const { inventory } = await bmcs.withSystem(bench.task, 'inspect', (system) =>
          readInventory(bench.task, system),
        )
        assert.equal(inventory['interfaces'][0].mac_address, bmc.mac)
      })

      test('this driver has no BIOS settings, which is told', async () => {
        await assert.rejects(new RedfishBios(bench.parts).cacheBiosSettings(bench.task), UnsupportedDriverExtension)
      })
    }
  })
}

test('a certificate is checked against what driver_info says', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'redfish-tls-'))
  const made = await selfSigned('127.0.0.1')
  const paths = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') }
  await writeFile(paths.key, made.key, { mode: 0o600 })
  await writeFile(paths.cert, made.cert)
  await using bmc = await startSushyEmulator({ featureSet: 'minimum', tls: paths })
  const read = async (verify: unknown, more: Record<string, unknown> = {}) => {
    await using bench = benchFor(bmc, { redfish_verify_ca: verify, ...more })
    return await bench.power.getPowerState(bench.task)
  }
  await assert.rejects(
    read(true),
    (thrown) => thrown instanceof RedfishConnectionError && /redfish_verify_ca/.test(thrown.message),
  )
  assert.equal(await read(false), 'power off')
  assert.equal(await read(paths.cert), 'power off')
  assert.equal(await read(folder), 'power off')
  assert.equal(await read(paths.cert, { redfish_tls_minimum_version: '1.2' }), 'power off')
  await assert.rejects(read(paths.cert, { redfish_tls_minimum_version: '1.3' }), /redfish_tls_minimum_version/) // it speaks 1.2 only
  await assert.rejects(
    read(paths.cert, { redfish_address: bmc.address.replace('127.0.0.1', 'localhost') }),
    /redfish_verify_ca/,
  )
  await rm(folder, { recursive: true })
})

async function startWeb() {
  const server = createServer((_request, response) => response.end('an image'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
