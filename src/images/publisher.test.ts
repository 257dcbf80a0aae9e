import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { testConfig } from '../config/for-tests.ts'
import { InvalidParameterValue } from '../errors/base.ts'
import { ImageUploadFailed } from '../errors/image.ts'
import { bmcPublisherSettings, Publisher, type PublisherSettings } from './publisher.ts'

const folders: string[] = []
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))))

async function publisher(more: Partial<PublisherSettings> = {}) {
  const root = await mkdtemp(join(tmpdir(), 'publisher-'))
  folders.push(root)
  const settings = { root, subfolder: 'redfish', urls: ['http://web/'], fileMode: 0o644, folderMode: 0o755, ...more }
  return { root, publish: new Publisher(settings) }
}
const content = (text: string) => (path: string) => writeFile(path, text, { mode: 0o600 })
const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

test('a file is published under a name that cannot be guessed, with the mode that the web server needs', async () => {
  const { root, publish } = await publisher()
  const url = await publish.publish('boot-n1', '.iso', content('one'))
  const name = /^http:\/\/web\/redfish\/(boot-n1-[A-Za-z0-9_-]{22}\.iso)$/.exec(url)![1]!
  assert.equal(await readFile(join(root, 'redfish', name), 'utf8'), 'one')
  assert.equal(await mode(join(root, 'redfish', name)), '644')
  assert.equal(await mode(join(root, 'redfish')), '755')
})

test('the next one of the same stem takes its place, another stem stays', async () => {
  const { root, publish } = await publisher()
  await publish.publish('boot-n1', '.iso', content('one'))
  await publish.publish('boot-n2', '.iso', content('other'))
  const url = await publish.publish('boot-n1', '.iso', content('two'))
  const names = await readdir(join(root, 'redfish'))
  assert.equal(names.length, 2)
  assert.ok(names.includes(url.split('/').at(-1)!))
  await publish.withdraw('boot-n1')
  await publish.withdraw('boot-n1')
  assert.equal((await readdir(join(root, 'redfish'))).length, 1)
})

test('what fails or was left behind by a crash leaves nothing', async () => {
  const { root, publish } = await publisher()
  await assert.rejects(
    publish.publish('boot-n1', '.iso', () => Promise.reject(new InvalidParameterValue('no'))),
    InvalidParameterValue,
  )
  assert.deepEqual(await readdir(join(root, 'redfish')), [])
  const old = join(root, 'redfish', '.staging-boot-n9-x.iso')
  await writeFile(old, 'half')
  await utimes(old, new Date(0), new Date(0))
  await publish.publish('boot-n1', '.iso', content('one'))
  assert.equal((await readdir(join(root, 'redfish'))).length, 1)
})

test('the address of the node goes first, then the external one, then the usual one', async () => {
  const { publish } = await publisher({ urls: ['http://external', 'http://usual'] })
  assert.match(await publish.publish('a', '.iso', content('')), /^http:\/\/external\/redfish\//)
  assert.match(await publish.publish('a', '.iso', content(''), 'https://own/x/'), /^https:\/\/own\/x\/redfish\//)
  const { publish: none } = await publisher({ urls: [null, ''] })
  await assert.rejects(none.publish('a', '.iso', content('')), /\[deploy\]http_url/)
})

test('a file of the host is linked when everybody may read it, and else copied, never changed', async () => {
  const { root, publish } = await publisher()
  const open = join(root, 'open.iso')
  const shut = join(root, 'shut.iso')
  await writeFile(open, 'o', { mode: 0o644 })
  await writeFile(shut, 's', { mode: 0o600 })
  const name = async (source: string, stem: string) =>
    join(root, 'redfish', (await publish.publishFile(stem, '.iso', source)).split('/').at(-1)!)
  assert.equal((await stat(await name(open, 'a'))).ino, (await stat(open)).ino)
  const copy = await name(shut, 'b')
  assert.notEqual((await stat(copy)).ino, (await stat(shut)).ino)
  assert.deepEqual([await mode(copy), await mode(shut)], ['644', '600'])
})

test('a stem that leads elsewhere is refused, and a root that cannot be written is told', async () => {
  const { root, publish } = await publisher()
  for (const stem of ['../x', 'a/b', '', '.hidden', 'a\0b'])
    await assert.rejects(publish.publish(stem, '', content('')), InvalidParameterValue)
  const file = join(root, 'file')
  await writeFile(file, '')
  const { publish: wrong } = await publisher({ root: file })
  await assert.rejects(wrong.publish('a', '', content('')), ImageUploadFailed)
})

test('Swift is refused in words; with the embedded server nobody else may read', () => {
  assert.throws(() => bmcPublisherSettings(testConfig({ redfish: { use_swift: true } })), /use_swift.*HTTP only/)
  assert.equal(bmcPublisherSettings(testConfig()).fileMode, 0o644)
  assert.equal(bmcPublisherSettings(testConfig({ openkeel: { embedded_http_server: true } })).fileMode, 0o600)
})
