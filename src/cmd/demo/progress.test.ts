import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Progress } from './progress.ts'

test('off a terminal: one plain line per change, none for what is the same', () => {
  const written: string[] = []
  const progress = new Progress({ write: (text) => written.push(text), isTTY: false })
  progress.start(['lab-1', 'lab-2'])
  progress.update('lab-1', { phase: 'manage' })
  progress.update('lab-1', { state: 'verifying' })
  progress.update('lab-1', { state: 'verifying' })
  progress.update('lab-2', { phase: 'deploy', state: 'deploying', step: 'write_image', power: 'power on' })
  progress.update('nobody', { phase: 'manage' })
  progress.stop()
  const lines = written.join('').trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => line.replace(/^ *\d+\.\d s {2}/, '')),
    ['lab-1  manage', 'lab-1  manage, verifying', 'lab-2  deploy, deploying, step write_image, power on'],
  )
})

test('on a terminal: every node has a line, drawn over the former one', () => {
  const written: string[] = []
  const progress = new Progress({ write: (text) => written.push(text), isTTY: true })
  progress.start(['lab-1', 'lab-2'])
  progress.update('lab-1', { outcome: 'active', reason: 'image written' })
  progress.update('lab-2', { outcome: 'failed', reason: 'no power' })
  progress.stop()
  progress.stop()
  const [first = '', second = ''] = written
  assert.match(first, /✔ lab-1.*image written\n.*✘ lab-2.*no power\n$/)
  assert.ok(second.startsWith('\u001b[2A'), 'goes up over the two lines')
})
