import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, afterEach, before, describe, it } from 'node:test'
import { freePorts } from '../../src/lab/scenario/service-process.ts'

const root = join(import.meta.dirname, '../..')
const limitMs = 120_000

interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

/** Those that still run; a test that fails must not leave them. */
const children = new Set<ChildProcess>()

/** A command of the package, as `./run` starts it. */
function start(command: string, args: readonly string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [join(root, 'src/cmd', `${command}.ts`), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', HOME: join(tmpdir(), 'openkeel-no-home'), ...env },
  })
  children.add(child)
  child.once('close', () => children.delete(child))
  const text = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text.stdout += part))
  child.stderr.setEncoding('utf8').on('data', (part: string) => (text.stderr += part))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve({ status, ...text }))
  })
  return { child, ended }
}

const run = async (command: string, args: readonly string[], env?: Record<string, string>) =>
  start(command, args, env).ended

/** Asks again until the answer is the wanted one. */
async function until(what: string, ask: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + limitMs
  while (Date.now() < end) {
    if (await ask()) return
    await sleep(100)
  }
  assert.fail(`${what} did not happen within ${limitMs / 1000} s`)
}

const status = async (url: string): Promise<number> => {
  try {
    return (await fetch(url)).status
  } catch (error) {
    if (error instanceof TypeError) return 0 // nobody listens yet
    throw error
  }
}

