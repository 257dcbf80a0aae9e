import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { parseKernelCommandLine } from '../../src/domain/kernel-parameters.ts'
import { redfishBench } from '../../src/drivers/redfish/for-tests.ts'
import { MissingParameterValue } from '../../src/errors/driver.ts'
import { ImageCreationFailed } from '../../src/errors/image.ts'
import { readIso } from '../../src/images/iso9660-reader.ts'
import { writeIso } from '../../src/images/iso9660-writer.ts'
import { buildBootIso, grubText } from '../../src/images/boot-iso.ts'
import { testConfig, type ConfigOverrides } from '../../src/config/for-tests.ts'
import { bootFromCd, type BootMode } from '../../src/lab/media/boot-config.ts'
import { fromBuffer } from '../../src/lab/media/byte-source.ts'
import { IsoReader } from '../../src/lab/media/iso-reader.ts'
import { sampleEspImage } from '../../src/lab/media/sample-image.ts'
import { mediaPath, ScriptedBmc, systemPath } from '../../src/lib/redfish/for-tests.ts'
import type { Node } from '../../src/objects/index.ts'
import { needPackages } from '../peers/debian.ts'

let folder: string
before(async () => {
  await needPackages(['xorriso', 'isolinux', 'syslinux-common', 'mtools', 'dosfstools'])
  folder = await mkdtemp(join(tmpdir(), 'boot-iso-'))
  await writeFile(join(folder, 'kernel=1'), 'kernel '.repeat(5000))
  await writeFile(join(folder, 'ramdisk'), 'ramdisk '.repeat(9000))
  await writeFile(join(folder, 'esp'), sampleEspImage())
  await writeFile(join(folder, 'ready.iso'), 'a ready-made image', { mode: 0o644 })
  await mkdir(join(folder, 'http'))
})
after(() => rm(folder, { recursive: true }))

const line = 'ipa-api-url=https://[2001:db8::1]:6385 a=b;c x="y z" nofb'
async function built(bootMode: BootMode, config: ConfigOverrides = {}) {
  const output = join(folder, `${bootMode}.iso`)
  const workFolder = await mkdtemp(join(folder, 'work-'))
  await rm(output, { force: true })
  await buildBootIso(testConfig(config), {
    kernel: join(folder, 'kernel=1'),
    ramdisk: join(folder, 'ramdisk'),
    bootMode,
    output,
    workFolder,
    commandLine: parseKernelCommandLine(line),
    esp: bootMode === 'uefi' ? join(folder, 'esp') : null,
    inject: [{ target: 'openstack/latest/network_data.json', source: Buffer.from('{"links": []}') }],
    publisherId: 'b0b3a9b2-0000-4000-8000-000000000001',
    signal: AbortSignal.timeout(60_000),
  })
  const bytes = await readFile(output)
  return { iso: await IsoReader.open(fromBuffer(bytes)), bytes }
}

for (const mode of ['uefi', 'bios'] as const) {
  test(`an ISO for ${mode} boots the kernel with its parameters`, async () => {
    const { iso, bytes } = await built(mode)
    const command = await bootFromCd(iso, mode)
    assert.deepEqual([command.kernel, command.ramdisks], ['/vmlinuz', ['/initrd']])
    assert.equal(command.parameters.get('ipa-api-url'), 'https://[2001:db8::1]:6385')
    assert.match(command.line, mode === 'uefi' ? / a="b;c" x="y z" nofb --$/ : / a=b;c x="y z" nofb --$/)
    assert.equal(iso.label, 'config-2')
    const kernel = await iso.read((await iso.find('/vmlinuz'))!)
    assert.equal(kernel.toString(), 'kernel '.repeat(5000))
    const data = await iso.read((await iso.find('/openstack/latest/network_data.json'))!)
    assert.equal(data.toString(), '{"links": []}')
    // publisher of the primary volume descriptor (ECMA-119 section 8.4.20)
    assert.match(
      bytes.toString('latin1', 16 * 2048 + 318, 16 * 2048 + 446),
      /^b0b3a9b2-0000-4000-8000-000000000001 *$/i,
    )
  })
}

test('without a boot loader, with a bad template or a bad kernel it is said why', async () => {
  await assert.rejects(
    built('bios', { DEFAULT: { isolinux_config_template: join(folder, 'none') } }),
    ImageCreationFailed,
  )
  await writeFile(join(folder, 'template'), 'linux {{ linux }} {% if x %}')
  await assert.rejects(built('uefi', { DEFAULT: { grub_config_template: join(folder, 'template') } }), /uses more than/)
  await writeFile(join(folder, 'template'), 'linux {{linux}} {{ kernel_params }} own\ninitrd {{ initrd }}\n')
  const { iso } = await built('uefi', { DEFAULT: { grub_config_template: join(folder, 'template') } })
  assert.match((await bootFromCd(iso, 'uefi')).line, /nofb own$/)
  await assert.rejects(built('uefi', { DEFAULT: { grub_config_path: '../../grub.cfg' } }), ImageCreationFailed)
})

