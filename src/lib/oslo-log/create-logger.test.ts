import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createLogger, type LogSettings } from './create-logger.ts'
import type { Destination } from './destination.ts'

const stock: LogSettings = {
  debug: false,
  use_json: false,
  use_stderr: false,
  log_file: null,
  log_dir: null,
  log_date_format: '%Y-%m-%d %H:%M:%S',
  log_rotation_type: 'none',
  log_rotate_interval: 1,
  log_rotate_interval_type: 'days',
  max_logfile_count: 2,
  max_logfile_size_mb: 200,
  logging_context_format_string:
    '%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s [%(global_request_id)s %(request_id)s %(user_identity)s] %(instance)s%(message)s',
  logging_default_format_string:
    '%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s [-] %(instance)s%(message)s',
  logging_debug_format_suffix: '%(funcName)s %(pathname)s:%(lineno)d',
  logging_exception_prefix: '%(asctime)s.%(msecs)03d %(process)d ERROR %(name)s %(instance)s',
  logging_user_identity_format: '%(user)s %(project)s %(domain)s %(system_scope)s %(user_domain)s %(project_domain)s',
  instance_uuid_format: '[instance: %(uuid)s] ',
  default_log_levels: ['amqp=WARNING', 'oslo.messaging=INFO', 'chatty.part=WARN'],
}

class Collected implements Destination {
  text = ''
  write(line: string) {
    this.text += line
  }
  async flush() {}
  flushSync() {}
  async close() {}
}

const noon = new Date(2026, 10, 30, 12, 5, 9, 42)
function logTo(settings: Partial<LogSettings> = {}) {
  const out = new Collected()
  return {
    out,
    log: createLogger({ ...stock, ...settings }, { program: 'ironic', destinations: [out], now: () => noon }),
  }
}

describe('a log line', () => {
  it('has the format of oslo.log without a request', () => {
    const { out, log } = logTo()
    log.named('ironic.conductor.manager').info('Node abc is ready')
    assert.equal(
      out.text,
      `2026-11-30 12:05:09.042 ${process.pid} INFO ironic.conductor.manager [-] Node abc is ready\n`,
    )
  })

  it('names the request and its user', () => {
    const { out, log } = logTo()
    log.named('ironic.api', { request_id: 'req-1', user_id: 'u', project_id: null }).warning('Slow')
    assert.equal(out.text, `2026-11-30 12:05:09.042 ${process.pid} WARNING ironic.api [None req-1 u - - - - -] Slow\n`)
  })

  it('sums up an error, with its stack and causes when it is one for the operator', () => {
    const { out, log } = logTo()
    const error = new TypeError('outer', { cause: new Error('inner') })
    log.warning('It failed', { error })
    assert.equal(out.text.split('\n').length, 2)
    assert.ok(out.text.endsWith('It failed: TypeError: outer\n'))
    out.text = ''
    log.error('It failed', { error })
    const lines = out.text.split('\n')
    assert.match(lines[1]!, /^2026-11-30 12:05:09\.042 \d+ ERROR ironic TypeError: outer$/)
    assert.ok(lines.some((line) => line.endsWith('ERROR ironic Error: inner')))
  })

  it('shows details after the sentence', () => {
    const { out, log } = logTo()
    log.info('Deployed', { node: 'n1', steps: ['a', 'b'], missing: undefined, instance_uuid: 'i1' })
    assert.ok(out.text.endsWith('[-] [instance: i1] Deployed (node=n1, steps=["a","b"])\n'))
  })

  it('tells the caller at level DEBUG', () => {
    const { out, log } = logTo({ debug: true })
    log.debug('Here')
    assert.match(out.text, / Here .*create-logger\.test\.ts:\d+\n$/)
  })

  it('is JSON on request, with the members of oslo.log', () => {
    const { out, log } = logTo({ use_json: true })
    log.named('ironic.api', { request_id: 'req-1' }).error('No', { error: new Error('why'), node: 'n1' })
    const line = JSON.parse(out.text) as Record<string, unknown>
    assert.equal(line['message'], 'No')
    assert.equal(line['levelname'], 'ERROR')
    assert.equal(line['levelno'], 40)
    assert.equal(line['name'], 'ironic.api')
    assert.equal(line['error_summary'], 'Error: why')
    assert.match(line['traceback'] as string, /^Error: why\n/)
    assert.deepEqual(line['extra'], { node: 'n1' })
    assert.deepEqual(line['context'], { request_id: 'req-1' })
  })
})

describe('levels', () => {
  it('follow debug, also when it changes while running', () => {
    const settings = { ...stock, debug: false }
    const out = new Collected()
    const log = createLogger(settings, { program: 'ironic', destinations: [out] })
    log.debug('first')
    settings.debug = true
    log.debug('second')
    assert.ok(!out.text.includes('first') && out.text.includes('second'))
  })

  it('follow default_log_levels by name and parent', () => {
    const { out, log } = logTo({ debug: true })
    log.named('chatty.part.inner').info('hidden')
    log.named('chatty.part').warning('shown')
    log.named('chatty.party').debug('other')
    assert.ok(!out.text.includes('hidden'))
    assert.ok(out.text.includes('shown') && out.text.includes('other'))
  })
})

