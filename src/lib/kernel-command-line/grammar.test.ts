import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isKernelCommandLine } from './grammar.ts'

it('takes kernel command lines and nothing else', () => {
  const good = [
    '',
    'a',
    'a=b c=d',
    ' a=b ',
    'a=b=c',
    'a==b',
    '-- init',
    'a=b -- ',
    'a --b',
    'a="b"c',
    'a=bc="x y"',
    'a=b\r',
  ]
  good.push('nofb vga=normal', 'ipa-api-url=http://[::1]:6385/', 'a -- /sbin/init -x', 'a=b;c', 'a=$x', 'a="x y" b')
  for (const text of good) assert.ok(isKernelCommandLine(text), text)
  const bad = [
    "a='b c'",
    'a=""',
    'a\tb',
    'a=é',
    'a/b=1',
    'a,b',
    'x a="b"c',
    '-- /sbin/init',
    'bad value!',
    'a="b',
    'a=\nb',
  ]
  for (const text of bad) assert.ok(!isKernelCommandLine(text), text)
})

it('refuses a long hostile text quickly', () => {
  const started = performance.now()
  assert.ok(!isKernelCommandLine(`${'a="b'.repeat(2000)}\u0000`))
  assert.ok(!isKernelCommandLine(`${'aaaa'.repeat(5000)} !`))
  assert.ok(!isKernelCommandLine(`${'a=a'.repeat(2000)}"`))
  assert.ok(performance.now() - started < 1000)
})