test('nothing in a parameter ends the line of GRUB or is its own to read', () => {
  const quoted = grubText(parseKernelCommandLine(String.raw`a=$(reboot) b=\x c={d} e=#f`))
  assert.equal(quoted, String.raw`a="\$(reboot)" b="\\x" c="{d}" e="#f"`)
  assert.equal(grubText('a=b\nmenuentry x'), 'a=bmenuentry x')
})

const bench = (bmc: ScriptedBmc, node: Partial<Node>, config: ConfigOverrides = {}) =>
  redfishBench(bmc, {
    node,
    config: {
      ...config,
      deploy: { http_root: join(folder, 'http'), http_url: 'http://192.0.2.9:8088', ...config.deploy },
      conductor: { file_url_allowed_paths: [folder], ...config.conductor },
      DEFAULT: { tempdir: folder, esp_image: join(folder, 'esp'), ...config.DEFAULT },
    },
  })
const published = () => readdir(join(folder, 'http', 'redfish'))
const kernelAndRamdisk = () => ({
  deploy_kernel: `file://${folder}/kernel=1`,
  deploy_ramdisk: `file://${folder}/ramdisk`,
})
const cd = `${mediaPath}/Cd`

test('the ramdisk is booted from an ISO with the token in it, and nothing stays of it', async () => {
  await using bmc = await ScriptedBmc.start()
  bmc.resource(systemPath)['PowerState'] = 'On'
  const driverInfo = { ...kernelAndRamdisk(), kernel_append_params: '%default% own=1' }
  await using used = bench(bmc, { provision_state: 'cleaning', driver_info: driverInfo })
  await used.boot.prepareRamdisk(used.task, { 'ipa-api-url': 'http://192.0.2.9:6385' })
  const [name, ...others] = await published()
  assert.deepEqual(others, [])
  assert.match(name!, /^boot-a0000000-0000-4000-8000-000000000001-.{22}\.iso$/)
  assert.deepEqual(
    bmc.changes().map(({ method, path, body }) => [method, path.split('/').at(-1), body]),
    [
      ['POST', 'ComputerSystem.Reset', { ResetType: 'ForceOff' }],
      ['POST', 'VirtualMedia.InsertMedia', { Image: `http://192.0.2.9:8088/redfish/${name}` }],
      ['PATCH', '1', { Boot: { BootSourceOverrideTarget: 'Cd', BootSourceOverrideEnabled: 'Once' } }],
    ],
  )
  const { parameters } = await bootFromCd(
    await IsoReader.open(fromBuffer(await readFile(join(folder, 'http', 'redfish', name!)))),
    'uefi',
  )
  const internal = used.node.driver_internal_info!
  assert.equal(parameters.get('ipa-agent-token'), internal['agent_secret_token'])
  assert.equal(internal['agent_secret_token_pregenerated'], true)
  assert.equal(internal['vmedia_transport_protocol'], 'HTTP')
  assert.match(parameters.get('ir_pub_id')!, /^[0-9a-f-]{36}$/)
  assert.deepEqual(
    ['boot_method', 'ipa-api-url', 'nofb', 'vga', 'own'].map((key) => parameters.get(key)),
    ['vmedia', 'http://192.0.2.9:6385', '', 'normal', '1'],
  )
  await used.boot.cleanUpRamdisk(used.task)
  assert.deepEqual(await published(), [])
  assert.equal(bmc.resource(cd)['Inserted'], false)
  assert.deepEqual(
    (await readdir(folder)).filter((entry) => entry.startsWith('ironic-boot-')),
    [],
  )
})

test('a ready-made ISO goes by as it is, without a token; one of this host is published', async () => {
  await using bmc = await ScriptedBmc.start()
  const config = { deploy: { ramdisk_image_download_source: 'http' } } as const
  await using remote = bench(
    bmc,
    { provision_state: 'cleaning', driver_info: { deploy_iso: 'http://192.0.2.1/a.iso' } },
    config,
  )
  await remote.boot.prepareRamdisk(remote.task, {})
  assert.equal(bmc.resource(cd)['Image'], 'http://192.0.2.1/a.iso')
  assert.equal(remote.node.driver_internal_info!['agent_secret_token'], undefined)
  await using local = bench(bmc, {
    provision_state: 'cleaning',
    driver_info: { deploy_iso: `file://${folder}/ready.iso` },
  })
  await local.boot.prepareRamdisk(local.task, {})
  const [name] = await published()
  assert.equal(bmc.resource(cd)['Image'], `http://192.0.2.9:8088/redfish/${name}`)
  assert.equal(await readFile(join(folder, 'http', 'redfish', name!), 'utf8'), 'a ready-made image')
  await local.boot.cleanUpInstance(local.task)
})

