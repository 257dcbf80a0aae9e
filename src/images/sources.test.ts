import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ClockForTests } from '../agent/agent-for-tests.ts'
import { type ConfigOverrides, testConfig } from '../config/for-tests.ts'
import { errorNamed } from '../errors/define.ts'
import { ImageDownloadFailed } from '../errors/image.ts'
import { silentLogger } from '../lib/oslo-log/logger.ts'
import { credentialsAllowed, pullSecret } from './credentials.ts'
import { fetchImage } from './fetch.ts'
import { openImageFile, pathOfFileUrl } from './file-source.ts'
import { ImageServers } from './http.ts'
import { checkIsoPath } from './iso9660-reader.ts'
import { checkShareReference } from './reference.ts'

interface Case {
  in: {
    fn: string
    href: string
    allowed: string[]
    hosts: string[]
    permit_unknown: boolean
    service: string
    instance_info: Record<string, unknown>
    driver_info: Record<string, unknown>
    permit_user_auth: boolean
    folder: string
    file: string | null
  }
  out?: unknown
  error?: string
}
const cases = JSON.parse(readFileSync(new URL('../../test/vectors/utils.json', import.meta.url), 'utf8')) as Case[]

const run: Record<string, (given: Case['in']) => unknown> = {
  file_url: ({ href, allowed }) => pathOfFileUrl(href, allowed),
  auth_host: ({ href, hosts, permit_unknown }) =>
    credentialsAllowed(
      href,
      testConfig({
        deploy: { image_server_auth_hosts: hosts, image_server_auth_permit_unknown_hosts: permit_unknown },
      }).deploy,
    ),
  share_url: ({ service, href }) => checkShareReference(service === 'NfsImageService' ? 'nfs' : 'cifs', href) ?? null,
  iso_path: ({ folder, file }) => checkIsoPath(folder, file) ?? null,
  pull_secret: (given) => pullSecret(given, testConfig().deploy, given.permit_user_auth),
}

test('image references are judged as Ironic does', () => {
  for (const one of cases) {
    const judge = run[one.in.fn]
    if (judge === undefined) continue
    const label = JSON.stringify(one)
    if (one.error === undefined) assert.deepEqual(judge(one.in), one.out, label)
    else {
      assert.ok(errorNamed(one.error))
      assert.throws(() => judge(one.in), { name: one.error }, label)
    }
  }
})

type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface Seen {
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
}

async function serve(t: TestContext, handler: Handler): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    seen.push({
      method: request.method!,
      path: request.url!,
      authorization: request.headers.authorization,
    })
    handler(request, response)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

function serversFor(t: TestContext, overrides: ConfigOverrides = {}): ImageServers {
  const servers = new ImageServers(testConfig(overrides))
  t.after(() => servers.close())
  return servers
}

const redirect = (response: ServerResponse, location: string, status = 302) => {
  response.writeHead(status, { location })
  response.end()
}

test('redirects are followed to the end, relative ones too, and circles are not', async (t) => {
  const { url } = await serve(t, ({ url: path }, response) => {
    if (path === '/a') redirect(response, '/b', 301)
    else if (path === '/b') redirect(response, 'c/d?x=1', 303)
    else if (path === '/c/d?x=1') redirect(response, './e', 307)
    else if (path === '/circle') redirect(response, '/circle2', 308)
    else if (path === '/circle2') redirect(response, '/circle')
    else if (path?.startsWith('/endless')) redirect(response, `${path}x`)
    else if (path === '/scheme') redirect(response, 'file:///etc/passwd')
    else {
      response.writeHead(200, { 'content-length': '5', 'last-modified': 'Tue, 01 Dec 2026 10:00:00 GMT', etag: '"x"' })
      response.end()
    }
  })
  const servers = serversFor(t)
  const head = await servers.head(`${url}/a`)
  assert.equal(head.url, `${url}/c/e`)
  assert.equal(head.size, 5)
  assert.equal(head.etag, '"x"')
  assert.deepEqual(head.lastModified, new Date('2026-12-01T10:00:00Z'))
  for (const path of ['/circle', '/endless', '/scheme']) {
    await assert.rejects(servers.head(url + path), { name: 'ImageRefValidationFailed' }, path)
  }
})

test('credentials go to the servers they are for, and to no other by a redirect', async (t) => {
  const other = await serve(t, (_request, response) => response.end('x'))
  const { url, seen } = await serve(t, ({ url: path }, response) => {
    if (path === '/away') redirect(response, `${other.url.replace('127.0.0.1', 'localhost')}/x`)
    else response.end('x')
  })
  const servers = serversFor(t, {
    deploy: {
      image_server_auth_strategy: 'http_basic',
      image_server_user: 'user',
      image_server_password: 'word',
      image_server_auth_hosts: ['127.0.0.1'],
    },
  })
  await servers.head(`${url}/away`)
  await servers.head(`${url}/here`)
  const expected = `Basic ${Buffer.from('user:word').toString('base64')}`
  assert.deepEqual(
    seen.map(({ authorization }) => authorization),
    [expected, expected],
  )
  assert.deepEqual(
    other.seen.map(({ authorization }) => authorization),
    [undefined],
  )
  // written into the URL they are for that server alone
  const plain = serversFor(t)
  await plain.head(`${url.replace('//', '//me:mine@')}/away`)
  assert.equal(seen.at(-1)!.authorization, `Basic ${Buffer.from('me:mine').toString('base64')}`)
  assert.equal(other.seen.at(-1)!.authorization, undefined)
})

