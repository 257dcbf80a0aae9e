import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ClockForTests } from '../agent/agent-for-tests.ts'
import { type ConfigOverrides, testConfig } from '../config/for-tests.ts'
import { silentLogger } from '../lib/oslo-log/logger.ts'
import { ImageCache, type WantedImage } from './cache.ts'
import { cleanUpFolder, ensureSpace, removeAbandoned } from './cache-folder.ts'
import { ImageServers } from './http.ts'
import { NamedLocks, Places } from './locks.ts'
import { uuidOfUrl } from './uuid5.ts'

const sha256 = (content: Buffer | string) => createHash('sha256').update(content).digest('hex')

interface Setup {
  folder: string
  url: string
  /** what the server gives, by path */
  files: Record<string, { body: Buffer; headers?: Record<string, string>; broken?: number }>
  gets: string[]
  cache: ImageCache
  clock: ClockForTests
  want(path: string, more?: Partial<WantedImage>): WantedImage
}

async function setUp(t: TestContext, overrides: ConfigOverrides = {}): Promise<Setup> {
  const folder = await mkdtemp(join(tmpdir(), 'image-cache-'))
  const files: Setup['files'] = {}
  const gets: string[] = []
  const server = createServer((request, response) => {
    const file = files[request.url!]
    if (file === undefined) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-length': String(file.body.length), ...file.headers })
    if (request.method === 'HEAD') {
      response.end()
      return
    }
    gets.push(request.url!)
    if (file.broken !== undefined && file.broken-- > 0) {
      response.write(file.body.subarray(0, 10), () => response.destroy())
      return
    }
    response.end(file.body)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const config = testConfig(overrides)
  const servers = new ImageServers(config)
  const clock = new ClockForTests()
  const cache = new ImageCache(
    { config, clock, log: silentLogger, servers },
    { folder: join(folder, 'master'), limits: { size: 1024 ** 3, ageMs: 1e15 }, inspect: true },
  )
  t.after(async () => {
    await servers.close()
    server.closeAllConnections()
    await new Promise((resolve) => void server.close(resolve))
    await rm(folder, { recursive: true })
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let count = 0
  const want = (path: string, more: Partial<WantedImage> = {}): WantedImage => ({
    href: url + path,
    destination: join(folder, 'nodes', String(count++), 'disk'),
    toRaw: false,
    format: null,
    ...more,
  })
  return { folder, url, files, gets, cache, clock, want }
}

const masters = async ({ folder }: Setup) =>
  (await readdir(join(folder, 'master'))).filter((name) => !name.endsWith('.json'))

test('an image is fetched once while the server says that it is the same', async (t) => {
  const it = await setUp(t)
  it.files['/a'] = { body: Buffer.from('one'), headers: { etag: '"1"' } }
  const first = it.want('/a')
  await it.cache.fetch(first)
  const second = it.want('/a')
  await it.cache.fetch(second)
  assert.equal(it.gets.length, 1)
  assert.equal((await stat(first.destination)).ino, (await stat(second.destination)).ino)
  // same length, same time, other content
  it.files['/a'] = { body: Buffer.from('two'), headers: { etag: '"2"' } }
  await it.cache.fetch(second)
  assert.equal(await readFile(second.destination, 'utf8'), 'two')
  assert.equal(await readFile(first.destination, 'utf8'), 'one')
  assert.equal(it.gets.length, 2)
})

test('without a proof of freshness an image is fetched again, and one that must not be kept is not', async (t) => {
  const it = await setUp(t)
  it.files['/bare'] = { body: Buffer.from('x') }
  it.files['/dated'] = { body: Buffer.from('x'), headers: { 'last-modified': 'Tue, 01 Dec 2026 10:00:00 GMT' } }
  it.files['/secret'] = { body: Buffer.from('x'), headers: { etag: '"1"', 'cache-control': 'private, no-store' } }
  for (const path of ['/bare', '/bare', '/dated', '/dated', '/secret', '/secret']) await it.cache.fetch(it.want(path))
  assert.deepEqual(it.gets, ['/bare', '/bare', '/dated', '/secret', '/secret'])
  assert.deepEqual((await masters(it)).sort(), [`${it.url}/bare`, `${it.url}/dated`].map(uuidOfUrl).sort())
})

test('many that want one image at once wait for one download', async (t) => {
  const it = await setUp(t)
  it.files['/a'] = { body: Buffer.alloc(100_000, 1), headers: { etag: '"1"' } }
  const wanted = Array.from({ length: 20 }, () => it.want('/a'))
  await Promise.all(wanted.map((one) => it.cache.fetch(one)))
  assert.equal(it.gets.length, 1)
  const sizes = await Promise.all(wanted.map(async ({ destination }) => (await stat(destination)).size))
  assert.ok(sizes.every((size) => size === 100_000))
})

test('a download that breaks off or comes wrong is tried again, and leaves nothing when it fails', async (t) => {
  const it = await setUp(t)
  const body = Buffer.alloc(5000, 7)
  it.files['/a'] = { body, broken: 2 }
  const checksum = { checksum: sha256(body), algorithm: 'sha256' }
  await it.cache.fetch(it.want('/a', { checksum }))
  assert.equal(it.gets.length, 3)
  const wrong = it.want('/a', { checksum: { checksum: sha256('other'), algorithm: null } })
  await assert.rejects(it.cache.fetch({ ...wrong, checksum: { checksum: sha256('other'), algorithm: 'sha256' } }), {
    name: 'ImageChecksumError',
  })
  assert.equal(it.gets.length, 6)
  it.files['/a'] = { body, broken: 100 }
  await assert.rejects(it.cache.fetch(wrong), { name: 'ImageDownloadFailed' })
  await assert.rejects(stat(wrong.destination), { code: 'ENOENT' })
  assert.deepEqual(await masters(it), [])
})

test('a kept image was checked against the checksum that is asked for, or is fetched anew', async (t) => {
  const it = await setUp(t)
  const body = Buffer.from('content')
  it.files['/a'] = { body, headers: { etag: '"1"' } }
  const good = { checksum: `sha256:${sha256(body)}`, algorithm: null }
  await it.cache.fetch(it.want('/a'))
  await it.cache.fetch(it.want('/a', { checksum: good }))
  await it.cache.fetch(it.want('/a', { checksum: good }))
  assert.equal(it.gets.length, 2)
  const bad = { checksum: sha256('x'), algorithm: 'sha256' }
  await assert.rejects(it.cache.fetch(it.want('/a', { checksum: bad })), { name: 'ImageChecksumError' })
})

test('MD5 is refused where it is not allowed, however it is written', async (t) => {
  const it = await setUp(t, { agent: { allow_md5_checksum: false } })
  it.files['/a'] = { body: Buffer.from('a') }
  const digits = '0cc175b9c0f1b6a831c399e269772661'
  for (const checksum of [
    { checksum: digits, algorithm: null },
    { checksum: `md5:${digits}`, algorithm: null },
    { checksum: digits, algorithm: 'MD5' },
  ]) {
    await assert.rejects(it.cache.fetch(it.want('/a', { checksum })), { name: 'ImageChecksumAlgorithmFailure' })
  }
  assert.equal(it.gets.length, 0)
})

const qcow2 = (size: bigint, { backing = 0n } = {}): Buffer => {
  const header = Buffer.alloc(64 * 1024)
  header.write('QFI\xfb', 'latin1')
  header.writeUInt32BE(3, 4)
  header.writeBigUInt64BE(backing, 8)
  header.writeUInt32BE(16, 20)
  header.writeBigUInt64BE(size, 24)
  return header
}

test('an image is what it is declared as and what is allowed, or it is refused', async (t) => {
  const it = await setUp(t)
  it.files['/q'] = { body: qcow2(1024n), headers: { etag: '"1"' } }
  it.files['/backing'] = { body: qcow2(1024n, { backing: 100n }) }
  it.files['/vdi'] = {
    body: Buffer.concat([Buffer.alloc(64), Buffer.from([0x7f, 0x10, 0xda, 0xbe]), Buffer.alloc(600)]),
  }
  await assert.rejects(it.cache.fetch(it.want('/q', { format: 'raw' })), { name: 'InvalidImage' })
  await assert.rejects(it.cache.fetch(it.want('/backing')), /backing file/)
  await assert.rejects(it.cache.fetch(it.want('/vdi')), /permitted_image_formats/)
  assert.deepEqual(await masters(it), [])
  assert.deepEqual(await it.cache.fetch(it.want('/q', { format: 'qcow2' })), { format: 'qcow2' })
  // a kept one is judged as well
  await assert.rejects(it.cache.fetch(it.want('/q', { format: 'raw' })), { name: 'InvalidImage' })
})

const installed = (program: string) => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const converter = installed('qemu-img') && installed('prlimit') ? false : 'qemu-img or prlimit is not installed'

test('an image is converted to raw, byte for byte, with limits', { skip: converter }, async (t) => {
  const it = await setUp(t)
  const raw = join(it.folder, 'raw')
  const content = Buffer.alloc(3 * 1024 * 1024, 0)
  content.write('start of the disk')
  content.write('end of the disk', content.length - 20)
  await writeFile(raw, content)
  execFileSync('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', raw, join(it.folder, 'q')])
  const body = await readFile(join(it.folder, 'q'))
  it.files['/q'] = { body, headers: { etag: '"1"' } }
  const checksum = { checksum: sha256(body), algorithm: 'sha256' }
  const wanted = it.want('/q', { toRaw: true, format: 'qcow2', checksum })
  assert.deepEqual(await it.cache.fetch(wanted), { format: 'qcow2' })
  assert.ok((await readFile(wanted.destination)).equals(content))
  assert.deepEqual(await masters(it), [`${uuidOfUrl(`${it.url}/q`)}.converted`])
  // a header that promises a disk whose tables are not there
  it.files['/bad'] = { body: qcow2(1024n * 1024n), headers: { etag: '"1"' } }
  await assert.rejects(it.cache.fetch(it.want('/bad', { toRaw: true })), { name: 'ImageConvertFailed' })
})

test('a raw disk is not converted, with or without a partition table', async (t) => {
  const it = await setUp(t)
  const disk = Buffer.alloc(4096)
  disk.writeUInt16LE(0xaa55, 510)
  disk[450] = 0x83
  it.files['/disk'] = { body: disk }
  const wanted = it.want('/disk', { toRaw: true, format: 'raw' })
  assert.deepEqual(await it.cache.fetch(wanted), { format: 'gpt' })
  assert.ok((await readFile(wanted.destination)).equals(disk))
})

test('a file is taken from its place, checked, and not kept', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'image-files-'))
  t.after(() => rm(folder, { recursive: true }))
  const it = await setUp(t, { conductor: { file_url_allowed_paths: [folder] } })
  await writeFile(join(folder, 'image'), 'content')
  const href = `file://${folder}/image`
  const wanted = it.want('', { href, checksum: { checksum: sha256('content'), algorithm: 'sha256' } })
  await it.cache.fetch(wanted)
  assert.equal(await readFile(wanted.destination, 'utf8'), 'content')
  assert.deepEqual(await masters(it), [])
  const wrong = it.want('', { href, checksum: { checksum: sha256('x'), algorithm: 'sha256' } })
  await assert.rejects(it.cache.fetch(wrong), { name: 'ImageChecksumError' })
  assert.equal(await readFile(join(folder, 'image'), 'utf8'), 'content')
  await assert.rejects(it.cache.fetch(it.want('', { href: 'file:///etc/passwd' })), {
    name: 'ImageRefValidationFailed',
  })
})

