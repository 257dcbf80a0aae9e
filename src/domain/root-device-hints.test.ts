import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  type Device,
  findDevicesByHints,
  type HintReader,
  matchRootDeviceHints,
  parseRootDeviceHints,
} from './root-device-hints.ts'
import { specificationMatches } from './specs-matcher.ts'

interface Case {
  in: {
    fn: string
    impl?: HintReader
    hints?: Record<string, unknown>
    devices?: 'STD' | Device[]
    args?: [string, string]
  }
  out?: unknown
  error?: string
}

const cases = JSON.parse(
  readFileSync(new URL('../../test/vectors/root-device-hints.json', import.meta.url), 'utf8'),
) as Case[]
const standard = cases[0]!.out as Device[]

const run: Record<string, (given: Case['in']) => unknown> = {
  parse: ({ hints, impl }) => parseRootDeviceHints(hints, impl),
  match: ({ devices, hints, impl }) =>
    findDevicesByHints(devices === 'STD' ? standard : devices!, hints!, impl).map((device) => device['name']),
  first: ({ devices, hints, impl }) => matchRootDeviceHints(devices === 'STD' ? standard : devices!, hints!, impl),
  spec_match: ({ args }) => specificationMatches(...args!),
}

test('root device hints are read and matched as Ironic and its agent do', () => {
  for (const one of cases.slice(1)) {
    const label = JSON.stringify(one).slice(0, 300)
    if (one.error === undefined) assert.deepEqual(run[one.in.fn]!(one.in), one.out, label)
    else assert.throws(() => run[one.in.fn]!(one.in), label)
  }
})