test('what a server answers instead of an image is told, without the password in the URL', async (t) => {
  const { url } = await serve(t, ({ url: path }, response) => {
    response.writeHead(path === '/folder/' ? 403 : 404)
    response.end()
  })
  const servers = serversFor(t)
  await assert.rejects(servers.head(`${url.replace('//', '//me:mine@')}/x`), (error: Error) => {
    assert.match(error.message, /404/)
    assert.ok(!error.message.includes('mine'))
    return error.name === 'ImageRefValidationFailed'
  })
  await assert.rejects(servers.head('http://127.0.0.1:1/x'), { name: 'ImageRefValidationFailed' })
  await assert.rejects(servers.get(`${url}/x`), { name: 'ImageRefValidationFailed' })
  assert.equal((await servers.head(`${url}/folder/`)).status, 403)
})

test('a server that stalls is given up, and a body that ends early is an error', async (t) => {
  const { url } = await serve(t, ({ url: path }, response) => {
    if (path === '/silent') return
    response.writeHead(200, { 'content-length': '1000' })
    response.write('half')
    if (path === '/short') setTimeout(() => response.destroy(), 20)
  })
  const servers = serversFor(t, { DEFAULT: { webserver_connection_timeout: 1, webserver_verify_timeout: 1 } })
  await assert.rejects(servers.head(`${url}/silent`), { name: 'ImageRefValidationFailed' })
  for (const path of ['/stalls', '/short']) {
    await assert.rejects(servers.text(url + path), { name: 'ImageDownloadFailed' }, path)
  }
})

test('a list of checksums has a limit', async (t) => {
  const { url } = await serve(t, (_request, response) => response.end(Buffer.alloc(1024 * 1024 + 1, 'x')))
  await assert.rejects(serversFor(t).text(url), { name: 'ImageDownloadFailed' })
})

test('file sources: links are resolved and judged, devices and pipes are no images', async (t) => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'file-sources-')))
  t.after(() => rm(root, { recursive: true }))
  const allowed = join(root, 'images')
  const secret = join(root, 'secret')
  await Promise.all([mkdir(allowed), mkdir(secret)])
  await writeFile(join(allowed, 'image'), 'content')
  await writeFile(join(secret, 'key'), 'secret')
  await symlink('image', join(allowed, 'link'))
  await symlink(join(secret, 'key'), join(allowed, 'out'))
  await symlink(secret, join(allowed, 'folder'))
  await symlink('/dev/zero', join(allowed, 'zero'))
  await symlink(root, join(root, 'by-link'))
  execFileSync('mkfifo', [join(allowed, 'pipe')])
  const open = async (name: string, list = [allowed]) => {
    const file = await openImageFile(`file://${name.startsWith('/') ? name : join(allowed, name)}`, list)
    await file.handle.close()
    return file
  }
  assert.equal((await open('link')).path, join(allowed, 'image'))
  assert.equal((await open('image')).size, 7)
  // the allow-list itself may go through a link
  const linked = join(root, 'by-link', 'images')
  assert.equal((await open(join(linked, 'image'), [linked])).path, join(allowed, 'image'))
  for (const name of [
    'out',
    'folder/key',
    'zero',
    'pipe',
    '.',
    'missing',
    '../secret/key',
    '/dev/null',
    '/proc/self/environ',
  ]) {
    await assert.rejects(open(name), { name: 'ImageRefValidationFailed' }, name)
  }
  for (const href of [
    'file:image',
    'file://image',
    'file:///etc/passwd',
    `file://${allowed}/%2e%2e/secret/key`,
    'file:///\0',
  ]) {
    await assert.rejects(openImageFile(href, [allowed, '/']), { name: 'ImageRefValidationFailed' }, href)
  }
})

test('a full disk ends a download at once', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'full-disk-'))
  t.after(() => rm(folder, { recursive: true }))
  let gets = 0
  const server = createServer((_request, response) => {
    gets++
    response.end('image')
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  const config = testConfig()
  const servers = new ImageServers(config)
  t.after(() => servers.close())
  const path = join(folder, 'image')
  await symlink('/dev/full', path)
  const parts = { config, servers, log: silentLogger, clock: new ClockForTests() }
  const { port } = server.address() as AddressInfo
  await assert.rejects(
    fetchImage(parts, `http://127.0.0.1:${port}/image`, path),
    (error) => error instanceof ImageDownloadFailed && /disk of this conductor is full/.test(error.message),
  )
  assert.equal(gets, 1)
  assert.deepEqual(await readdir(folder), [])
})
