import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Bmc } from './bmc.ts'
import { findSystem, resetSystem } from './computer-system.ts'
import { error, ScriptedBmc, standardTree, systemPath, testClient } from './for-tests.ts'
import { AccessRefused, BmcRefused, BmcUnreachable, NoSingleSystem, RedfishProblem } from './problems.ts'
import { ComputerSystem } from './resources.ts'

const sessions = '/redfish/v1/SessionService/Sessions'

test('logs in once for many callers, and ends the session when closed', async () => {
  await using bmc = await ScriptedBmc.start()
  const used = testClient(bmc)
  await Promise.all(Array.from({ length: 50 }, () => used.client.call('GET', systemPath)))
  assert.equal(bmc.logins, 1)
  assert.equal(bmc.sessions.size, 1)
  assert.equal(bmc.said.filter((line) => line === 'GET /redfish/v1/').length, 1)
  await used[Symbol.asyncDispose]()
  assert.equal(bmc.sessions.size, 0)
  assert.equal(bmc.said.at(-1), `DELETE ${sessions}/1`)
})

test('says what real Ironic says to a BMC at first contact', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc)
  await used.client.call('GET', systemPath)
  assert.deepEqual(bmc.said, ['GET /redfish/v1/', `POST ${sessions}`, `GET ${systemPath}`])
  assert.deepEqual(bmc.requests[1]!.body, { UserName: 'admin', Password: 'secret' })
  assert.equal(bmc.requests[1]!.headers['authorization'], undefined)
  for (const { headers } of bmc.requests) {
    assert.equal(headers['odata-version'], '4.0')
    assert.equal(headers['accept-encoding'], 'identity')
    assert.equal(headers['connection'], 'close')
  }
  assert.equal(bmc.requests[2]!.headers['x-auth-token'], 'token-1')
})

test('a session that has expired is renewed once, for all who find it so', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc)
  await used.client.call('GET', systemPath)
  bmc.sessions.clear()
  await Promise.all(Array.from({ length: 10 }, () => used.client.call('GET', systemPath)))
  assert.equal(bmc.logins, 2)
})

test('a login that is refused after one that worked is an error, not a reason for Basic, and no storm', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc)
  await used.client.call('GET', systemPath)
  bmc.sessions.clear()
  bmc.when('POST', sessions, error(401, 'AccessDenied', 'no'))
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => used.client.call('GET', systemPath)))
  assert.ok(results.every((result) => result.status === 'rejected' && result.reason instanceof AccessRefused))
  assert.ok(bmc.requests.every(({ headers }) => headers['authorization'] === undefined))
  assert.ok(bmc.logins <= 3, `${bmc.logins} logins`)
})

test('falls back to Basic where there are no sessions, with auto only', async () => {
  for (const answer of [
    error(404, 'ResourceMissingAtURI', 'no'),
    error(503, 'SessionLimitExceeded', 'full'),
    { status: 201, body: {} },
  ]) {
    await using bmc = await ScriptedBmc.start()
    bmc.when('POST', sessions, answer)
    await using used = testClient(bmc)
    await used.client.call('GET', systemPath)
    assert.match(String(bmc.requests.at(-1)!.headers['authorization']), /^Basic /)
  }
  await using bmc = await ScriptedBmc.start()
  bmc.when('POST', sessions, error(404, 'ResourceMissingAtURI', 'no'))
  await using used = testClient(bmc, { authType: 'session' })
  await assert.rejects(used.client.call('GET', systemPath), BmcRefused)
})

test('a BMC without room for a session is asked again after its Retry-After', async () => {
  await using bmc = await ScriptedBmc.start()
  bmc.when('POST', sessions, { ...error(503, 'SessionLimitExceeded', 'full'), headers: { 'Retry-After': '7' } }, 2)
  await using used = testClient(bmc, { authType: 'session' })
  await used.client.call('GET', systemPath)
  assert.deepEqual(used.clock.slept, [7000, 7000])
})

