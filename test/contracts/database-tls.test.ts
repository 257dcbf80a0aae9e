/** MariaDB over TLS: `ssl_ca` and its kin in the URL, as pymysql takes them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { openDatabase } from '../../src/db/database.ts'
import { needPackages } from '../peers/debian.ts'
import { type Mariadb, startMariadb } from '../peers/mariadb.ts'

const run = promisify(execFile)

describe('MariaDB over TLS', () => {
  let folder: string
  let server: Mariadb
  let url: string
  before(async () => {
    await needPackages(['openssl'])
    folder = await mkdtemp(join(tmpdir(), 'openkeel-db-tls-'))
    const at = (name: string) => join(folder, name)
    for (const [name, subject] of [
      ['good', 'subjectAltName=IP:127.0.0.1'],
      ['other', 'subjectAltName=DNS:elsewhere.example'],
    ] as const)
      await run('openssl', [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=db',
        '-addext',
        subject,
        '-keyout',
        at(`${name}.key`),
        '-out',
        at(`${name}.pem`),
      ])
    server = await startMariadb([`--ssl-cert=${at('good.pem')}`, `--ssl-key=${at('good.key')}`])
    url = await server.createDatabase('tls')
    await server.query("alter user 'ironic'@'127.0.0.1' require ssl")
  })
  after(async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const cipher = async (more: string) => {
    const db = await openDatabase(url, { maxRetries: 0, connectionParameters: more })
    try {
      const [row] = await db.query<{ Value: string }>("show status like 'Ssl_cipher'")
      return row?.Value ?? ''
    } finally {
      await db.close()
    }
  }

  test('the certificate of the server is checked', async () => {
    assert.notEqual(await cipher(`ssl_ca=${join(folder, 'good.pem')}`), '')
    await assert.rejects(cipher(`ssl_ca=${join(folder, 'other.pem')}`), { name: 'TemporaryFailure' })
  })

  test('and must be for the address in the URL', async () => {
    const wrong = await startMariadb([
      `--ssl-cert=${join(folder, 'other.pem')}`,
      `--ssl-key=${join(folder, 'other.key')}`,
    ])
    try {
      const elsewhere = await wrong.createDatabase('tls')
      const ask = async (more: string) => {
        const db = await openDatabase(elsewhere, { maxRetries: 0, connectionParameters: more })
        try {
          await db.query('select 1')
        } finally {
          await db.close()
        }
      }
      const ca = `ssl_ca=${join(folder, 'other.pem')}`
      await assert.rejects(ask(ca), /not for 127\.0\.0\.1/)
      await ask(`${ca}&ssl_check_hostname=false`)
    } finally {
      await wrong.stop()
    }
  })

  test('unless that is switched off', async () => {
    assert.notEqual(await cipher(`ssl_ca=${join(folder, 'other.pem')}&ssl_verify_cert=false`), '')
  })

  test('without TLS the server refuses us', async () => {
    await assert.rejects(cipher(''), { name: 'TemporaryFailure' })
  })

  test('a file that is not there is named', async () => {
    await assert.rejects(cipher('ssl_ca=/nowhere/ca.pem'), /ssl_ca.*\/nowhere\/ca\.pem/)
  })
})
