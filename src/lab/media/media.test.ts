import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { Agent } from 'undici'
import { Disk } from '../disk.ts'
import { startFileServer } from '../scenario/file-server.ts'
import { bootFromCd, kernelCommand } from './boot-config.ts'
import { fromBuffer, openFile, openUrl } from './byte-source.ts'
import { fatVolume } from './fat.ts'
import { IsoReader } from './iso-reader.ts'
import { gptPieces, partitionTypes, readPartitionTable } from './partition-table.ts'
import { sampleEspImage, sha256Of, writeSampleImage } from './sample-image.ts'

const run = promisify(execFile)
let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lab-media-'))
})
after(() => rm(directory, { recursive: true, force: true }))

const grub = `set default=0
menuentry "install" {
    linuxefi /vmlinuz nofb ipa-api-url=http://192.0.2.1:6385 ipa-agent-token=secret boot_method=vmedia --
    initrdefi /initrd
}
`

/** A boot ISO like that of a conductor; long names lie in continuation areas of Rock Ridge. */
async function makeIso(name: string, { kernel = true, esp = sampleEspImage() } = {}): Promise<string> {
  const tree = join(directory, `${name}.tree`)
  await mkdir(join(tree, 'EFI/BOOT'), { recursive: true })
  const long = `a-file-with-quite-a-long-name-${'x'.repeat(180)}`
  await writeFile(join(tree, 'EFI/BOOT/grub.cfg'), grub)
  await writeFile(join(tree, 'efiboot.img'), esp)
  await writeFile(join(tree, 'initrd'), Buffer.alloc(300_000, 7))
  await writeFile(join(tree, long), 'found')
  if (kernel) await writeFile(join(tree, 'vmlinuz'), Buffer.alloc(100_000, 5))
  const path = join(directory, `${name}.iso`)
  const args = ['-as', 'mkisofs', '-r', '-V', 'VMEDIA_BOOT_ISO', '-e', 'efiboot.img', '-no-emul-boot', '-o', path, tree]
  await run('xorriso', args)
  return path
}

describe('ISO 9660', () => {
  test('finds files by their Rock Ridge names and reads them', async () => {
    const source = await openFile(await makeIso('names'))
    const iso = await IsoReader.open(source)
    assert.equal(iso.label, 'VMEDIA_BOOT_ISO')
    const names = (await iso.list()).map((entry) => entry.name)
    assert.ok(names.includes('vmlinuz'))
    const long = names.find((name) => name.startsWith('a-file-with-quite-a-long-name-'))
    assert.equal(long?.length, 210)
    const entry = await iso.find(`/${long}`)
    assert.ok(entry !== undefined)
    assert.equal((await iso.read(entry)).toString(), 'found')
    assert.equal(await iso.find('/EFI/BOOT/nothing'), undefined)
    await source.close()
  })

  test('boots the kernel that GRUB names, read in ranges over HTTP', async (context) => {
    await makeIso('boot')
    const server = await startFileServer(directory)
    const dispatcher = new Agent()
    context.after(async () => {
      await dispatcher.close()
      await server.close()
    })
    const access = { dispatcher, signal: AbortSignal.timeout(5000), directory }
    const source = await openUrl(`${server.url}/boot.iso`, access)
    const kernel = await bootFromCd(await IsoReader.open(source), 'uefi')
    assert.equal(kernel.kernel, '/vmlinuz')
    assert.equal(kernel.parameters.get('ipa-agent-token'), 'secret')
    assert.equal(kernel.parameters.get('ipa-api-url'), 'http://192.0.2.1:6385')
    assert.ok(server.seen.every((request) => request.status === 206))
    await assert.rejects(bootFromCd(await IsoReader.open(source), 'bios'), /no boot image for bios/)
    await assert.rejects(openUrl(`${server.url}/other.iso`, access), /answered 404/)
  })

  test('refuses a CD without its kernel, with an EFI image that is no FAT, cut off, or that is none', async (context) => {
    const reader = async (path: string) => {
      const source = await openFile(path)
      context.after(() => source.close())
      return await IsoReader.open(source)
    }
    await assert.rejects(
      bootFromCd(await reader(await makeIso('no-kernel', { kernel: false })), 'uefi'),
      /names \/vmlinuz/,
    )
    const noFat = await makeIso('no-fat', { esp: Buffer.alloc(65_536) })
    await assert.rejects(bootFromCd(await reader(noFat), 'uefi'), /no FAT volume/)
    const whole = await makeIso('cut')
    const handle = await open(whole, 'r+')
    await handle.truncate(200_000)
    await handle.close()
    await assert.rejects(reader(whole), /cut off/)
    await assert.rejects(IsoReader.open(fromBuffer(Buffer.alloc(100_000))), /no ISO 9660 image/)
  })

  test('reads the configuration of ISOLINUX', () => {
    const text = 'default boot\nlabel boot\nkernel /vmlinuz\nappend initrd=/initrd text ipa-debug=1 a=b=c --\n'
    const command = kernelCommand(text)
    assert.deepEqual(command?.ramdisks, ['/initrd'])
    assert.equal(command.parameters.get('a'), 'b=c')
    assert.equal(kernelCommand('timeout 5'), undefined)
  })
})

