/** One suite for every way that a call takes to a conductor: in process, JSON-RPC, RabbitMQ. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { IronicError, NodeLocked } from '../../src/errors/index.ts'
import type { RequestContext } from '../../src/domain/context.ts'
import { silentLogger } from '../../src/lib/oslo-log/logger.ts'
import { stockRabbitOptions } from '../../src/lib/oslo-messaging/topology.ts'
import { parseTransportUrl } from '../../src/lib/oslo-messaging/transport-url.ts'
import type { Node } from '../../src/objects/index.ts'
import { conductorContract, type ConductorService } from '../../src/rpc/conductor.ts'
import type { Transport } from '../../src/rpc/contract.ts'
import { JsonRpcTransport } from '../../src/rpc/transports/json-rpc.ts'
import { localTransport } from '../../src/rpc/transports/local.ts'
import { OsloTransport } from '../../src/rpc/transports/oslo.ts'
import { freePorts } from '../../src/lab/scenario/service-process.ts'
import { startRabbitmq, type Rabbitmq } from '../peers/rabbitmq.ts'

const context: RequestContext = {
  request_id: 'req-1',
  user_id: 'alice',
  project_id: 'p1',
  roles: ['admin'],
  is_admin_project: true,
}

/** A service that keeps what it was asked. */
class Recorder {
  readonly seen: { method: string; context: RequestContext; args: Record<string, unknown> }[] = []
  private release: (() => void) | null = null

  get service(): ConductorService {
    const note =
      (method: string, answer: (args: Record<string, unknown>) => unknown) =>
      async (caller: RequestContext, args: Record<string, unknown>) => {
        this.seen.push({ method, context: caller, args })
        return answer(args)
      }
    return {
      get_boot_device: note('get_boot_device', () => ({ boot_device: 'pxe', persistent: false })),
      change_node_power_state: note('change_node_power_state', ({ node_id }) => {
        throw new NodeLocked({ node: node_id, host: 'elsewhere' })
      }),
      inject_nmi: note('inject_nmi', () => {
        throw new TypeError('a fault of ours: hush')
      }),
      do_node_clean: note('do_node_clean', () => undefined),
      continue_node_clean: note('continue_node_clean', () => undefined),
      update_node: note('update_node', ({ node_obj }) => ({
        ...(node_obj as { data: Node }).data,
        provision_updated_at: new Date('2026-12-01T05:55:38Z'),
      })),
      vif_list: note('vif_list', () => new Promise((resolve) => (this.release = () => resolve([])))),
    } as unknown as ConductorService
  }

  let(): void {
    this.release?.()
  }
}

interface Fixture {
  transport: Transport & Partial<AsyncDisposable>
  host: string
  /** objects and arguments are handed over as they are */
  inProcess: boolean
}

function brokerOf(rabbit: Rabbitmq) {
  return {
    url: parseTransportUrl(rabbit.url),
    tls: null,
    loginMethod: 'AMQPLAIN' as const,
    heartbeatSeconds: 60,
    retry: { interval: 0.2, backoff: 0.2, max: 1 },
    connectTimeoutMs: 30_000,
    program: 'test',
    log: silentLogger,
  }
}