test('without credentials nobody logs in', async () => {
  await using bmc = await ScriptedBmc.start()
  bmc.password = ''
  await using used = testClient(bmc, { username: null, password: null })
  await used.client.call('GET', systemPath)
  assert.deepEqual(bmc.said, [`GET ${systemPath}`])
  assert.equal(bmc.requests[0]!.headers['authorization'], undefined)
})

test('the session path of the root is used, with the standard one behind it', async () => {
  const root = standardTree['/redfish/v1']!
  for (const [links, path] of [
    [
      { Sessions: { '@odata.id': '/redfish/v1/Own/SessionService/Sessions' } },
      '/redfish/v1/Own/SessionService/Sessions',
    ],
    [undefined, sessions],
  ] as const) {
    await using bmc = await ScriptedBmc.start({ ...standardTree, '/redfish/v1': { ...root, Links: links } })
    await using used = testClient(bmc)
    await used.client.call('GET', systemPath)
    assert.equal(bmc.said[1], `POST ${path}`)
  }
})

test('a busy BMC is read again ten times in all, three seconds apart; an action is not repeated', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc)
  bmc.when('GET', systemPath, error(503, 'ServiceTemporarilyUnavailable', 'later'), 9)
  await used.client.call('GET', systemPath)
  assert.deepEqual(used.clock.slept, Array(9).fill(3000))
  bmc.when('GET', systemPath, error(503, 'ServiceTemporarilyUnavailable', 'later'), 30)
  await assert.rejects(
    used.client.call('GET', systemPath),
    (thrown) => thrown instanceof BmcRefused && thrown.status === 503,
  )
  const reset = `${systemPath}/Actions/ComputerSystem.Reset`
  bmc.when('POST', reset, error(503, 'ServiceTemporarilyUnavailable', 'later'))
  await assert.rejects(used.client.call('POST', reset, { body: { ResetType: 'On' } }), BmcRefused)
  assert.equal(bmc.said.filter((line) => line === `POST ${reset}`).length, 1)
})

test('words of a busy BMC are known whatever the status', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc)
  const reset = `${systemPath}/Actions/ComputerSystem.Reset`
  bmc.when('POST', reset, error(400, 'GeneralError', 'busy', { MessageId: 'IDRAC.2.8.SYS518' }), 2)
  await used.client.call('POST', reset, { body: { ResetType: 'On' } })
  assert.deepEqual(used.clock.slept, [3000, 3000])
})

test('a connection that breaks is opened again, but only for a BMC that was heard of', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc)
  await used.client.call('GET', systemPath)
  bmc.when('GET', systemPath, 'reset', 2)
  await used.client.call('GET', systemPath)
  assert.deepEqual(used.clock.slept, [3000, 3000])
  bmc.when('POST', /SimpleUpdate/, 'reset')
  await assert.rejects(
    used.client.call('POST', '/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate', {
      body: {},
      repeatable: false,
    }),
    BmcUnreachable,
  )
  assert.equal(bmc.said.filter((line) => line.includes('SimpleUpdate')).length, 1)
  const gone = await ScriptedBmc.start()
  await gone.closeServer()
  await using stranger = testClient(gone)
  await assert.rejects(
    stranger.client.call('GET', systemPath),
    (thrown) => thrown instanceof BmcUnreachable && thrown.fault === 'connect',
  )
  assert.deepEqual(stranger.clock.slept, [])
})

test('200 reads work with a BMC that drops the connection after each answer', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc)
  for (let count = 0; count < 200; count++) await used.client.call('GET', systemPath)
  assert.equal(bmc.said.filter((line) => line === `GET ${systemPath}`).length, 200)
})

