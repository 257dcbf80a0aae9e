/** What happens to reads and changes when MariaDB goes away, locks up or says deadlock. */
import assert from 'node:assert/strict'
import { createServer, connect, type Server, type Socket } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, openDatabase } from '../../src/db/database.ts'
import { createSchema } from '../../src/db/migrations/index.ts'
import * as nodes from '../../src/db/nodes.ts'
import { type Mariadb, startMariadb } from '../peers/mariadb.ts'

/** A wire to the server that can be cut at a chosen statement: before it arrives, or before its answer does. */
async function cuttable(
  port: number,
): Promise<{ port: number; cutAt?: { text: string; when: 'sent' | 'answered' }; cuts: number; close(): void }> {
  const sockets = new Set<Socket>()
  const wire: Awaited<ReturnType<typeof cuttable>> = { port: 0, cuts: 0, close: () => undefined }
  const server: Server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    let doomed = false
    const cut = () => {
      wire.cuts += 1
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (data) => {
      const { cutAt } = wire
      if (cutAt !== undefined && data.includes(cutAt.text)) {
        delete wire.cutAt
        if (cutAt.when === 'sent') return cut()
        doomed = true
      }
      far.write(data)
    })
    far.on('data', (data) => {
      if (doomed) cut()
      else near.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  wire.port = (server.address() as { port: number }).port
  wire.close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return wire
}

describe('MariaDB with faults', () => {
  let server: Mariadb
  let url: string
  let db: Db
  let wire: Awaited<ReturnType<typeof cuttable>>
  let count = 0
  before(async () => {
    server = await startMariadb()
    wire = await cuttable(server.port)
  })
  after(async () => {
    wire.close()
    await server.stop()
  })
  beforeEach(async (t) => {
    delete wire.cutAt
    url = await server.createDatabase(`faults${(count += 1)}`)
    db = await openDatabase(url.replace(`:${server.port}/`, `:${wire.port}/`))
    await createSchema(db)
    if ('after' in t) t.after(() => db.close())
  })

  const stored = async (name: string) =>
    (await server.query(`select count(*) n from nodes where name = '${name}'`, `faults${count}`))[0]?.['n']

  test('a read whose connection breaks is asked again', async () => {
    const node = await nodes.createNode(db, { name: 'a' })
    const before = wire.cuts
    for (const when of ['sent', 'answered'] as const) {
      wire.cutAt = { text: 'from nodes where uuid', when }
      assert.equal((await nodes.getNode(db, node.uuid!)).name, 'a')
    }
    assert.equal(wire.cuts, before + 2)
  })

  test('a change whose connection breaks is never assumed done, nor done twice', async () => {
    wire.cutAt = { text: 'insert into', when: 'answered' }
    await assert.rejects(nodes.createNode(db, { name: 'b' }), { name: 'TemporaryFailure', code: 503 })
    // it was stored, as the error says it may be; a second try by the caller finds it
    assert.equal(await stored('b'), 1)
    await assert.rejects(nodes.createNode(db, { name: 'b' }), { name: 'DuplicateName' })
  })

  test('a commit whose answer is lost fails once; the body does not run again', async () => {
    let runs = 0
    wire.cutAt = { text: 'COMMIT', when: 'answered' }
    const body = db.transaction(async (trx) => {
      runs += 1
      await trx
        .insertInto('nodes')
        .values({ uuid: `c${runs}`, name: 'c' })
        .execute()
    })
    await assert.rejects(body, { name: 'TemporaryFailure' })
    assert.equal(runs, 1)
    assert.equal(await stored('c'), 1)
  })

  test('a transaction that breaks before its commit runs again from its start', async () => {
    let runs = 0
    wire.cutAt = { text: 'update `nodes`', when: 'sent' }
    await db.transaction(async (trx) => {
      runs += 1
      await trx.insertInto('nodes').values({ uuid: 'd', name: 'd' }).execute()
      await trx.updateTable('nodes').set({ owner: 'me' }).where('name', '=', 'd').execute()
    })
    assert.equal(runs, 2)
    assert.equal(await stored('d'), 1)
  })

  test('transactions that deadlock are both done in the end', async () => {
    const [one, two] = [await nodes.createNode(db, { name: 'one' }), await nodes.createNode(db, { name: 'two' })]
    let runs = 0
    const inOrder = (first: number, second: number, owner: string) =>
      db.transaction(async (trx) => {
        runs += 1
        await trx.updateTable('nodes').set({ owner }).where('id', '=', first).execute()
        await sleep(100)
        await trx.updateTable('nodes').set({ owner }).where('id', '=', second).execute()
      })
    await Promise.all([inOrder(one.id, two.id, 'x'), inOrder(two.id, one.id, 'y')])
    assert.ok(runs >= 3)
    const owners = (await nodes.listNodes(db)).map((each) => each.owner)
    assert.equal(new Set(owners).size, 1)
  })

  test('a lock is held by exactly one task, whichever answers get lost', async () => {
    const { id, uuid } = await nodes.createNode(db, { name: 'l' })
    for (const when of ['sent', 'answered'] as const) {
      wire.cutAt = { text: 'update nodes set reservation', when }
      const reached = await Promise.allSettled([1, 2, 3].map(() => nodes.reserveNode(db, uuid!, 'host')))
      const got = reached.filter((each) => each.status === 'fulfilled').length
      const { reservation } = await nodes.getNodeById(db, id)
      assert.equal(got, reservation === 'host' ? 1 : 0, when)
      if (got === 0) continue
      wire.cutAt = { text: 'update nodes set reservation', when }
      await nodes.releaseNode(db, 'host', id)
      assert.equal((await nodes.getNodeById(db, id)).reservation, null, when)
    }
    assert.equal(wire.cutAt, undefined)
  })

  test('a change of a locked node is made once more when its answer is lost', async () => {
    const { id } = await nodes.createNode(db, { name: 'u' })
    wire.cutAt = { text: 'update nodes set', when: 'answered' }
    assert.equal((await nodes.updateNode(db, id, { owner: 'me' })).owner, 'me')
  })

  test('a server that restarts is waited for', async () => {
    const node = await nodes.createNode(db, { name: 'e' })
    await server.kill()
    const reading = nodes.getNode(db, node.uuid!)
    const writing = db.transaction((trx) =>
      trx.updateTable('nodes').set({ owner: 'late' }).where('id', '=', node.id).execute(),
    )
    await sleep(300)
    await server.start()
    assert.equal((await reading).name, 'e')
    await writing
    assert.equal((await nodes.getNode(db, node.uuid!)).owner, 'late')
  })

  test('more callers than connections wait their turn; the last are refused in time', async () => {
    const small = await openDatabase(url, { maxPoolSize: 1, maxOverflow: 1, poolTimeout: 0.3 })
    const slow = Array.from({ length: 2 }, () => small.query('select sleep(1)'))
    await sleep(100)
    await assert.rejects(small.query('select 1'), { name: 'TemporaryFailure' })
    await Promise.all(slow)
    await small.query('select 1')
    await small.close()
  })

  test('a value that does not fit is named; the text of a failure is cut to fit', async () => {
    await assert.rejects(nodes.createNode(db, { name: 'x'.repeat(300) }), {
      name: 'InvalidParameterValue',
      message: /name/,
    })
    const { id } = await nodes.createNode(db, { name: 'f' })
    const { last_error } = await nodes.updateNode(db, id, { last_error: `first ${'é'.repeat(70_000)} last` })
    assert.match(last_error!, /^first é+ \.\.\. \[truncated\] \.\.\. é+ last$/)
  })

  test('of many changes during a restart each is done once or refused', async () => {
    const names = Array.from({ length: 60 }, (_, n) => `load${n}`)
    const working = Promise.all(
      names.map(async (name, n) => {
        await sleep(n * 15)
        return await nodes.createNode(db, { name }).then(
          () => 'stored',
          (error: Error) => error.name,
        )
      }),
    )
    await sleep(200)
    await server.kill()
    await sleep(200)
    await server.start()
    const outcomes = await working
    for (const [n, outcome] of outcomes.entries()) {
      const found = await stored(names[n]!)
      if (outcome === 'stored') assert.equal(found, 1, names[n])
      else assert.equal(outcome, 'TemporaryFailure')
    }
    assert.ok(outcomes.filter((each) => each === 'stored').length > 30)
  })

  test('a wrong password or database is told at once', async () => {
    for (const [wrong, hint] of [
      [url.replace(/:p%40[^@]*@/, ':wrong@'), /Access denied/],
      [url.replace(/\/faults\d+/, '/nothing'), /Unknown database/],
    ] as const) {
      const lost = await openDatabase(wrong)
      const start = Date.now()
      await assert.rejects(lost.query('select 1'), { name: 'TemporaryFailure', message: hint })
      assert.ok(Date.now() - start < 3000)
      await lost.close()
    }
  })

  test('nobody at home is a clear error', async () => {
    const lost = await openDatabase('mysql+pymysql://u:secret@127.0.0.1:1/x', { maxRetries: 1, retryInterval: 0.01 })
    await assert.rejects(lost.query('select 1'), (error: Error) => {
      assert.equal(error.name, 'TemporaryFailure')
      assert.match(error.message, /127\.0\.0\.1:1\/x/)
      assert.doesNotMatch(error.message, /secret/)
      return true
    })
    await lost.close()
  })
})
