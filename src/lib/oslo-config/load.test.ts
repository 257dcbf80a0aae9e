import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ConfigError } from './errors.ts'
import { loadConfig } from './load.ts'
import { bool, int, list, optionGroup, str } from './options.ts'

const groups = {
  DEFAULT: optionGroup('DEFAULT', {
    debug: bool({ default: false, mutable: true, cli: { short: 'd' } }),
    host: str({ default: 'here' }),
    my_ip: str({ default: '127.0.0.1' }),
  }),
  api: optionGroup('api', {
    port: int({ default: 1, min: 1 }),
    url: str({ default: 'http://$my_ip:${api.port}/' }),
    limit: int({ default: 5, mutable: true, deprecated: ['DEFAULT/api_limit'] }),
    password: str({ secret: true }),
    old: bool({ default: false, deprecatedForRemoval: true }),
    auth_section: str(),
    endpoint_override: str({ name: 'endpoint-override' }),
  }),
  db: optionGroup('db', { connection: str(), names: list({ default: [] }) }),
}

describe('loading a configuration', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'openkeel-load-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  const file = () => join(folder, 'x.conf')
  const load = (text: string, { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {}) => {
    writeFileSync(file(), text)
    return loadConfig(groups, {
      program: 'ironic',
      project: 'ironic',
      args: ['--config-file', file(), ...args],
      env: { HOME: folder, ...env },
      defaultFiles: [],
      defaultDirs: [],
      hostDefaults: { 'DEFAULT/host': 'this-host' },
    })
  }

  it('gives typed values, with references and host-dependent stock values', () => {
    const { config } = load('[api]\nport = 80\n[DEFAULT]\nmy_ip = 192.0.2.1\n', { args: ['-d'] })
    assert.equal(config.api.url, 'http://192.0.2.1:80/')
    assert.equal(config.DEFAULT.host, 'this-host')
    assert.equal(config.DEFAULT.debug, true)
  })

  it('names all that is wrong at once', () => {
    assert.throws(
      () => load('[api]\nport = http\nlimit = 0x1\n\n[DEFAULT]\ndebug = maybe\n', {}),
      /option --debug from .*x\.conf:6 has the value "maybe": it must be one of true/,
    )
    assert.throws(
      () => load('[api]\nport = 0\nlimit = 0x1\n'),
      (error: unknown) => {
        assert.ok(error instanceof ConfigError)
        assert.deepEqual(error.message.replaceAll(folder, '').split('\n'), [
          '/x.conf:2: option [api]port has the value "0": it must be a whole number of at least 1',
          '/x.conf:3: option [api]limit has the value "0x1": it must be a whole number',
        ])
        return true
      },
    )
  })

  it('names the place of a value that refers to what does not exist', () => {
    assert.throws(() => load('[DEFAULT]\nhost = $hots/x\n'), {
      message: `${file()}:2: option [DEFAULT]host has the value "$hots/x": there is no option [DEFAULT]hots`,
    })
  })

  it('names the variable of a wrong value from the environment', () => {
    assert.throws(
      () => load('', { env: { OS_API__PORT: 'x' } }),
      /environment variable OS_API__PORT: option \[api\]port/,
    )
  })

  it('warns once of each unknown option and section, with what was probably meant', () => {
    const text =
      '[api]\nprot = 1\nprot = 2\nendpoint-override = x\nconnection = y\n[dbb]\nconnection = z\n[zzzzzzzzz]\na = b\n'
    const { warnings } = load(text, { env: { OS_API__LIMITS: '1', OS_OTHER__THING: '1' } })
    assert.deepEqual(
      warnings.map((warning) => warning.replaceAll(folder, '')),
      [
        '/x.conf:3: the option [api]prot is unknown and is ignored; did you mean port?',
        '/x.conf:4: the option [api]endpoint-override is unknown and is ignored; did you mean endpoint_override?',
        '/x.conf:5: the option [api]connection is unknown and is ignored; did you mean it for [db]connection?',
        '/x.conf:7: the section [dbb] is unknown and is ignored; did you mean [db]?',
        '/x.conf:9: the section [zzzzzzzzz] is unknown and is ignored',
        'the environment variable OS_API__LIMITS names no option of [api] and is ignored; did you mean limit?',
      ],
    )
  })

  it('takes the section that auth_section names for known', () => {
    assert.deepEqual(load('[api]\nauth_section = mine\n[mine]\nwhatever = 1\n').warnings, [])
  })

  it('tells of former names and of options on their way out', () => {
    const { config, warnings } = load('[DEFAULT]\napi_limit = 7\n[api]\nold = true\n')
    assert.equal(config.api.limit, 7)
    assert.deepEqual(
      warnings.map((warning) => warning.replaceAll(folder, '')),
      [
        '/x.conf:2: option [DEFAULT]api_limit is the former name of [api]limit: use that',
        'option [api]old is set and will go away in a later release',
      ],
    )
  })

  it('never shows a secret', () => {
    const loaded = load('[api]\npassword = planted\n')
    writeFileSync(file(), '[api]\npassword = planted2\n')
    assert.doesNotMatch(JSON.stringify(loaded.reload()), /planted/)
    assert.throws(
      () => load('[api]\npassword = planted\nport = $api.password\n'),
      (error: Error) => !error.message.includes('planted'),
    )
  })

  it('reloads what is mutable, in place, and keeps everything when the file is wrong', () => {
    const loaded = load('[api]\nlimit = 1\n')
    const { api } = loaded.config
    writeFileSync(file(), '[api]\nlimit = 2\nport = 9\n')
    assert.deepEqual(loaded.reload(), {
      changed: ['option [api]limit changed from 1 to 2'],
      ignored: [
        'option [api]port cannot change while the service runs: restart it to use 9',
        // it refers to the port
        'option [api]url cannot change while the service runs: restart it to use "http://127.0.0.1:9/"',
      ],
    })
    assert.equal(api.limit, 2)
    assert.equal(api.port, 1)
    writeFileSync(file(), '[api]\nlimit = none\n')
    assert.throws(() => loaded.reload(), ConfigError)
    assert.equal(api.limit, 2)
    rmSync(file())
    assert.throws(() => loaded.reload(), /do not exist/)
    assert.equal(loaded.effective().find(({ option }) => option.dest === 'limit')!.value, 2)
  })

  it('finds a file beside the configuration, first in the folders of --config-dir', () => {
    mkdirSync(join(folder, 'd'))
    const loaded = load('', { args: ['--config-dir', join(folder, 'd')] })
    writeFileSync(join(folder, 'policy.yaml'), '')
    assert.equal(loaded.findFile('policy.yaml'), join(folder, 'policy.yaml'))
    writeFileSync(join(folder, 'd/policy.yaml'), '')
    assert.equal(loaded.findFile('policy.yaml'), join(folder, 'd/policy.yaml'))
    assert.equal(loaded.findFile('nothing'), undefined)
  })
})