test('the tag of the resource goes along with a change, and each way out of 412 and 428 is taken', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc)
  const read = new Bmc(used.client)
  const patches = () =>
    bmc.requests.filter(({ method }) => method === 'PATCH').map(({ headers }) => headers['if-match'])
  const wantsTag = (accepted: (tag: string | undefined) => number) => {
    bmc.rules.length = 0
    bmc.requests.length = 0
    bmc.when('PATCH', systemPath, ({ headers }) => {
      const status = accepted(headers['if-match'] as string | undefined)
      return status === 204 ? undefined : error(status, 'PreconditionFailed', 'tag')
    })
  }
  const change = async (etag?: string) => {
    if (etag !== undefined)
      bmc.when('GET', systemPath, () => ({ status: 200, headers: { ETag: etag }, body: bmc.resource(systemPath) }))
    const system = await read.get(ComputerSystem, systemPath)
    await system.patch({ IndicatorLED: 'Lit' })
  }
  wantsTag((tag) => (tag === '"1"' ? 204 : tag === undefined ? 428 : 412))
  await change()
  assert.deepEqual(patches(), ['"1"'])
  wantsTag((tag) => (tag === '"7"' ? 204 : 412))
  await change('W/"7"')
  assert.deepEqual(patches(), ['W/"7"', '"7"'])
  wantsTag((tag) => (tag === undefined ? 204 : 412))
  await change('W/"7"')
  assert.deepEqual(patches(), ['W/"7"', '"7"', undefined])
  wantsTag((tag) => (tag === undefined ? 204 : 412))
  await change('"7"')
  assert.deepEqual(patches(), ['"7"', undefined])
})

test('a tag in the body counts where the header is missing; 428 makes it read', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc)
  const body = { ...standardTree[systemPath], '@odata.etag': '"in body"' }
  bmc.when('GET', systemPath, { status: 200, body })
  await (await new Bmc(used.client).get(ComputerSystem, systemPath)).patch({})
  assert.equal(bmc.requests.at(-1)!.headers['if-match'], '"in body"')
  bmc.when('GET', systemPath, { status: 200, body: standardTree[systemPath] }, 1)
  bmc.when('PATCH', systemPath, ({ headers }) =>
    headers['if-match'] === undefined ? error(428, 'PreconditionRequired', 'tag') : undefined,
  )
  await (await new Bmc(used.client).get(ComputerSystem, systemPath)).patch({})
  assert.equal(bmc.requests.at(-1)!.headers['if-match'], '"in body"')
})

test('answers are limited in size, depth and time', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc, {}, { maxBodyBytes: 10_000, readTimeoutMs: 300 })
  bmc.when('GET', '/big', { status: 200, body: `{"a":"${'x'.repeat(20_000)}"}` })
  await assert.rejects(used.client.call('GET', '/big'), /larger than 10000 bytes/)
  bmc.when('GET', '/deep', { status: 200, body: `${'['.repeat(100)}${']'.repeat(100)}` })
  await assert.rejects(used.client.call('GET', '/deep'), /nested deeper/)
  bmc.when('GET', '/text', { status: 200, body: '<html>' })
  await assert.rejects(used.client.call('GET', '/text'), /not JSON/)
  bmc.when('GET', '/quiet', 'hang')
  await assert.rejects(
    used.client.call('GET', '/quiet', { signal: AbortSignal.timeout(20_000) }),
    (thrown) => thrown instanceof BmcUnreachable && thrown.fault === 'timeout',
  )
})

test('redirects are followed on the same origin for reading, and refused elsewhere', async () => {
  await using bmc = await ScriptedBmc.start()
  await using other = await ScriptedBmc.start()
  await using used = testClient(bmc)
  bmc.when('GET', '/redfish/v1/moved', { status: 308, headers: { Location: systemPath } })
  const answer = await used.client.call('GET', '/redfish/v1/moved')
  assert.equal((answer.body as { Id: string }).Id, '1')
  bmc.when('GET', '/redfish/v1/away', { status: 302, headers: { Location: `${other.address}${systemPath}` } })
  await assert.rejects(used.client.call('GET', '/redfish/v1/away'), /redirects GET .* refused/)
  bmc.when('POST', '/redfish/v1/act', { status: 307, headers: { Location: '/redfish/v1/elsewhere' } })
  await assert.rejects(used.client.call('POST', '/redfish/v1/act', { body: {} }), /redirects POST/)
  bmc.when('GET', '/redfish/v1/circle', { status: 302, headers: { Location: '/redfish/v1/circle' } })
  await assert.rejects(used.client.call('GET', '/redfish/v1/circle'), /more than 5 redirects/)
  await assert.rejects(used.client.call('GET', `${other.address}/x`), /not its own/)
  assert.deepEqual(other.requests, [])
})

