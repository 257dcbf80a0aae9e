import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redfishBench } from '../../src/drivers/redfish/for-tests.ts'
import { mediaPath, ScriptedBmc, standardTree, systemPath } from '../../src/lib/redfish/for-tests.ts'

test('leave any property out, or null, or of another type: it works or says which', async () => {
  const operations = async (bench: ReturnType<typeof redfishBench>) => {
    await bench.power.getPowerState(bench.task)
    await bench.power.setPowerState(bench.task, 'power on', { timeout: 5 })
    await bench.management.setBootDevice(bench.task, 'cdrom', false)
    await bench.management.getBootMode(bench.task)
    await bench.management.getMacAddresses(bench.task)
    await bench.management.attachVirtualMedia(bench.task, 'cdrom', 'http://x/a.iso')
    await bench.management.detachVirtualMedia(bench.task, [])
    await bench.management.getSensorsData(bench.task)
    await bench.management.supportedIndicators(bench.task, null)
  }
  const tolerated = /InvalidParameterValue|RedfishError|PowerStateFailure|UnsupportedDriverExtension/
  for (const path of [
    '/redfish/v1',
    '/redfish/v1/Systems',
    systemPath,
    '/redfish/v1/Managers/bmc',
    mediaPath,
    `${mediaPath}/Cd`,
    '/redfish/v1/Chassis/1',
    `${systemPath}/EthernetInterfaces/1`,
  ]) {
    for (const property of Object.keys(standardTree[path]!)) {
      for (const change of ['gone', null, 7, [], 'text'] as const) {
        const body = structuredClone(standardTree[path]!)
        if (change === 'gone') delete body[property]
        else body[property] = change
        await using bmc = await ScriptedBmc.start({ ...standardTree, [path]: body })
        await using bench = redfishBench(bmc)
        try {
          await operations(bench)
        } catch (thrown) {
          const text = `${path} ${property} ${String(change)}: ${String((thrown as Error).stack)}`
          assert.match((thrown as Error).name, tolerated, text)
          assert.ok((thrown as Error).message.length > 30, text)
        }
      }
    }
  }
})
