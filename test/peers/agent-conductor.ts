import { createReadStream } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { AgentForTests } from '../../src/agent/agent-for-tests.ts'
import { createTestNode, startTestConductor, type TestConductor, testContext } from '../../src/conductor/for-tests.ts'
import type { ConfigOverrides } from '../../src/config/for-tests.ts'
import { FakeBoot } from '../../src/drivers/fake/boot.ts'
import { FakeManagement } from '../../src/drivers/fake/management.ts'
import { FakePower } from '../../src/drivers/fake/power.ts'
import { interfaceClasses } from '../../src/drivers/interface-classes.ts'
import type { Task } from '../../src/drivers/task.ts'
import { AgentInspect } from '../../src/inspection/agent-inspect.ts'
import type { Node } from '../../src/objects/index.ts'

/** A conductor whose machines do not exist, but whose agents may: fake boot and power, the agent's own interfaces for the rest. */

export const agentToken = 'the-token-of-this-run'

/** Boots with a token in the image, as virtual media does. */
class TokenBoot extends FakeBoot {
  override async prepareRamdisk(task: Task): Promise<void> {
    task.node.driver_internal_info = {
      ...task.node.driver_internal_info,
      agent_secret_token: agentToken,
      agent_secret_token_pregenerated: true,
    }
    await task.save()
  }
  override validateRescue(): Promise<void> {
    return Promise.resolve()
  }
}

/** Knows disks. */
class DiskManagement extends FakeManagement {
  override supportedBootDevices(): Promise<string[]> {
    return Promise.resolve(['pxe', 'disk'])
  }
  override setBootDevice(): Promise<void> {
    return Promise.resolve()
  }
}

export interface AgentConductor {
  readonly conductor: TestConductor
  readonly node: Node
  readonly folder: string
  /** serves the files of `<folder>/http` */
  readonly images: string
  /** power actions, in order */
  readonly power: string[]
  /** The node as it is now. */
  now(): Promise<Node>
  heartbeat(values?: Record<string, string | null>): Promise<void>
  /** Lets the agent send heartbeats while it is waited for. */
  untilDone(mostHeartbeats?: number): Promise<Node>
  change(values: Partial<Node>): Promise<void>
}

async function fileServer(t: TestContext, folder: string): Promise<string> {
  const server = createServer((request, response) => {
    const path = join(folder, request.url!)
    stat(path).then(
      ({ size }) => {
        response.writeHead(200, { 'content-length': size })
        if (request.method === 'HEAD') response.end()
        else createReadStream(path).pipe(response)
      },
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const waiting = new Set(['clean wait', 'wait call-back', 'service wait', 'rescue wait'])

export async function startAgentConductor(
  t: TestContext,
  agent: AgentForTests,
  values: Partial<Node>,
  overrides: ConfigOverrides = {},
  bootClass: typeof FakeBoot = TokenBoot,
): Promise<AgentConductor> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-conductor-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'http'))
  const images = await fileServer(t, join(folder, 'http'))
  const power: string[] = []
  class NotedPower extends FakePower {
    override async setPowerState(task: Task, target: string): Promise<void> {
      power.push(target)
      await super.setPowerState(task, target)
    }
    override async reboot(task: Task): Promise<void> {
      power.push('rebooting')
      await super.reboot(task)
    }
  }
  const conductor = await startTestConductor({
    interfaces: {
      ...interfaceClasses,
      boot: { ...interfaceClasses.boot, fake: bootClass },
      inspect: { ...interfaceClasses.inspect, agent: AgentInspect },
      management: { ...interfaceClasses.management, fake: DiskManagement },
      power: { ...interfaceClasses.power, fake: NotedPower },
    },
    config: {
      ...overrides,
      DEFAULT: {
        enabled_deploy_interfaces: ['direct', 'custom-agent'],
        enabled_rescue_interfaces: ['agent'],
        enabled_raid_interfaces: ['no-raid', 'agent'],
        default_deploy_interface: 'direct',
        default_storage_interface: 'noop',
        ...overrides.DEFAULT,
      },
      agent: {
        require_tls: false,
        deploy_logs_local_path: join(folder, 'logs'),
        command_wait_interval: 0,
        // the machine does not go down by itself: look once, then force it
        post_deploy_get_power_state_retries: 0,
        ...overrides.agent,
      },
      deploy: { http_url: images, http_root: join(folder, 'http'), ...overrides.deploy },
      pxe: { images_path: join(folder, 'images'), instance_master_path: join(folder, 'master') },
      service_catalog: { endpoint_override: 'http://127.0.0.1:6385/' },
    },
  })
  t.after(async () => {
    await conductor[Symbol.asyncDispose]()
    await agent.close()
  })
  const node = await createTestNode(conductor, {
    name: 'node-a',
    power_state: 'power off',
    boot_interface: 'fake',
    raid_interface: 'no-raid',
    properties: { cpu_arch: 'x86_64', capabilities: 'boot_mode:uefi', vendor: 'E2E' },
    ...values,
  })
  const now = () => conductor.node(node.uuid!)
  const heartbeat = async (more: Record<string, string | null> = {}) => {
    await conductor.rpc.heartbeat(testContext, {
      node_id: node.uuid!,
      callback_url: agent.url,
      agent_version: '13.0.0',
      agent_token: agentToken,
      ...more,
    })
    await conductor.settled()
  }
  return {
    conductor,
    node,
    folder,
    images,
    power,
    now,
    heartbeat,
    async untilDone(mostHeartbeats = 30) {
      await conductor.settled()
      for (let count = 0; count < mostHeartbeats; count++) {
        const current = await now()
        if (!waiting.has(current.provision_state ?? '')) return current
        await heartbeat()
      }
      throw new Error(`still ${(await now()).provision_state}`)
    },
    async change(changes) {
      const fresh = await now()
      await conductor.rpc.update_node(testContext, {
        node_obj: { data: { ...fresh, ...changes }, changes: Object.keys(changes) as (keyof Node)[] },
      })
    },
  }
}
