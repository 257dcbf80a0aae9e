import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { AmbiguousImage, checkFormat, detectFormat, inspectImage, virtualSize } from './format-inspector.ts'
import { withProbe } from './format-probe.ts'

interface FormatCase {
  in: { fn: 'image_format'; name: string; image: { size: number; parts: { at: number; b64: string }[] } }
  out: { detected: unknown; virtual_size: unknown; safe_format: unknown }
}
interface PermittedCase {
  in: { fn: 'image_permitted'; format: string | null; expected: string | null; permitted: string[] }
  error?: string
}

const cases = JSON.parse(readFileSync(new URL('../../test/vectors/utils.json', import.meta.url), 'utf8')) as (
  | FormatCase
  | PermittedCase
)[]

let folder: string
before(async () => void (folder = await mkdtemp(join(tmpdir(), 'formats-'))))
after(async () => await rm(folder, { recursive: true }))

async function write({ size, parts }: FormatCase['in']['image']): Promise<string> {
  const path = join(folder, 'image')
  const handle = await open(path, 'w')
  for (const { at, b64 } of parts) await handle.write(Buffer.from(b64, 'base64'), 0, null, at)
  await handle.truncate(size)
  await handle.close()
  return path
}

const failed = (error: unknown) => ({
  error: (error as Error).name === 'AmbiguousImage' ? 'ImageFormatError' : (error as Error).name,
})

test('image formats are told and judged as Ironic does', async () => {
  for (const one of cases) {
    if (one.in.fn !== 'image_format') continue
    const path = await write(one.in.image)
    const found = await withProbe(path, async (probe) => {
      try {
        const detected = await detectFormat(probe)
        return { detected, virtual_size: await virtualSize(probe, detected) }
      } catch (error) {
        assert.ok(error instanceof AmbiguousImage)
        return { detected: failed(error), virtual_size: failed(error) }
      }
    })
    const safe = await inspectImage(path, 'image').then(({ format }) => format, failed)
    const { out } = one as FormatCase
    // a descriptor alone has no size; the original fails on the question
    const size = (out.virtual_size as { error?: string }).error === 'KeyError' ? 0 : out.virtual_size
    assert.deepEqual({ ...found, safe_format: safe }, { ...out, virtual_size: size }, one.in.name)
  }
})

test('formats are permitted by configuration and declaration as Ironic does', () => {
  for (const one of cases) {
    if (one.in.fn !== 'image_permitted') continue
    const { format, expected, permitted } = one.in
    const check = () => checkFormat(format, expected, permitted, 'x')
    if ((one as PermittedCase).error === undefined) check()
    else assert.throws(check, { name: 'InvalidImage' }, JSON.stringify(one))
  }
})
