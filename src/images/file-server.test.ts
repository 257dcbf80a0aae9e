import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { silentLogger } from '../lib/oslo-log/logger.ts'
import { FileServer, parseRange } from './file-server.ts'

let folder: string
let server: FileServer

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-server-'))
  await mkdir(join(folder, 'root', 'redfish'), { recursive: true })
  await writeFile(join(folder, 'secret'), 'secret')
  await writeFile(join(folder, 'root', 'redfish', 'boot one.iso'), '0123456789')
  await writeFile(join(folder, 'root', 'empty'), '')
  await writeFile(join(folder, 'root', '.hidden'), 'hidden')
  await symlink(join(folder, 'secret'), join(folder, 'root', 'link'))
  await symlink('redfish/boot one.iso', join(folder, 'root', 'inside'))
  await mkdir(join(folder, 'instances', 'node'), { recursive: true })
  await writeFile(join(folder, 'instances', 'node', 'disk'), 'image')
  await symlink(join(folder, 'instances', 'node', 'disk'), join(folder, 'root', 'instance'))
  const linkedFolders = [join(folder, 'instances'), join(folder, 'not-there')]
  const place = { root: join(folder, 'root'), linkedFolders, host: '127.0.0.1', port: 0 }
  server = await FileServer.start({ ...place, log: silentLogger })
})
after(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

/** As raw as a path can be sent. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: server.address.port, path, method, headers }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (part: string) => (body += part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
      response.on('error', reject)
    })
    sent.on('error', reject).end()
  })
}

test('a file is served whole, in a range, and by HEAD', async () => {
  const whole = await ask('/redfish/boot%20one.iso?x=1')
  assert.deepEqual([whole.status, whole.body, whole.headers['accept-ranges']], [200, '0123456789', 'bytes'])
  const part = await ask('/redfish/boot%20one.iso', { Range: 'bytes=2-4' })
  assert.deepEqual([part.status, part.body, part.headers['content-range']], [206, '234', 'bytes 2-4/10'])
  assert.equal((await ask('/redfish/boot%20one.iso', { Range: 'bytes=-3' })).body, '789')
  assert.equal((await ask('/redfish/boot%20one.iso', { Range: 'bytes=99-' })).status, 416)
  const head = await ask('/redfish/boot%20one.iso', {}, 'HEAD')
  assert.deepEqual([head.status, head.body, head.headers['content-length']], [200, '', '10'])
  assert.equal((await ask('/inside')).body, '0123456789')
  assert.equal((await ask('/instance')).body, 'image', 'a link into the folder of the images of instances')
  assert.equal((await ask('/empty')).status, 200)
  const changed = await ask('/redfish/boot%20one.iso', { Range: 'bytes=2-4', 'If-Range': '"old"' })
  assert.deepEqual([changed.status, changed.body], [200, '0123456789'])
})

test('nothing but the files of the folder is served', async () => {
  const outside = [
    '/',
    '/redfish',
    '/redfish/',
    '/nothing',
    '/link',
    '/.hidden',
    '/../secret',
    '/redfish/../../secret',
    '/%2e%2e/secret',
    '/redfish/%2e%2e%2f%2e%2e%2fsecret',
    '/..%5csecret',
    '//secret',
    `/${'a'.repeat(300)}`,
    '/%00',
    '/%zz',
    '/empty/x',
    'http://x/empty',
  ]
  for (const path of outside) assert.equal((await ask(path)).status, 404, path)
  assert.equal((await ask('/empty', {}, 'PUT')).status, 405)
})

test('ranges as the standard has them', () => {
  assert.deepEqual(parseRange('bytes=0-0', 10), [0, 0])
  assert.deepEqual(parseRange('bytes=5-100', 10), [5, 9])
  assert.deepEqual(parseRange('bytes=-100', 10), [0, 9])
  assert.equal(parseRange('bytes=-0', 10), 'outside')
  for (const whole of [undefined, 'bytes=', 'bytes=-', 'bytes=5-2', 'bytes=0-1,3-4', 'lines=1-2'])
    assert.equal(parseRange(whole, 10), 'whole')
})