describe('the processes', { timeout: 5 * limitMs }, () => {
  let folder: string
  let port: number
  let conf: string

  const options = () => ({
    DEFAULT: {
      host: 'one',
      auth_strategy: 'noauth',
      rpc_transport: 'none',
      state_path: join(folder, 'state'),
      log_file: join(folder, 'ironic.log'),
      enabled_hardware_types: 'fake-hardware',
      ...Object.fromEntries(
        ['bios', 'boot', 'deploy', 'firmware', 'inspect', 'management', 'power', 'raid', 'vendor'].map((kind) => [
          `enabled_${kind}_interfaces`,
          'fake',
        ]),
      ),
      enabled_network_interfaces: 'noop',
      enabled_storage_interfaces: 'noop',
    } as Record<string, string>,
    api: { host_ip: '127.0.0.1', port: String(port) } as Record<string, string>,
  })
  function write(more: Record<string, Record<string, string>> = {}): void {
    const all: Record<string, Record<string, string>> = options()
    for (const [group, values] of Object.entries(more)) all[group] = { ...all[group], ...values }
    const sections = Object.entries(all).map(([group, values]) => {
      const lines = Object.entries(values).map(([name, value]) => `${name} = ${value}`)
      return `[${group}]\n${lines.join('\n')}\n`
    })
    writeFileSync(conf, sections.join('\n'))
  }
  const log = () => readFileSync(join(folder, 'ironic.log'), 'utf8')

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'openkeel-process-'))
    conf = join(folder, 'ironic.conf')
    port = (await freePorts(1))[0]!
  })
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL')
  })
  after(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  it('start from an empty folder, reload, and stop gracefully', async () => {
    write({ api: { prot: '1' }, DEFAULT: { default_resource_class: 'before' }, database: { connection_debug: '3' } })
    const { child, ended } = start('ironic', ['--config-file', conf])
    const url = `http://127.0.0.1:${port}/v1`
    await until('an answer', async () => child.exitCode !== null || (await status(url)) === 200)
    assert.equal(child.exitCode, null, (await Promise.race([ended, sleep(0)]))?.stderr)

    assert.equal(statSync(join(folder, 'state/ironic.sqlite')).mode & 0o777, 0o600)
    assert.match(log(), /\[api\]prot is unknown and is ignored; did you mean port\?/)
    assert.match(log(), /\[database\]connection_debug is set .* but this release does not act on it/)
    assert.doesNotMatch(log(), /\[api\]port is set/)

    write({ DEFAULT: { default_resource_class: 'after', host: 'two' } })
    child.kill('SIGHUP')
    await until('the reload', () => /read anew, 1 options changed/.test(log()))
    assert.match(log(), /\[DEFAULT\]default_resource_class changed from "before" to "after"/)
    assert.match(log(), /\[DEFAULT\]host cannot change while the service runs/)
    const made = await fetch(`${url}/nodes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-openstack-ironic-api-version': '1.50' },
      body: JSON.stringify({ driver: 'fake-hardware' }),
    })
    assert.equal(((await made.json()) as { resource_class: string }).resource_class, 'after')

    write({ api: { max_limit: 'many' } })
    child.kill('SIGHUP')
    await until('the refusal', () =>
      /cannot be used and stays as it was: .*\[api\]max_limit has the value "many"/s.test(log()),
    )
    assert.equal(await status(url), 200)

    child.kill('SIGTERM')
    assert.deepEqual(await ended, { status: 0, stdout: '', stderr: '' })
    assert.equal(await status(url), 0)
    assert.match(log(), /Conductor one has stopped/)
  })

  it('stop the start for every wrong value, naming file, line, option, value and what is allowed', async () => {
    write({ api: { port: 'http' }, redfish: { auth_type: 'token' } })
    const { status: code, stderr } = await run('ironic', ['--config-file', conf])
    assert.equal(code, 1)
    assert.match(
      stderr,
      /ironic\.conf:\d+: option \[api\]port has the value "http": it must be a port number from 0 to 65535/,
    )
    assert.match(
      stderr,
      /ironic\.conf:\d+: option \[redfish\]auth_type has the value "token": it must be one of basic, session, auto/,
    )
  })

  it('never show a secret of a wrong configuration', async () => {
    write({ api: { port: '$database.connection' }, database: { connection: 'mysql+pymysql://u:planted@h/d' } })
    const { stderr, stdout } = await run('ironic', ['--config-file', conf])
    assert.ok(!`${stderr}${stdout}`.includes('planted'), stderr)
  })

  it('refuse to let everybody in', async () => {
    write({ api: { host_ip: '0.0.0.0' } })
    const { status: code, stderr } = await run('ironic', ['--config-file', conf])
    assert.equal(code, 1)
    assert.match(stderr, /auth_strategy is noauth.*allow_noauth_on_any_address/s)
  })

  it('say what to do when the address is taken', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    try {
      write()
      const { status: code, stderr } = await run('ironic', ['--config-file', conf])
      assert.equal(code, 1)
      assert.match(stderr, /in use by another process.*\[api\]port/)
    } finally {
      server.close()
    }
  })

  it('run apart with JSON-RPC between them, and the API with copies of itself', async () => {
    const [rpc = 0] = await freePorts(1)
    write({
      DEFAULT: { rpc_transport: 'json-rpc', host: '127.0.0.1', log_file: '', use_stderr: 'true' },
      json_rpc: { host_ip: '127.0.0.1', port: String(rpc), auth_strategy: 'noauth' },
      api: { api_workers: '2' },
    })
    const conductor = start('conductor', ['--config-file', conf])
    const api = start('api', ['--config-file', conf])
    const url = `http://127.0.0.1:${port}/v1`
    const ended = () => api.child.exitCode !== null || conductor.child.exitCode !== null
    const answers = async () => (await status(`${url}/drivers/fake-hardware/properties`)) === 200
    await until('an answer', async () => ended() || (await answers()))
    for (const { child } of [api, conductor]) child.kill('SIGTERM')
    for (const { ended } of [api, conductor]) {
      const { status: code, stderr } = await ended
      assert.equal(code, 0, stderr)
      assert.doesNotMatch(stderr, /ended by force/)
    }
    assert.match((await api.ended).stderr, /2 API workers are starting/)
  })

  it('do not run apart without a transport', async () => {
    write()
    for (const command of ['api', 'conductor']) {
      const { status: code, stderr } = await run(command, ['--config-file', conf])
      assert.equal(code, 1)
      assert.match(stderr, /rpc_transport is none.*run the command ironic/)
    }
  })

  it('understand the command line as argparse does', async () => {
    const cases: readonly [string, readonly string[], number, RegExp][] = [
      ['ironic', ['--version'], 0, /^39\.0\.0\n$/],
      ['ironic', ['--help'], 0, /--config-file PATH/],
      ['ironic', ['--nope'], 2, /unrecognized arguments: --nope/],
      ['ironic', ['--config-file', join(folder, 'missing.conf')], 1, /do not exist: .*missing\.conf/],
      ['dbsync', ['--config-file', conf, 'online_data_migrations', '--max-count', '0'], 127, /positive/],
      ['dbsync', ['--config-file', conf, 'version'], 0, /^[0-9a-f]{12}\n$/],
      ['dbsync', ['--config-file', conf, 'create_schema'], 1, /already has a schema/],
      ['dbsync', ['--config-file', conf], 0, /9fb44677ef15 already/],
      ['status', ['--config-file', conf, 'upgrade', 'check'], 0, /\| Check: Object versions +\|\n\| Result: Success/],
      [
        'status',
        ['--config-file', conf, 'config', '--changed'],
        0,
        /auth_strategy = noauth {2}# from .*ironic\.conf:\d+/,
      ],
      [
        'manage',
        ['--config-file', conf, 'drivers', 'interfaces', 'power'],
        0,
        /^Power interfaces \(for \[DEFAULT\]enabled_power_interfaces\):/,
      ],
      ['manage', ['--config-file', conf, 'drivers', 'interfaces', 'nope'], 2, /Unknown interface type\(s\): nope/],
    ]
    write()
    for (const [command, args, code, text] of cases) {
      const ended = await run(command, args)
      assert.equal(ended.status, code, `${command} ${args.join(' ')}: ${ended.stderr}`)
      assert.match(code === 0 ? ended.stdout : ended.stderr, text, `${command} ${args.join(' ')}`)
    }
  })

  it('take options from the environment, and mask secrets in the report', async () => {
    write({ glance: { password: 'planted' }, database: { connection: 'sqlite:////tmp/x' } })
    const { stdout } = await run('status', ['--config-file', conf, 'config'], { OS_API__MAX_LIMIT: '7' })
    assert.match(stdout, /max_limit = 7 {2}# from the environment variable OS_API__MAX_LIMIT/)
    assert.match(stdout, /password = \*{4}/)
    assert.ok(!stdout.includes('planted'))
  })
})
