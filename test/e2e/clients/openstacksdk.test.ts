import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { peerVenv, runPython } from '../../peers/python.ts'
import { startServiceUnderTest } from '../service-under-test.ts'

test('openstacksdk takes a node through its life', { timeout: 400_000 }, async () => {
  await using stack = new AsyncDisposableStack()
  const service = await startServiceUnderTest({ set: { 'DEFAULT.enabled_hardware_types': 'fake-hardware' } })
  stack.defer(() => service.close())
  const venv = await peerVenv('openstacksdk', ['openstacksdk==4.22.0'])
  const program = join(import.meta.dirname, 'sdk_life.py')
  const printed = await runPython(venv, ['-W', 'ignore', program, service.api], { timeout: 180_000 })
  assert.equal(printed.trim(), 'done')
})