describe('secrets', () => {
  const planted = 'hunter2Secret'
  const sentences = [
    `driver_info is {'redfish_password': '${planted}', 'redfish_username': 'admin'}`,
    `{"redfish_password": "${planted}", "x": 1}`,
    `connecting to mysql+pymysql://ironic:${planted}@db/ironic?charset=utf8`,
    `rabbit://user:${planted}@host1:5672,other:${planted}@host2:5672//`,
    `X-Auth-Token: ${planted}`,
    `Authorization: Basic ${Buffer.from(`admin:${planted}`).toString('base64')}`,
    `headers {'X-Auth-Token': '${planted}'}`,
    `password=${planted}`,
    `--password ${planted}`,
    `agent_token = '${planted}'`,
    `<password>${planted}</password>`,
    `sent Bearer ${planted}`,
  ]
  const encoded = Buffer.from(`admin:${planted}`).toString('base64')

  for (const use_json of [false, true]) {
    for (const sentence of sentences) {
      it(`are masked in ${use_json ? 'JSON' : 'text'}: ${sentence.slice(0, 40)}`, () => {
        const { out, log } = logTo({ use_json, debug: true })
        log.info(sentence)
        log.info('nested', { info: { text: sentence, list: [sentence] } })
        log.error('failed', { error: new Error(sentence, { cause: new Error(sentence) }) })
        log.debug('failed', { error: new Error(sentence) })
        assert.ok(!out.text.includes(planted), out.text)
        assert.ok(!out.text.includes(encoded), out.text)
        assert.ok(out.text.includes('***'))
      })
    }
  }

  it('are masked by the name they stand under', () => {
    const { out, log } = logTo()
    log.info('node', {
      driver_info: { redfish_password: planted, redfish_username: 'admin' },
      driver_internal_info: { agent_secret_token: planted },
      ipmi_password: planted,
      auth_token: planted,
      instance_info: { configdrive: planted },
    })
    assert.ok(!out.text.includes(planted), out.text)
    assert.ok(out.text.includes('admin'))
  })
})

describe('a log file', () => {
  const inFolder = async (work: (folder: string) => Promise<void>) => {
    const folder = mkdtempSync(join(tmpdir(), 'openkeel-log-'))
    try {
      await work(folder)
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  it('gets all lines in order, without others being allowed to read it', () =>
    inFolder(async (folder) => {
      const log = createLogger({ ...stock, log_dir: folder, log_file: 'x.log' }, { program: 'ironic' })
      for (let index = 0; index < 5000; index++) log.info(`line ${index}`)
      await log.close()
      const lines = readFileSync(join(folder, 'x.log'), 'utf8').trimEnd().split('\n')
      assert.equal(lines.length, 5000)
      lines.forEach((line, index) => assert.ok(line.endsWith(` line ${index}`)))
      assert.equal(statSync(join(folder, 'x.log')).mode & 0o007, 0)
    }))

  it('bears the name of the program when only the folder is set, and follows its path', () =>
    inFolder(async (folder) => {
      const log = createLogger({ ...stock, log_dir: folder }, { program: 'ironic-api' })
      log.info('first')
      await log.flush()
      renameSync(join(folder, 'ironic-api.log'), join(folder, 'moved'))
      await new Promise((resolve) => setTimeout(resolve, 1050))
      log.info('second')
      await log.close()
      assert.match(readFileSync(join(folder, 'moved'), 'utf8'), /first/)
      assert.match(readFileSync(join(folder, 'ironic-api.log'), 'utf8'), /second/)
    }))

  it('is put aside at its size, and the oldest goes', () =>
    inFolder(async (folder) => {
      const settings = {
        ...stock,
        log_file: join(folder, 'x.log'),
        log_rotation_type: 'size',
        max_logfile_size_mb: 0.0005,
      }
      const log = createLogger(settings, { program: 'ironic' })
      for (let index = 0; index < 30; index++) {
        log.info(`line ${index} ${'x'.repeat(100)}`)
        await log.flush()
      }
      await log.close()
      assert.deepEqual(readdirSync(folder).sort(), ['x.log', 'x.log.1', 'x.log.2'])
      assert.match(readFileSync(join(folder, 'x.log'), 'utf8'), /line 29/)
    }))

  it('has its last lines after a flush at the end of the process', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'x.log')
      const log = createLogger({ ...stock, log_file: path }, { program: 'ironic' })
      log.info('last words')
      log.flushSync()
      assert.ok(existsSync(path))
      assert.match(readFileSync(path, 'utf8'), /last words/)
      await log.close()
    }))

  it('that cannot be opened is told at once', () =>
    inFolder(async (folder) => {
      const settings = { ...stock, log_file: join(folder, 'missing/x.log') }
      assert.throws(() => createLogger(settings, { program: 'ironic' }), /ENOENT/)
    }))
})
