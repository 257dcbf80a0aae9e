/** The Helm chart, rendered by Helm itself. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { loadIronicConfig } from '../../src/config/load.ts'
import { helm } from '../peers/helm.ts'

const run = promisify(execFile)
const chart = join(import.meta.dirname, '../../deploy/helm/openkeel-ironic')

// oxlint-disable-next-line typescript/no-explicit-any -- Kubernetes objects
type Manifest = { kind: string; metadata: { name: string }; data?: Record<string, string>; spec?: any }

const needed = {
  'database.connectionSecret': 'ironic-db',
  'jsonRpc.credentialsSecret': 'ironic-rpc',
  'api.htpasswdSecret': 'ironic-users',
  agentApiUrl: 'http://192.0.2.1:6385',
}

async function render(values: Record<string, string>): Promise<Manifest[]> {
  const sets = Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  const { stdout } = await run(await helm(), [
    'template',
    'metal',
    chart,
    '--namespace',
    'hw',
    '--kube-version',
    '1.31.0',
    ...sets,
  ])
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null)
}

describe('the Helm chart', { timeout: 1_300_000 }, () => {
  let manifests: Manifest[]
  const one = (kind: string, part = '') => {
    const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name.endsWith(part))
    assert.ok(found, `${kind} ${part}`)
    return found
  }
  before(async () => {
    manifests = await render({ ...needed, 'conductor.httpUrl': 'http://192.0.2.1:6180', 'api.tlsSecret': 'ironic-tls' })
  })

  it('has an API deployment, a conductor StatefulSet and their services', () => {
    assert.deepEqual(manifests.map((manifest) => manifest.kind).toSorted(), [
      'ConfigMap',
      'Deployment',
      'PodDisruptionBudget',
      'PodDisruptionBudget',
      'Service',
      'Service',
      'StatefulSet',
    ])
  })
  it('gives each conductor one name for ever, behind a headless service', () => {
    const conductor = one('StatefulSet')
    const service = one('Service', '-conductor')
    assert.equal(conductor.spec.serviceName, service.metadata.name)
    assert.equal(service.spec.clusterIP, 'None')
    const [container] = conductor.spec.template.spec.containers
    const host = container.env.find((variable: { name: string }) => variable.name === 'OS_DEFAULT__HOST')
    assert.equal(host.value, `$(POD_NAME).${service.metadata.name}.hw.svc`)
  })
  it('waits for running work when a conductor is stopped', () => {
    const { terminationGracePeriodSeconds } = one('StatefulSet').spec.template.spec
    const config = one('ConfigMap').data?.['ironic.conf'] ?? ''
    assert.ok(terminationGracePeriodSeconds > Number(/graceful_shutdown_timeout = (\d+)/.exec(config)?.[1]))
  })
  it('has probes, limits on what a container may do, and secrets only by reference', () => {
    for (const kind of ['Deployment', 'StatefulSet'])
      for (const container of one(kind).spec.template.spec.containers) {
        assert.ok(container.readinessProbe && container.livenessProbe)
        assert.equal(container.securityContext.allowPrivilegeEscalation, false)
        assert.equal(container.securityContext.readOnlyRootFilesystem, true)
        for (const { name, value } of container.env as { name: string; value?: string }[])
          if (/PASSWORD|CONNECTION|USERNAME/.test(name)) assert.equal(value, undefined, name)
      }
  })
  it('writes a configuration that the service takes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chart-'))
    try {
      await writeFile(join(folder, 'ironic.conf'), one('ConfigMap').data?.['ironic.conf'] ?? '')
      const env = {
        OS_DATABASE__CONNECTION: 'mysql+pymysql://u:p@db/ironic',
        OS_JSON_RPC__USERNAME: 'rpc',
        OS_JSON_RPC__PASSWORD: 'p',
      }
      const { config, warnings } = loadIronicConfig({
        program: 'ironic-conductor',
        args: ['--config-dir', folder],
        env,
      })
      assert.deepEqual(warnings, [])
      assert.equal(config.DEFAULT.rpc_transport, 'json-rpc')
      assert.equal(config.database.connection, env.OS_DATABASE__CONNECTION)
      assert.equal(config.json_rpc.auth_strategy, 'http_basic')
      assert.equal(config.deploy.http_url, 'http://192.0.2.1:6180')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
  for (const missing of Object.keys(needed))
    it(`says so when ${missing} is missing`, async () => {
      const { [missing as keyof typeof needed]: _left, ...rest } = needed
      await assert.rejects(render(rest), new RegExp(missing.replace('.', '\\.')))
    })
})