test('sources that are not there are told as such', async (t) => {
  const it = await setUp(t)
  await assert.rejects(it.cache.fetch(it.want('/none')), /404/)
  for (const href of ['oci://h/x@sha256:1', '1be26c0b-03f2-4d2e-ae87-c02d7f33c123', 'ftp://h/x', 'nfs://h/x']) {
    await assert.rejects(it.cache.fetch(it.want('', { href })), { name: 'ImageRefValidationFailed' }, href)
  }
})

test('the cache is kept within its age and size, and never loses what is used', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'cache-folder-'))
  t.after(() => rm(folder, { recursive: true }))
  const names = ['a', 'b', 'c', 'd']
  for (const name of names) await writeFile(join(folder, name), Buffer.alloc(1000))
  await mkdir(join(folder, 'folder'))
  const now = new Date(Date.now() + 1000)
  const there = async () => (await readdir(folder)).filter((name) => names.includes(name)).sort()
  // a change of times is a use as well, so these are all of now; the order is that of access
  for (const [index, name] of names.entries()) {
    await utimes(join(folder, name), new Date(now.getTime() + index * 1000), new Date(0))
  }
  const none = { size: 1e9, ageMs: 1e12 }
  await cleanUpFolder(folder, none, now, silentLogger)
  assert.deepEqual(await there(), ['a', 'b', 'c', 'd'])
  await cleanUpFolder(folder, { ...none, size: 3500 }, now, silentLogger)
  assert.deepEqual(await there(), ['b', 'c', 'd'])
  assert.equal(await cleanUpFolder(folder, none, now, silentLogger, 500), 1000)
  assert.deepEqual(await there(), ['c', 'd'])
  execFileSync('ln', [join(folder, 'c'), join(folder, 'folder', 'used')])
  await cleanUpFolder(folder, { size: 0, ageMs: 0 }, new Date(now.getTime() + 1e9), silentLogger)
  assert.deepEqual(await there(), ['c'])
  await assert.rejects(ensureSpace(folder, 1e18, none, now, silentLogger), { name: 'InsufficientDiskSpace' })
})

