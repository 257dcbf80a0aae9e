import type { IsoReader } from './iso-reader.ts'

/** What a boot loader would start. */
export interface KernelCommand {
  readonly kernel: string
  readonly ramdisks: readonly string[]
  /** the kernel's command line as the boot loader hands it over */
  readonly line: string
  /** `name=value` parts of the line; a name alone has the value `''`; of a repeated name the last counts */
  readonly parameters: ReadonlyMap<string, string>
}

export type BootMode = 'uefi' | 'bios'

const configurations: Readonly<Record<BootMode, readonly string[]>> = {
  uefi: ['/EFI/BOOT/grub.cfg', '/boot/grub/grub.cfg', '/boot/grub2/grub.cfg', '/EFI/redhat/grub.cfg'],
  bios: ['/isolinux/isolinux.cfg', '/syslinux/isolinux.cfg', '/isolinux.cfg', '/boot/grub/grub.cfg'],
}

/** Platform identifiers of the El Torito catalogue (UEFI 2.10 section 13.3.2.1). */
const platform: Readonly<Record<BootMode, number>> = { uefi: 0xef, bios: 0 }

/**
 * Boots a CD as far as its kernel: the firmware must find a boot image for its mode, the boot loader its configuration,
 * and the kernel and ramdisk that it names must be there, readable to their last byte.
 * @throws Error with what a person would read on the screen
 */
export async function bootFromCd(iso: IsoReader, mode: BootMode): Promise<KernelCommand> {
  const image = (await iso.bootImages()).find(
    (candidate) => candidate.bootable && candidate.platform === platform[mode],
  )
  if (image === undefined) throw new Error(`the CD has no boot image for ${mode}`)
  if (mode === 'uefi') {
    const sector = await iso.bootImageBytes(image, 512)
    if (sector.length < 512 || sector.readUInt16LE(510) !== 0xaa55)
      throw new Error('the EFI boot image is no FAT volume')
  }
  for (const path of configurations[mode]) {
    const entry = await iso.find(path)
    if (entry === undefined || entry.directory) continue
    const command = kernelCommand((await iso.read(entry)).toString('utf8'))
    if (command === undefined) continue
    for (const name of [command.kernel, ...command.ramdisks]) {
      const file = await iso.find(name)
      if (file === undefined || file.directory) throw new Error(`${path} names ${name}, which is not on the CD`)
      if (file.size === 0) throw new Error(`${name} on the CD is empty`)
      await iso.read(file, file.size - 1, 1)
    }
    return command
  }
  throw new Error(`the CD has no boot loader configuration for ${mode}`)
}

/** Finds the first kernel in a GRUB or ISOLINUX configuration; undefined when it starts none. */
export function kernelCommand(configuration: string): KernelCommand | undefined {
  let kernel: string | undefined
  let line = ''
  let ramdisks: string[] = []
  for (const raw of configuration.split('\n')) {
    const [word = '', ...rest] = raw.trim().split(/\s+/)
    if (/^linux(efi|16)?$/i.test(word)) {
      if (kernel !== undefined) break
      kernel = rest[0]
      line = rest.slice(1).join(' ')
    } else if (/^kernel$/i.test(word)) {
      if (kernel !== undefined) break
      kernel = rest[0]
    } else if (/^initrd(efi|16)?$/i.test(word) && ramdisks.length === 0) {
      ramdisks = rest
    } else if (/^append$/i.test(word) && line === '') {
      line = rest.join(' ')
    }
  }
  if (kernel === undefined) return undefined
  const words = line.split(' ').filter((word) => word !== '')
  for (const word of words) {
    if (word.startsWith('initrd=') && ramdisks.length === 0) ramdisks = word.slice(7).split(',')
  }
  return { kernel, ramdisks, line: words.join(' '), parameters: kernelParameters(words) }
}

/** Splits a kernel command line; what follows `--` goes to init but is read by the agent all the same. */
export function kernelParameters(words: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    words
      .filter((word) => word !== '--' && word !== '---')
      .map((word) => {
        const at = word.indexOf('=')
        return at === -1 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)]
      }),
  )
}