function suite(name: string, make: () => Promise<Fixture>): void {
  describe(`RPC over ${name}`, () => {
    let fixture: Fixture
    let server: AsyncDisposable
    const recorder = new Recorder()
    const client = () => fixture.transport.client(conductorContract, fixture.host)
    const last = () => recorder.seen.at(-1)
    before(async () => {
      fixture = await make()
      server = await fixture.transport.serve(conductorContract, fixture.host, recorder.service)
    })
    after(async () => {
      await server[Symbol.asyncDispose]()
      await fixture.transport[Symbol.asyncDispose]?.()
    })

    it('a call brings its result', async () => {
      assert.deepEqual(await client().get_boot_device(context, { node_id: 'n' }), {
        boot_device: 'pxe',
        persistent: false,
      })
      assert.deepEqual(last()?.args, { node_id: 'n' })
    })
    it('the caller is known', () => {
      const caller = last()?.context
      assert.equal(caller?.user_id, 'alice')
      assert.equal(caller?.project_id, 'p1')
      assert.deepEqual(caller?.roles, ['admin'])
      assert.equal(caller?.request_id, 'req-1')
    })
    it('a declared error arrives as itself', async () => {
      await assert.rejects(
        client().change_node_power_state(context, { node_id: 'n', new_state: 'power on' }),
        (error: Error) => {
          assert.ok(error instanceof NodeLocked)
          assert.equal(error.code, 409)
          assert.match(error.message, /elsewhere/)
          return true
        },
      )
    })
    it('another error arrives as a plain one of status 500', async () => {
      await assert.rejects(client().inject_nmi(context, { node_id: 'n' }), (error: Error) => {
        if (fixture.inProcess) return true
        assert.ok(error instanceof IronicError)
        assert.equal(error.code, 500)
        assert.doesNotMatch(error.message, /hush/)
        return true
      })
    })
    it('arguments that were not given have their default', async () => {
      await client()
        .change_node_power_state(context, { node_id: 'n', new_state: 'x' })
        .catch(() => {})
      assert.equal(last()?.args['timeout'], null)
      await client().do_node_clean(context, { node_id: 'n', clean_steps: [] })
      assert.ok(!last()?.args['disable_ramdisk'])
    })
    it('an object goes there with its changes and comes back whole', async () => {
      const node = {
        id: 7,
        uuid: '6b6e0b9c-0000-4000-8000-00000000000a',
        name: 'żółw',
        extra: { a: [1, null, true] },
        created_at: new Date('2026-12-01T05:55:38Z'),
        traits: [{ trait: 'CUSTOM_A', node_id: '1', created_at: null, updated_at: null }],
      } as unknown as Node
      const answer = await client().update_node(context, { node_obj: { data: node, changes: ['extra'] } })
      const sent = last()?.args['node_obj'] as { data: Node; changes: string[] }
      assert.deepEqual(sent.changes, ['extra'])
      assert.deepEqual(sent.data.extra, node.extra)
      assert.deepEqual(answer.created_at, node.created_at)
      assert.deepEqual(answer.provision_updated_at, new Date('2026-12-01T05:55:38Z'))
      assert.equal(answer.name, 'żółw')
      assert.equal(answer.traits?.[0]?.['trait'], 'CUSTOM_A')
    })
    it('a cast is run and nothing waits for it', async () => {
      const before = recorder.seen.length
      await client().continue_node_clean(context, { node_id: 'n' })
      for (let i = 0; i < 100 && recorder.seen.length === before; i++) await sleep(20)
      assert.equal(last()?.method, 'continue_node_clean')
    })
    it('many calls at once are answered, each with its own', async () => {
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => client().get_boot_device(context, { node_id: 'n' })),
      )
      assert.equal(answers.filter((answer) => answer.boot_device === 'pxe').length, 200)
    })
    it('a slow call does not hold others up', async () => {
      const slow = client().vif_list(context, { node_id: 'n' })
      for (let i = 0; i < 100 && last()?.method !== 'vif_list'; i++) await sleep(20)
      assert.equal((await client().get_boot_device(context, { node_id: 'n' })).boot_device, 'pxe')
      recorder.let()
      assert.deepEqual(await slow, [])
    })
    it('a host that is not there is an error', async () => {
      const nobody = fixture.transport.client(conductorContract, name === 'JSON-RPC' ? `127.0.0.1:1` : 'nobody')
      await assert.rejects(nobody.get_boot_device(context, { node_id: 'n' }), IronicError)
    })
  })
}

suite('nothing', () => Promise.resolve({ transport: localTransport(silentLogger), host: 'here', inProcess: true }))

suite('JSON-RPC', async () => {
  const [port = 0] = await freePorts(1)
  const transport = new JsonRpcTransport({
    port: 8089,
    timeoutSeconds: 20,
    clientTls: null,
    credentials: () => Promise.resolve({ 'x-auth-token': 'notused' }),
    log: silentLogger,
    server: {
      admit: () => Promise.resolve(null),
      tls: null,
      listen: { host: '127.0.0.1', port },
      maxDepth: 25,
      maxBody: 2 ** 20,
    },
  })
  return { transport, host: `127.0.0.1:${port}`, inProcess: false }
})

describe('with RabbitMQ', () => {
  let rabbit: Rabbitmq
  before(async () => {
    rabbit = await startRabbitmq()
  })
  after(() => rabbit[Symbol.asyncDispose]())

  suite('RabbitMQ', () =>
    Promise.resolve({
      transport: new OsloTransport({
        broker: brokerOf(rabbit),
        rabbit: stockRabbitOptions,
        responseTimeout: 5,
        log: silentLogger,
      }),
      host: 'conductor-a',
      inProcess: false,
    }),
  )

  it('a broker that was restarted is used again, without a restart of ours', async () => {
    const recorder = new Recorder()
    const transport = new OsloTransport({
      broker: brokerOf(rabbit),
      rabbit: stockRabbitOptions,
      responseTimeout: 15,
      log: silentLogger,
    })
    const server = await transport.serve(conductorContract, 'conductor-b', recorder.service)
    const client = transport.client(conductorContract, 'conductor-b')
    assert.equal((await client.get_boot_device(context, { node_id: 'n' })).boot_device, 'pxe')
    await rabbit.kill()
    const during = client.get_boot_device(context, { node_id: 'n' }).then(
      () => 'answered',
      () => 'failed',
    )
    await rabbit.start()
    for (let i = 0; ; i++) {
      const answer = await client.get_boot_device(context, { node_id: 'n' }).catch((error: Error) => error)
      if (!(answer instanceof Error)) break
      assert.ok(i < 30, answer.message)
      await sleep(500)
    }
    assert.match(await during, /answered|failed/)
    await server[Symbol.asyncDispose]()
    await transport[Symbol.asyncDispose]()
  })
})
