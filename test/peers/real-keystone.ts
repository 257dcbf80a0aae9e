/** A real Keystone 30 on SQLite under gunicorn, with projects, users and roles for tests. */
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../../src/lab/scenario/service-process.ts'
import { peerVenv, runPeer } from './python.ts'

const keystonePeer = (): Promise<string> => peerVenv('keystone', ['keystone==30.0.0', 'gunicorn==23.0.0'])

/** Everybody's password. */
export const password = 'secret'

type Scope = { project: string } | { system: true } | { domain: string } | 'unscoped'

export interface RealKeystone extends AsyncDisposable {
  readonly url: string
  /** uuid of a project by name: `service`, `demo`, `other` */
  readonly projects: Readonly<Record<string, string>>
  /** Logs in. @returns a token */
  token(user: string, scope: Scope): Promise<string>
  /** Makes an application credential of a user in a project. */
  applicationCredential(user: string, project: string, more?: object): Promise<{ id: string; secret: string }>
  revoke(token: string): Promise<void>
  /** Stops it, as in an outage. */
  stop(): Promise<void>
  start(): Promise<void>
}

const roles = ['service', 'manager', 'member', 'reader']
/** user, role, where */
const assignments: readonly (readonly [string, string, 'system' | 'service' | 'demo' | 'other'])[] = [
  ['ironic', 'service', 'service'],
  ['ironic', 'admin', 'service'],
  ['nova', 'service', 'service'],
  ['system-admin', 'admin', 'system'],
  ['system-reader', 'reader', 'system'],
  ['demo-member', 'member', 'demo'],
  ['demo-reader', 'reader', 'demo'],
  ['other-manager', 'manager', 'other'],
]

const keystoneConf = (directory: string, url: string) => `[DEFAULT]
log_file = ${join(directory, 'keystone.log')}
public_endpoint = ${url}
[database]
connection = sqlite:///${join(directory, 'keystone.sqlite')}
[token]
provider = fernet
[fernet_tokens]
key_repository = ${join(directory, 'fernet')}
[credential]
key_repository = ${join(directory, 'credential')}
[identity]
password_hash_rounds = 4
[cache]
enabled = false
`

async function prepare(venv: string, directory: string, root: string): Promise<void> {
  const file = join(directory, 'keystone.conf')
  for (const name of ['fernet', 'credential']) await mkdir(join(directory, name), { mode: 0o700 })
  await writeFile(file, keystoneConf(directory, root))
  const { username } = userInfo()
  const keys = ['--keystone-user', username, '--keystone-group', username]
  const url = `${root}/v3`
  const manage = (...args: string[]) => runPeer(venv, 'keystone-manage', ['--config-file', file, ...args])
  await manage('db_sync')
  await manage('fernet_setup', ...keys)
  await manage('credential_setup', ...keys)
  const endpoints = ['public', 'internal', 'admin'].flatMap((name) => [`--bootstrap-${name}-url`, url])
  await manage('bootstrap', '--bootstrap-password', password, '--bootstrap-region-id', 'RegionOne', ...endpoints)
  // the application reads the command line itself, so gunicorn gets its settings from a file
  await writeFile(
    join(directory, 'gunicorn.conf.py'),
    `bind = "${new URL(root).host}"\nworkers = 1\nthreads = 4\nwsgi_app = "keystone.wsgi.api:application"\n`,
  )
}

async function serve(venv: string, directory: string, url: string): Promise<() => Promise<void>> {
  const output = await open(join(directory, 'gunicorn.out'), 'a')
  const child = spawn(join(venv, 'bin/gunicorn'), [], {
    stdio: ['ignore', output.fd, output.fd],
    env: {
      ...process.env,
      GUNICORN_CMD_ARGS: `-c ${join(directory, 'gunicorn.conf.py')}`,
      OS_KEYSTONE_CONFIG_FILES: join(directory, 'keystone.conf'),
      OS_KEYSTONE_CONFIG_DIR: directory,
    },
  })
  await output.close()
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const began = Date.now()
  for (;;) {
    const up = await fetch(url).then(
      (response) => response.ok,
      () => false,
    )
    if (up) break
    if (Date.now() - began > 120_000 || child.exitCode !== null) {
      throw new Error(`Keystone did not start:\n${await readFile(join(directory, 'gunicorn.out'), 'utf8')}`)
    }
    await sleep(200)
  }
  return async () => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
    await ended
    clearTimeout(timer)
  }
}

export async function startRealKeystone(): Promise<RealKeystone> {
  const venv = await keystonePeer()
  const directory = await mkdtemp(join(tmpdir(), 'keystone-'))
  const [port = 0] = await freePorts(1)
  const root = `http://127.0.0.1:${port}`
  const url = `${root}/v3`
  await prepare(venv, directory, root)
  let stop = await serve(venv, directory, url)

  async function ask(method: string, path: string, token?: string, body?: object) {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', ...(token === undefined ? {} : { 'x-auth-token': token }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`Keystone: ${method} ${path} answers ${response.status} ${text}`)
    return { headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
  }
  async function token(user: string, scope: Scope): Promise<string> {
    const domain = { id: 'default' }
    const scoped =
      scope === 'unscoped'
        ? 'unscoped'
        : 'project' in scope
          ? { project: { name: scope.project, domain } }
          : 'domain' in scope
            ? { domain: { id: scope.domain } }
            : { system: { all: true } }
    const identity = { methods: ['password'], password: { user: { name: user, domain, password } } }
    const { headers } = await ask('POST', '/auth/tokens', undefined, { auth: { identity, scope: scoped } })
    return headers.get('x-subject-token') ?? ''
  }

  const admin = await token('admin', { project: 'admin' })
  const create = async (kind: string, values: object): Promise<string> =>
    (await ask('POST', `/${kind}s`, admin, { [kind]: values })).body[kind].id as string
  const roleIds: Record<string, string> = Object.fromEntries(
    ((await ask('GET', '/roles', admin)).body.roles as { id: string; name: string }[]).map(({ id, name }) => [
      name,
      id,
    ]),
  )
  for (const name of roles) roleIds[name] ??= await create('role', { name })
  const projects: Record<string, string> = {}
  for (const name of ['service', 'demo', 'other']) {
    projects[name] = await create('project', { name, domain_id: 'default' })
  }
  const users: Record<string, string> = {}
  for (const [name, role, where] of assignments) {
    users[name] ??= await create('user', { name, password, domain_id: 'default' })
    const place = where === 'system' ? '/system' : `/projects/${projects[where]}`
    await ask('PUT', `${place}/users/${users[name]}/roles/${roleIds[role]}`, admin)
  }

  const service_id = await create('service', { name: 'ironic', type: 'baremetal' })
  await create('endpoint', { service_id, interface: 'public', url: 'http://127.0.0.1:6385', region_id: 'RegionOne' })

  return {
    url,
    projects,
    token,
    async applicationCredential(user, project, more = {}) {
      const values = { name: `c-${Date.now()}`, ...more }
      const own = await token(user, { project })
      const { body } = await ask('POST', `/users/${users[user]}/application_credentials`, own, {
        application_credential: values,
      })
      return body.application_credential as { id: string; secret: string }
    },
    async revoke(gone) {
      await fetch(`${url}/auth/tokens`, {
        method: 'DELETE',
        headers: { 'x-auth-token': admin, 'x-subject-token': gone },
      })
    },
    stop: () => stop(),
    start: async () => {
      stop = await serve(venv, directory, url)
    },
    async [Symbol.asyncDispose]() {
      await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
