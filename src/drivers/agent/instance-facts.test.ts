import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { nodeForTests } from '../../agent/agent-for-tests.ts'
import { testConfig } from '../../config/for-tests.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { partitionLayout } from './disk-layout.ts'
import { agentIsAlive, fastTrackEnabled } from './fast-track.ts'
import { isNoProxyList, validateImage } from './image-validation.ts'
import { updateRaidInfo } from './post-step-hooks.ts'
import { ramdiskLogsFileName } from './ramdisk-logs.ts'
import { writeImageStep } from './write-image.ts'

interface Case {
  in: { fn: string; args: [unknown, JsonDict] }
  out?: { raid_config: JsonDict; properties: JsonDict } | boolean
  error?: string
}
const cases = JSON.parse(readFileSync(new URL('../../../test/vectors/utils.json', import.meta.url), 'utf8')) as Case[]
const now = new Date('2026-12-01T12:00:00.5Z')

test('what a RAID that was made means to its node is as Ironic has it', () => {
  for (const one of cases.filter(({ in: given }) => given.fn === 'raid_update_node')) {
    const node = nodeForTests({ properties: structuredClone(one.in.args[1]) })
    const label = JSON.stringify(one)
    const config = one.in.args[0] as JsonDict
    if (one.out === undefined) {
      assert.throws(() => updateRaidInfo(node, config, now), label)
      continue
    }
    updateRaidInfo(node, config, now)
    const { last_updated, ...raid_config } = node.raid_config!
    assert.equal(last_updated, '2026-12-01 12:00:00.500000')
    assert.deepEqual({ raid_config, properties: node.properties }, one.out, label)
  }
})

test('lists of hosts without a proxy are judged as Ironic does', () => {
  for (const one of cases.filter(({ in: given }) => given.fn === 'is_valid_no_proxy')) {
    assert.equal(isNoProxyList(one.in.args[0]), one.out, JSON.stringify(one))
  }
})

test('the layout of a partition image: sizes are integers, an ephemeral partition is kept in the same layout only', () => {
  const config = testConfig()
  const layout = (instance_info: JsonDict, internal: JsonDict = {}) =>
    partitionLayout(nodeForTests({ instance_info, driver_internal_info: internal }), config)
  assert.throws(() => layout({}), { name: 'MissingParameterValue' })
  for (const bad of [
    { root_gb: 'ten' },
    { root_gb: 10, swap_mb: '1.5' },
    { root_gb: 10, preserve_ephemeral: 'perhaps' },
  ]) {
    assert.throws(() => layout(bad), { name: 'InvalidParameterValue' }, JSON.stringify(bad))
  }
  const deployed = { instance: { root_gb: 10, swap_mb: 0, ephemeral_gb: 5 } }
  const same = { root_gb: '10', ephemeral_gb: 5, preserve_ephemeral: 'true' }
  assert.equal(layout(same, deployed)['preserve_ephemeral'], true)
  assert.throws(() => layout({ ...same, root_gb: 11 }, deployed), /root_gb was 10, now it is 11/)
  assert.equal(layout({ ...same, root_gb: 11 })['root_mb'], 11264)
})

test('the image step carries proxies, authorization and the checksum in the form that was given', () => {
  const node = nodeForTests({
    instance_info: {
      image_source: 'http://h/a/b.raw',
      image_url: 'http://h/a/b.raw',
      image_checksum: 'abc',
      image_request_authorization_secret: 'Bearer x',
    },
    driver_info: { image_http_proxy: 'http://proxy', image_no_proxy: '.example.com' },
    driver_internal_info: { is_whole_disk_image: true },
  })
  const { args } = writeImageStep(node, null, testConfig())
  assert.deepEqual(args, {
    configdrive: null,
    image_info: {
      id: 'b.raw',
      urls: ['http://h/a/b.raw'],
      disk_format: null,
      container_format: null,
      stream_raw_images: true,
      checksum: 'abc',
      image_request_authorization: Buffer.from('Bearer x').toString('base64'),
      proxies: { http: 'http://proxy' },
      no_proxy: '.example.com',
      node_uuid: node.uuid,
    },
  })
})

test('an image is judged by what is said of it', () => {
  const good = { image_source: 'http://h/x', image_checksum: 'x' }
  const check = (instance_info: JsonDict, driver_info: JsonDict = {}, deploy = {}) =>
    validateImage(nodeForTests({ instance_info, driver_info }), testConfig({ deploy }))
  check(good)
  check({ image_source: 'file:///x' }, {}, { http_url: 'http://c' })
  check({ ...good, image_type: 'partition' }, { image_https_proxy: 'proxy:3128' })
  for (const [info, driverInfo] of [
    [{}],
    [{ ...good, image_type: 'tape' }],
    [{ image_source: 'http://h/x' }],
    [{ ...good, image_os_hash_algo: 'sha256' }],
    [{ ...good, image_download_source: 'tape' }],
    [{ ...good, image_download_source: 'local' }],
    [{ image_source: 'file:///x' }],
    [good, { image_http_proxy: 'socks5://h' }],
    [good, { image_no_proxy: 'a_b' }],
  ] as [JsonDict, JsonDict?][]) {
    assert.throws(() => check(info, driverInfo), /InvalidParameterValue|MissingParameterValue/, JSON.stringify(info))
  }
})

test('the agent is alive while it was heard of lately', () => {
  const config = testConfig()
  const at = (secondsAgo: number, more = {}) =>
    agentIsAlive(
      nodeForTests({
        driver_internal_info: {
          agent_url: 'https://a',
          agent_last_heartbeat: new Date(now.getTime() - secondsAgo * 1000).toISOString().replace('Z', '000'),
          ...more,
        },
      }),
      config,
      now,
    )
  assert.equal(at(299), true)
  assert.equal(at(301), false)
  assert.equal(at(1, { agent_url: null }), false)
  assert.equal(fastTrackEnabled(nodeForTests({ driver_info: { fast_track: 'yes' } }), config), true)
  assert.equal(fastTrackEnabled(nodeForTests(), config), false)
  assert.throws(() => fastTrackEnabled(nodeForTests({ driver_info: { fast_track: 'perhaps' } }), config))
})

test('log files are named by node, and no name leads out of their folder', () => {
  const node = nodeForTests({ name: '../x', instance_uuid: 'i' })
  assert.equal(ramdiskLogsFileName(node, now, 'cleaning'), `${node.uuid}_.._x_i_cleaning_2026-12-01-12-00-00.tar.gz`)
})
