/** Inspection, manual cleaning and servicing with the real agent behind sushy-tools. */
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { bring } from '../../../src/lab/scenario/life.ts'
import { startServiceUnderTest } from '../service-under-test.ts'
import { startRealMachine, whyNoRealMachine } from './real-machine.ts'

test(
  'what the real agent finds becomes properties, and it runs the steps asked for',
  { timeout: 600_000 },
  async (context) => {
    const reason = await whyNoRealMachine()
    if (reason !== null) {
      context.skip(reason)
      return
    }
    const service = await startServiceUnderTest({
      set: {
        'conductor.power_state_sync_max_retries': 10,
        'inspector.hooks': '$default_hooks,memory,boot-mode,root-device',
      },
    })
    context.after(() => service.close())
    const directory = join(service.directory, 'machine')
    await mkdir(directory)
    const machine = await startRealMachine(directory)
    context.after(() => machine.close())
    const { client } = service
    const options = { limit: 180_000, every: 500 }
    const { uuid } = await client.createNode({
      name: 'real-inspected',
      driver: 'redfish',
      driver_info: machine.driverInfo,
      boot_interface: 'redfish-virtual-media',
      deploy_interface: 'direct',
      inspect_interface: 'agent',
      bios_interface: 'no-bios',
      properties: { capabilities: 'boot_mode:uefi' },
    })
    await client.createPort(uuid, machine.mac)
    await bring(client, uuid, 'manage', 'manageable', options)
    const node = await bring(client, uuid, 'inspect', 'manageable', options)
    assert.ok(node.inspection_finished_at)
    const { inventory } = await client.call<{ inventory: Record<string, unknown> }>(
      'GET',
      `/v1/nodes/${uuid}/inventory`,
    )
    const properties = node['properties'] as Record<string, unknown>
    assert.equal(properties['local_gb'], 4)
    assert.equal(properties['cpu_arch'], 'x86_64')
    assert.ok(Number(properties['memory_mb']) > 0)
    assert.deepEqual((inventory['interfaces'] as Record<string, unknown>[])[0]!['mac_address'], machine.mac)
    const clean_steps = [{ interface: 'deploy', step: 'erase_devices_metadata' }]
    await bring(client, uuid, 'clean', 'manageable', options, { clean_steps })
  },
)