test('collections are read over their pages, which must end', async () => {
  const page = (members: string[], next?: string) => ({
    Members: members.map((path) => ({ '@odata.id': path })),
    ...(next !== undefined && { 'Members@odata.nextLink': next }),
  })
  await using bmc = await ScriptedBmc.start({
    ...standardTree,
    '/redfish/v1/Many': page(['/a', '/b/'], '/redfish/v1/Many2'),
    '/redfish/v1/Many2': page(['/c']),
    '/redfish/v1/Loop': page(['/a'], '/redfish/v1/Loop'),
  })
  await using used = testClient(bmc)
  const read = new Bmc(used.client)
  assert.deepEqual(await read.memberPaths('/redfish/v1/Many'), ['/a', '/b', '/c'])
  await assert.rejects(read.memberPaths('/redfish/v1/Loop'), /does not end/)
})

test('the only system is found; several are listed, and something else is named for what it is', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc)
  const read = new Bmc(used.client)
  assert.equal((await findSystem(read, null)).path, systemPath)
  assert.equal((await findSystem(read, `${systemPath}/`)).data.PowerState, 'Off')
  bmc.resource('/redfish/v1/Systems')['Members'] = [
    { '@odata.id': systemPath },
    { '@odata.id': '/redfish/v1/Systems/2' },
  ]
  await assert.rejects(
    findSystem(read, null),
    (thrown) => thrown instanceof NoSingleSystem && /Systems\/1, .*Systems\/2/.test(thrown.message),
  )
  bmc.resource('/redfish/v1/Managers/bmc')['@odata.type'] = '#Manager.v1_0_0.Manager'
  await assert.rejects(
    findSystem(read, '/redfish/v1/Managers/bmc'),
    (thrown) => thrown instanceof RedfishProblem && /not a ComputerSystem.*Systems\/1/.test(thrown.message),
  )
})

test('a reset type that the BMC does not list is not sent', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc)
  const system = await findSystem(new Bmc(used.client), systemPath)
  await assert.rejects(resetSystem(system, 'PowerCycle'), /does not take PowerCycle/)
  assert.deepEqual(bmc.changes(), [])
})

test('an abort ends the wait of one caller and leaves the shared login to the others', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc)
  const stop = new AbortController()
  const one = used.client.call('GET', systemPath, { signal: stop.signal })
  const two = used.client.call('GET', systemPath)
  stop.abort(new Error('given up'))
  await assert.rejects(one, /given up/)
  await two
  assert.equal(bmc.logins, 1)
})

test('messages that carry an id only are told in words, and no secret is in any', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc)
  bmc.when('GET', systemPath, {
    status: 400,
    body: {
      error: {
        code: 'Base.1.8.GeneralError',
        '@Message.ExtendedInfo': [{ MessageId: 'Base.1.8.PropertyValueNotInList', MessageArgs: ['Foo', 'Bar'] }],
      },
    },
  })
  await assert.rejects(used.client.call('GET', systemPath), (thrown) => {
    assert.match(String(thrown), /value Foo of the property Bar is not one of those/)
    assert.doesNotMatch(String(thrown), /secret|token-/)
    return true
  })
})

test('a path that fails to the last attempt costs one attempt only for a while', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = testClient(bmc)
  const path = `${systemPath}/Storage`
  const tries = async () => {
    bmc.requests.length = 0
    await used.client.call('GET', path).catch((thrown: unknown) => assert.ok(thrown instanceof BmcRefused))
    return bmc.said.filter((line) => line === `GET ${path}`).length
  }
  bmc.when('GET', path, error(500, 'InternalError', 'always'))
  assert.deepEqual([await tries(), await tries()], [10, 1])
  await used.clock.sleep(11 * 60_000)
  assert.equal(await tries(), 10)
  bmc.rules.length = 0
  assert.deepEqual([await tries(), await tries()], [1, 1])
  bmc.when('GET', path, error(501, 'ActionNotSupported', 'never'))
  assert.equal(await tries(), 1)
})