test('an instance on its disk needs media out and the disk first', async () => {
  await using bmc = await ScriptedBmc.start()
  Object.assign(bmc.resource(cd), { Inserted: true, Image: 'http://x/old.iso' })
  await using used = bench(bmc, { provision_state: 'deploying', driver_info: kernelAndRamdisk() })
  await used.boot.prepareInstance(used.task)
  assert.equal(bmc.resource(cd)['Inserted'], false)
  const boot = bmc.resource(systemPath)['Boot'] as Record<string, unknown>
  assert.deepEqual([boot['BootSourceOverrideTarget'], boot['BootSourceOverrideEnabled']], ['Hdd', 'Continuous'])
})

test('an instance that is a ramdisk gets its ISO, and its configuration drive however it was told', async () => {
  const files = { 'openstack/latest/user_data': Buffer.from('hello') }
  const image = gzipSync(writeIso(files, { label: 'config-2', publisher: 'Ironic', created: new Date(0) }))
  const told = [{ user_data: 'hello' }, image.toString('base64')]
  for (const configdrive of told) {
    await using bmc = await ScriptedBmc.start()
    await using used = bench(bmc, {
      provision_state: 'deploying',
      deploy_interface: 'ramdisk',
      instance_info: { boot_iso: `file://${folder}/ready.iso`, configdrive },
    })
    await used.boot.prepareInstance(used.task)
    assert.match(String(bmc.resource(cd)['Image']), /\/boot-.*\.iso$/)
    const drive = String(bmc.resource(`${mediaPath}/Usb`)['Image'])
      .split('/')
      .at(-1)!
    const read = readIso(await readFile(join(folder, 'http', 'redfish', drive)))
    assert.equal(read['openstack/latest/user_data']?.toString(), 'hello')
    await used.boot.cleanUpInstance(used.task)
    assert.deepEqual(await published(), [])
  }
})

test('parameters go by a removable device where the node wants it', async () => {
  await using bmc = await ScriptedBmc.start()
  const driverInfo = { deploy_iso: `file://${folder}/ready.iso`, config_via_removable: 'true' }
  await using used = bench(bmc, { provision_state: 'inspecting', driver_info: driverInfo })
  await used.boot.prepareRamdisk(used.task, { 'ipa-api-url': 'http://192.0.2.9:6385' })
  const image = String(bmc.resource(`${mediaPath}/Usb`)['Image'])
    .split('/')
    .at(-1)!
  const bytes = await readFile(join(folder, 'http', 'redfish', image), 'latin1')
  assert.match(bytes, /ipa-api-url=http:\/\/192\.0\.2\.9:6385\n/)
  assert.match(bytes, new RegExp(`ipa-agent-token=${String(used.node.driver_internal_info!['agent_secret_token'])}`))
  await used.boot.cleanUpRamdisk(used.task)
  assert.deepEqual(await published(), [])
})

test('what is missing is named before anything is done', async () => {
  await using bmc = await ScriptedBmc.start()
  await using used = bench(bmc, { provision_state: 'cleaning', driver_info: { deploy_kernel: 'http://x/k' } })
  await assert.rejects(
    used.boot.validate(used.task),
    (thrown) =>
      thrown instanceof MissingParameterValue && /deploy_kernel and deploy_ramdisk|deploy_iso/.test(thrown.message),
  )
  await assert.rejects(used.boot.prepareRamdisk(used.task, {}), MissingParameterValue)
  assert.deepEqual(bmc.requests, [])
})

test('a parameter that could break out of the boot configuration is refused', async () => {
  await using bmc = await ScriptedBmc.start()
  for (const value of ['a="b', 'x\nmenuentry', 'ü=1']) {
    const driverInfo = { ...kernelAndRamdisk(), kernel_append_params: value }
    await using used = bench(bmc, { provision_state: 'cleaning', driver_info: driverInfo })
    await assert.rejects(used.boot.prepareRamdisk(used.task, {}), /kernel_append_params in driver_info/)
  }
  assert.deepEqual(await published(), [])
})
