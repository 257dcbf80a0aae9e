import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import vectors from '../../../test/vectors/hash.json' with { type: 'json' }
import { basicCredentials, basicToken, MalformedAuthorization } from './header.ts'
import { checkHtpasswd, Htpasswd, HtpasswdFileError, WrongCredentials } from './htpasswd.ts'
import { Busy, Turnstile } from './turnstile.ts'

interface Vector {
  readonly in: {
    fn: string
    file?: string | null
    user?: string
    password?: string
    token?: string
    header?: string | null
  }
  readonly out?: unknown
  readonly error?: string
}

/** Our class where the real one has its own; anything else only has to be refused. */
const kinds: Record<string, new (...args: never[]) => Error> = {
  Unauthorized: WrongCredentials,
  ConfigInvalid: HtpasswdFileError,
  Invalid: MalformedAuthorization,
}

async function inFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'htpasswd-'))
  try {
    return await body(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function ask(
  { fn, file, user = '', password = '', token = '', header }: Vector['in'],
  folder: string,
): Promise<unknown> {
  if (fn === 'parse_header') return basicToken(header ?? '')
  if (fn === 'parse_token') {
    const credentials = basicCredentials(token)
    return { user: credentials.user, password: { b64: credentials.password.toString('base64') } }
  }
  const path = join(folder, 'users')
  if (file === 'DIR') await mkdir(path)
  else if (typeof file === 'string') await writeFile(path, file)
  if (fn === 'validate_file') {
    await Htpasswd.open(path)
    return null
  }
  const good = join(folder, 'good')
  await writeFile(good, '')
  const users = await Htpasswd.open(good)
  // Real Ironic reads the file at each login, so what its start would have refused can still meet one.
  await rm(good)
  if (file === 'DIR') await mkdir(good)
  else if (typeof file === 'string') await writeFile(good, file)
  const name = await users.authenticate(user, Buffer.from(password))
  return { HTTP_X_USER: name, HTTP_X_USER_NAME: name }
}

for (const [index, vector] of (vectors as Vector[]).entries()) {
  test(`http basic vector ${index}: ${vector.in.fn}`, () =>
    inFolder(async (folder) => {
      if (vector.error === undefined) {
        assert.deepEqual(await ask(vector.in, folder), vector.out)
      } else {
        await assert.rejects(ask(vector.in, folder), kinds[vector.error] ?? Error)
      }
    }))
}

const alice = 'alice:$2b$04$abcdefghijklmnopqrstuuN2f4ZDSoR8/TAG80qUYDM9bRnmRm0Zy'
const password = Buffer.from('myPassword')

test('a user that is taken out of the file is refused at once, one that comes in is let in', () =>
  inFolder(async (folder) => {
    const path = join(folder, 'users')
    await writeFile(path, `${alice}\n`)
    const users = await Htpasswd.open(path)
    assert.equal(await users.authenticate('alice', password), 'alice')
    await writeFile(path, `bob${alice.slice('alice'.length)}\n`)
    await assert.rejects(users.authenticate('alice', password), WrongCredentials)
    assert.equal(await users.authenticate('bob', password), 'bob')
  }))

test('a password longer than bcrypt looks at is refused, though its first 72 bytes are right', () =>
  inFolder(async (folder) => {
    const path = join(folder, 'users')
    await writeFile(path, 'alice:$2b$04$abcdefghijklmnopqrstuubzadhGtS2zEF.gu0yd0opP6cVzb.e0i')
    const users = await Htpasswd.open(path)
    assert.equal(await users.authenticate('alice', Buffer.alloc(72, 'x')), 'alice')
    await assert.rejects(users.authenticate('alice', Buffer.alloc(73, 'x')), WrongCredentials)
  }))

test('the file is not read as anything but UTF-8, and must be readable', () =>
  inFolder(async (folder) => {
    const path = join(folder, 'users')
    await writeFile(path, Buffer.from([0x61, 0xff, 0x3a]))
    await assert.rejects(Htpasswd.open(path), HtpasswdFileError)
    await chmod(path, 0o600)
    await assert.rejects(Htpasswd.open(join(folder, 'elsewhere')), /elsewhere cannot be read/)
  }))

test('many logins at once are checked once per password, and too many are turned away', () =>
  inFolder(async (folder) => {
    const path = join(folder, 'users')
    await writeFile(path, alice)
    const users = await Htpasswd.open(path)
    const same = await Promise.all(Array.from({ length: 500 }, () => users.authenticate('alice', password)))
    assert.ok(same.every((name) => name === 'alice'))
    const wrong = await Promise.allSettled(
      Array.from({ length: 400 }, (_, index) => users.authenticate('alice', Buffer.from(`wrong ${index}`))),
    )
    const busy = wrong.filter((result) => result.status === 'rejected' && result.reason instanceof Busy)
    assert.ok(busy.length > 0 && busy.length < 400)
    assert.equal(await users.authenticate('alice', password), 'alice')
  }))

test('a turnstile lets no more through than it should, and goes on after a failure', async () => {
  const turnstile = new Turnstile(2, 10)
  let running = 0
  let most = 0
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) =>
      turnstile.pass(async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
        if (index === 3) throw new Error('one fails')
      }),
    ),
  )
  assert.equal(most, 2)
  assert.equal(results.filter((result) => result.status === 'rejected').length, 1)
})

test('a text can be checked without a file', () => {
  checkHtpasswd(alice)
  assert.throws(() => checkHtpasswd('alice:secret'), HtpasswdFileError)
})