test('downloads that a dead process left are removed, those of a living one are not', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'cache-abandoned-'))
  t.after(() => rm(folder, { recursive: true }))
  const living = `partial-${process.ppid}-x`
  for (const name of ['partial-999999999-x', living, 'other']) await mkdir(join(folder, name))
  await removeAbandoned(folder)
  assert.deepEqual((await readdir(folder)).sort(), ['other', living].sort())
  await removeAbandoned(join(folder, 'none'))
})

test('locks let one in at a time, places a few', async () => {
  const locks = new NamedLocks()
  const places = new Places(2)
  const inside = { locks: 0, places: 0 }
  const most = { locks: 0, places: 0 }
  const body = (kind: 'locks' | 'places') => async () => {
    most[kind] = Math.max(most[kind], ++inside[kind])
    await new Promise((resolve) => void setImmediate(resolve))
    inside[kind]--
  }
  const failing = locks.with('x', () => Promise.reject(new Error('fails'))).catch(() => undefined)
  await Promise.all([
    failing,
    ...[1, 2, 3].map(() => locks.with('x', body('locks'))),
    ...[1, 2, 3, 4].map(() => places.with(body('places'))),
  ])
  assert.deepEqual(most, { locks: 1, places: 2 })
})

test('images are named as Python names them', () => {
  assert.equal(uuidOfUrl('http://images.example.com/a.qcow2'), '926f865e-eb95-5e6a-a754-4d5bfdf91f82')
})