describe('disks', () => {
  test('a GPT is read as it was written, and refused when its sums are wrong', async () => {
    const size = 64 * 1024 * 1024
    const bytes = Buffer.alloc(size)
    const root = { number: 2, name: 'root', type: partitionTypes.linux, start: 4_194_304, size: 8_388_608 }
    for (const piece of gptPieces(size, [root])) piece.bytes.copy(bytes, piece.offset)
    assert.deepEqual(await readPartitionTable(fromBuffer(bytes)), { kind: 'gpt', partitions: [root] })
    bytes[1024] = 1
    assert.equal(await readPartitionTable(fromBuffer(bytes)), null)
    assert.equal(await readPartitionTable(fromBuffer(Buffer.alloc(4096))), null)
  })

  test('a disk takes an image and a config drive, and forgets them', async () => {
    const sample = await writeSampleImage(join(directory, 'sample.raw'), { size: 12 * 1024 * 1024, marker: 'hello' })
    const disk = new Disk(join(directory, 'disk.raw'), 1024 ** 3, 'D1')
    const source = await openFile(sample.path)
    for (let at = 0; at < sample.size; at += 1024 * 1024)
      await disk.write(at, await source.read(at, 1024 * 1024), { fresh: true })
    await source.close()
    assert.equal(await sha256Of(disk.path, { start: 0, length: sample.size }), sample.sha256)
    await disk.moveBackupTable()
    const drive = await disk.addPartition('config-2', Buffer.from('a config drive'))
    const partitions = (await disk.partitions())?.partitions ?? []
    assert.deepEqual(
      partitions.map((partition) => partition.name),
      ['ESP', 'root', 'config-2'],
    )
    assert.equal((await disk.read(drive.start, 14)).toString(), 'a config drive')
    await assert.rejects(disk.write(1024 ** 3 - 1, Buffer.alloc(2)), /no space left/)
    await disk.eraseMetadata()
    assert.equal(await disk.partitions(), null)
    assert.equal((await disk.read(drive.start, 14)).toString().replaceAll('\0', ''), '')
    await disk.close()
  })

  test('other programs can read the FAT volume', async (context) => {
    const path = join(directory, 'fat.img')
    const file = { path: 'EFI/BOOT/GRUB.CFG', bytes: Buffer.from('configuration '.repeat(1000)) }
    await writeFile(
      path,
      fatVolume(1024 * 1024, 'LAB', [file, { path: 'EFI/BOOT/BOOTX64.EFI', bytes: Buffer.alloc(9000, 1) }]),
    )
    try {
      const { stdout } = await run('mtype', ['-i', path, '::/EFI/BOOT/GRUB.CFG'])
      assert.equal(stdout, file.bytes.toString())
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
      context.skip('mtools are not installed')
    }
  })
})
