import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { InvalidParameterValue } from '../errors/base.ts'
import {
  kernelAppendParams,
  kernelCommandLineText,
  parseKernelCommandLine,
  sanitizeKernelCommandLine,
} from './kernel-parameters.ts'

interface Case {
  in: {
    fn: string
    args: [string]
    instance_info: Record<string, unknown>
    driver_info: Record<string, unknown>
    default: string | null
    disable_parsing: boolean
  }
  out: unknown
  error?: string
}
const cases = JSON.parse(
  readFileSync(new URL('../../test/vectors/kernel-parameters.json', import.meta.url), 'utf8'),
) as Case[]

const functions: Record<string, (given: Case['in']) => unknown> = {
  kernel_parse_strict: ({ args: [text] }) => {
    const line = parseKernelCommandLine(text)
    const params = [...line.parameters].map(([name, values]) => [name, [...values]])
    const first = Object.fromEntries([...line.parameters].map(([name, values]) => [name, values[0]]))
    return { text: kernelCommandLineText(line), params, init: line.init, set: first }
  },
  kernel_append_params: (given) => kernelAppendParams(given, given.default, { disableParsing: given.disable_parsing }),
  kernel_sanitize: ({ args: [text] }) => sanitizeKernelCommandLine(text),
}

for (const each of cases) {
  test(`measured: ${JSON.stringify(each.in)}`, () => {
    const run = () => functions[each.in.fn]!(each.in)
    if (each.error === undefined) assert.deepEqual(run(), each.out)
    else assert.throws(run, InvalidParameterValue)
  })
}

test('what follows two dashes is for init, unless it could not be that', () => {
  assert.deepEqual(parseKernelCommandLine('a  --  b --c').init, 'b --c')
  assert.deepEqual([...parseKernelCommandLine('a -- b c="d"').parameters.keys()], ['a', '--', 'b', 'c'])
  assert.throws(() => parseKernelCommandLine('a=b"c"'), InvalidParameterValue)
  assert.throws(() => parseKernelCommandLine('a=b\nmenuentry=x'), InvalidParameterValue)
})
