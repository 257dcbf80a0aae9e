import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { startLab } from '../lab.ts'
import type { LabMachine, LabOptions } from '../lab.ts'
import { quickTimings } from '../timings.ts'
import { basicBmc, strictBmc } from './profile.ts'

async function oneMachine(context: TestContext, more: Partial<LabOptions> = {}): Promise<LabMachine> {
  const directory = await mkdtemp(join(tmpdir(), 'lab-bmc-'))
  const timings = { ...quickTimings, powerOn: 60, powerOff: 60, shutdown: 60, firmware: 10 }
  const lab = await startLab({ machines: 1, directory, timings, ...more })
  context.after(async () => {
    await lab.close()
    await rm(directory, { recursive: true, force: true })
  })
  return lab.machines[0] as LabMachine
}

interface Seen {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Record<string, unknown>
}

/** Sends requests to a BMC as a client would. */
function clientOf(lab: LabMachine) {
  const login = lab.driverInfo
  const basic = Buffer.from(`${login['redfish_username']}:${login['redfish_password']}`).toString('base64')
  return async (
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Seen> => {
    const answer = await request(lab.bmc.address + path, {
      method,
      headers: { ...(headers['x-auth-token'] === undefined ? { authorization: `Basic ${basic}` } : {}), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.body.text()
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    }
  }
}

const system = (lab: LabMachine) => lab.driverInfo['redfish_system_id'] ?? ''
const powerOf = (seen: Seen) => seen.body['PowerState']

test('the root is open, everything else wants an account or a session', async (context) => {
  const lab = await oneMachine(context)
  const send = clientOf(lab)
  const wrong = { authorization: `Basic ${Buffer.from('admin:wrong').toString('base64')}` }
  assert.equal((await send('GET', '/redfish/v1/', undefined, wrong)).status, 200)
  const refused = await send('GET', system(lab), undefined, wrong)
  assert.equal(refused.status, 401)
  assert.match(String(refused.headers['www-authenticate']), /Basic/)
  assert.equal((await send('GET', system(lab))).status, 200)
  const login = { UserName: 'admin', Password: 'lab-password' }
  const session = await send('POST', '/redfish/v1/SessionService/Sessions', login)
  assert.equal(session.status, 201)
  const token = { 'x-auth-token': String(session.headers['x-auth-token']) }
  assert.equal((await send('GET', system(lab), undefined, token)).status, 200)
  lab.bmc.sessions.loseAll()
  assert.equal((await send('GET', system(lab), undefined, token)).status, 401)
  assert.equal((await send('POST', '/redfish/v1/SessionService/Sessions', { ...login, Password: 'x' })).status, 401)
})

test('power takes its time, and the boot override once is used up', async (context) => {
  const lab = await oneMachine(context)
  const send = clientOf(lab)
  const override = { Boot: { BootSourceOverrideTarget: 'Cd', BootSourceOverrideEnabled: 'Once' } }
  assert.equal((await send('PATCH', system(lab), override)).status, 204)
  assert.equal((await send('POST', `${system(lab)}/Actions/ComputerSystem.Reset`, { ResetType: 'On' })).status, 204)
  assert.equal(powerOf(await send('GET', system(lab))), 'Off')
  await sleep(150)
  const on = await send('GET', system(lab))
  assert.equal(powerOf(on), 'On')
  assert.equal((on.body['Boot'] as Record<string, unknown>)['BootSourceOverrideEnabled'], 'Disabled')
  assert.deepEqual(lab.machine.running, { kind: 'nothing', reason: 'no medium in the drive Cd' })
  await send('POST', `${system(lab)}/Actions/ComputerSystem.Reset`, { ResetType: 'GracefulShutdown' })
  await sleep(120)
  assert.equal(powerOf(await send('GET', system(lab))), 'On', 'nothing runs that could hear the button')
  await send('POST', `${system(lab)}/Actions/ComputerSystem.Reset`, { ResetType: 'ForceOff' })
  await sleep(120)
  assert.equal(powerOf(await send('GET', system(lab))), 'Off')
  assert.equal(
    (await send('POST', `${system(lab)}/Actions/ComputerSystem.Reset`, { ResetType: 'Explode' })).status,
    400,
  )
})

test('media go in once and come out once', async (context) => {
  const lab = await oneMachine(context, { profile: basicBmc })
  const send = clientOf(lab)
  const drive = `${system(lab)}/VirtualMedia/Cd`
  const insert = (image: unknown) => send('POST', `${drive}/Actions/VirtualMedia.InsertMedia`, { Image: image })
  assert.equal((await insert('ftp://x/y')).status, 400)
  assert.equal((await insert('http://192.0.2.1/boot.iso')).status, 204)
  assert.equal((await insert('http://192.0.2.1/boot.iso')).status, 409)
  const seen = (await send('GET', drive)).body
  assert.equal(seen['Inserted'], true)
  assert.equal(seen['ImageName'], 'boot.iso')
  assert.equal((await send('POST', `${drive}/Actions/VirtualMedia.EjectMedia`)).status, 204)
  assert.equal((await send('POST', `${drive}/Actions/VirtualMedia.EjectMedia`)).status, 400)
  assert.equal((await send('POST', '/redfish/v1/SessionService/Sessions', {})).status, 404, 'this BMC has no sessions')
})

test('a strict BMC insists on its ETag and refuses the state it is in', async (context) => {
  const lab = await oneMachine(context, { profile: strictBmc })
  const send = clientOf(lab)
  const session = await send('POST', '/redfish/v1/SessionService/Sessions', {
    UserName: 'admin',
    Password: 'lab-password',
  })
  const token = { 'x-auth-token': String(session.headers['x-auth-token']) }
  const override = { Boot: { BootSourceOverrideTarget: 'Hdd', BootSourceOverrideEnabled: 'Continuous' } }
  assert.equal((await send('PATCH', system(lab), override, token)).status, 428)
  assert.equal((await send('PATCH', system(lab), override, { ...token, 'if-match': '"1"' })).status, 412)
  const etag = String((await send('GET', system(lab), undefined, token)).headers['etag'])
  assert.match(etag, /^W\//)
  assert.equal((await send('PATCH', system(lab), override, { ...token, 'if-match': etag })).status, 204)
  const off = await send('POST', `${system(lab)}/Actions/ComputerSystem.Reset`, { ResetType: 'ForceOff' }, token)
  assert.equal(off.status, 409)
  assert.equal((await send('GET', system(lab))).status, 401, 'this BMC takes no Basic')
})

test('faults act by method and path, after and for as many requests as asked', async (context) => {
  const lab = await oneMachine(context)
  const send = clientOf(lab)
  const busy = { status: 503, headers: { 'Retry-After': '7' }, body: {} }
  const fault = lab.bmc.faults.add({ method: 'GET', path: /Systems\//, after: 1, times: 2, answer: busy })
  const statuses: number[] = []
  for (let n = 0; n < 4; n++) statuses.push((await send('GET', system(lab))).status)
  assert.deepEqual(statuses, [200, 503, 503, 200])
  assert.equal(fault.acted, 2)
  lab.bmc.faults.add({ path: /Managers/, times: 1, answer: 'reset' })
  await assert.rejects(send('GET', '/redfish/v1/Managers'))
  lab.bmc.faults.add({ path: /Chassis/, times: 1, answer: 'pass', effect: 'refuse logins' })
  assert.equal((await send('GET', '/redfish/v1/Chassis')).status, 401)
  lab.bmc.faults.clear()
  lab.bmc.faults.add({ path: /Chassis/, answer: 'hang' })
  const cut = AbortSignal.timeout(100)
  await assert.rejects(request(`${lab.bmc.address}/redfish/v1/Chassis`, { signal: cut }), /time/i)
})

test('firmware settings wait for the next boot', async (context) => {
  const lab = await oneMachine(context)
  const send = clientOf(lab)
  const path = `${system(lab)}/Bios`
  assert.equal((await send('PATCH', `${path}/Settings`, { Attributes: { NumLock: 'Off' } })).status, 200)
  assert.equal((await send('PATCH', `${path}/Settings`, { Attributes: { Nothing: 1 } })).status, 400)
  const attributes = async () => (await send('GET', path)).body['Attributes'] as Record<string, unknown>
  assert.equal((await attributes())['NumLock'], 'On')
  await send('POST', `${system(lab)}/Actions/ComputerSystem.Reset`, { ResetType: 'On' })
  await sleep(150)
  assert.equal((await attributes())['NumLock'], 'Off')
})
