import { execFile } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { promisify } from 'node:util'
import type { Config } from '../config/index.ts'
import { type KernelCommandLine, kernelCommandLineText } from '../domain/kernel-parameters.ts'
import { ImageCreationFailed } from '../errors/image.ts'

const run = promisify(execFile)

/** Building takes seconds; a program that hangs is stopped. */
const buildLimitMs = 10 * 60 * 1000

/** A file to put into the image beside the boot files. */
export interface InjectedFile {
  /** path inside the image, without a leading slash */
  readonly target: string
  /** a path of the host, or the bytes themselves */
  readonly source: string | Buffer
}

export interface BootIso {
  readonly kernel: string
  readonly ramdisk: string
  readonly bootMode: string
  /** text when it was not parsed (`[conductor]disable_kernel_parameter_parsing`) */
  readonly commandLine: KernelCommandLine | string
  /** FAT image with the boot loader, for UEFI */
  readonly esp: string | null
  readonly inject: readonly InjectedFile[]
  /** goes into the image's header, so that the agent knows its own medium */
  readonly publisherId: string | null
  readonly output: string
  /** a folder that nobody else can read; what is put there stays until it is removed */
  readonly workFolder: string
  readonly signal: AbortSignal
}

const espInside = 'boot/grub/efiboot.img'
const isolinuxBin = 'isolinux/isolinux.bin'
/** Where distributions keep isolinux. The option's own default is the first place that is looked at. */
const isolinuxPlaces = ['/usr/lib/ISOLINUX/isolinux.bin', '/usr/share/syslinux/isolinux.bin']
const ldlinuxPlaces = ['/usr/lib/syslinux/modules/bios/ldlinux.c32', '/usr/share/syslinux/ldlinux.c32']

const isolinuxTemplate = `default boot

label boot
kernel {{ kernel }}
append initrd={{ ramdisk }} text {{ kernel_params }} --
`
const grubTemplate = `set default=0
set timeout=5
set hidden_timeout_quiet=false

menuentry "boot_partition" {
linux {{ linux }} {{ kernel_params }} --
initrd {{ initrd }}
}
`

/**
 * Builds a bootable ISO: kernel and ramdisk at its root, and a boot loader by boot mode. The files are put in from where they
 * are, not copied first.
 * @throws ImageCreationFailed
 */
export async function buildBootIso(config: Config, iso: BootIso): Promise<void> {
  const boot = iso.bootMode === 'uefi' ? await uefiFiles(config, iso) : await biosFiles(config, iso)
  const injected = await Promise.all(iso.inject.map((file, index) => injectedPath(iso, file, index)))
  const files = [['vmlinuz', iso.kernel], ['initrd', iso.ramdisk], ...boot.files, ...injected]
  const label = iso.inject.some((file) => file.target.startsWith('openstack/')) ? 'config-2' : 'VMEDIA_BOOT_ISO'
  await xorriso(
    [
      '-as',
      'mkisofs',
      '-quiet',
      '-r',
      '-V',
      label,
      ...boot.joliet,
      '-l',
      ...(iso.publisherId === null ? [] : ['-publisher', iso.publisherId]),
      ...boot.options,
      '-o',
      iso.output,
      '-graft-points',
      ...files.map(([target, source]) => `/${escaped(target!)}=${escaped(source!)}`),
    ],
    iso.signal,
  )
}

async function uefiFiles(config: Config, iso: BootIso) {
  if (iso.esp === null)
    throw failed(
      'no EFI boot loader is known; set bootloader in driver_info, [conductor]bootloader, or [DEFAULT]esp_image',
    )
  const text = await rendered(config.DEFAULT.grub_config_template, grubTemplate, 'grub_conf.template', {
    linux: '/vmlinuz',
    initrd: '/initrd',
    kernel_params: grubText(iso.commandLine),
  })
  const grubConfig = join(iso.workFolder, 'grub.cfg')
  await writeFile(grubConfig, text, { mode: 0o600 })
  return {
    files: [
      [espInside, iso.esp],
      [inside(config.DEFAULT.grub_config_path), grubConfig],
    ],
    joliet: [],
    options: ['-e', espInside, '-no-emul-boot'],
  }
}

async function biosFiles(config: Config, iso: BootIso) {
  const binary = await firstFile([config.DEFAULT.isolinux_bin, ...isolinuxPlaces])
  if (binary === null)
    throw failed(`isolinux is not installed at ${config.DEFAULT.isolinux_bin}; install it or set [DEFAULT]isolinux_bin`)
  const module = await firstFile(config.DEFAULT.ldlinux_c32 ? [config.DEFAULT.ldlinux_c32] : ldlinuxPlaces)
  const text = await rendered(config.DEFAULT.isolinux_config_template, isolinuxTemplate, 'isolinux_config.template', {
    kernel: '/vmlinuz',
    ramdisk: '/initrd',
    kernel_params: plainText(iso.commandLine),
  })
  const isolinuxConfig = join(iso.workFolder, 'isolinux.cfg')
  await writeFile(isolinuxConfig, text, { mode: 0o600 })
  return {
    files: [
      [isolinuxBin, binary],
      ...(module === null ? [] : [['isolinux/ldlinux.c32', module]]),
      ['isolinux/isolinux.cfg', isolinuxConfig],
    ],
    joliet: ['-J'],
    options: [
      '-no-emul-boot',
      '-boot-load-size',
      '4',
      '-boot-info-table',
      '-b',
      isolinuxBin,
      '-c',
      'isolinux/boot.cat',
    ],
  }
}

async function injectedPath(iso: BootIso, { target, source }: InjectedFile, index: number): Promise<string[]> {
  if (typeof source === 'string') return [inside(target), source]
  const path = join(iso.workFolder, `injected-${index}`)
  await writeFile(path, source, { mode: 0o600 })
  return [inside(target), path]
}

/** A path inside the image. @throws ImageCreationFailed for one that leads out of it */
function inside(target: string): string {
  const path = posix.normalize(target.trim()).replace(/^\/+/, '')
  if (path === '' || path === '.' || path.startsWith('..') || path.includes('\0'))
    throw failed(`${target} is no path inside an image`)
  return path
}

async function xorriso(args: readonly string[], signal: AbortSignal): Promise<void> {
  try {
    await run('xorriso', args, {
      timeout: buildLimitMs,
      signal,
      maxBuffer: 4 * 1024 * 1024,
      env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
    })
  } catch (cause) {
    signal.throwIfAborted()
    const { code, stderr } = cause as { code?: unknown; stderr?: string }
    if (code === 'ENOENT') throw failed('xorriso is not installed', cause)
    const said = (stderr ?? '')
      .split('\n')
      .filter((line) => /FAILURE|FATAL|SORRY|error/i.test(line))
      .slice(-3)
      .join(' ')
    throw failed(`xorriso ended with ${String(code)}${said === '' ? '' : `: ${said.slice(0, 500)}`}`, cause)
  }
}

/**
 * The template with its words put in. The stock one is ours; another is the operator's file, whose `{{ word }}` are replaced.
 */
async function rendered(
  path: string,
  stock: string,
  stockName: string,
  words: Readonly<Record<string, string>>,
): Promise<string> {
  const isStock = path.endsWith(`/common/${stockName}`) && (await firstFile([path])) === null
  let template = stock
  if (!isStock) {
    try {
      template = await readFile(path, 'utf8')
    } catch (cause) {
      throw failed(`the template ${path} cannot be read`, cause)
    }
  }
  if (/\{[%#]/.test(template))
    throw failed(`the template ${path} uses more than {{ words }}, which are all that is known here`)
  return template.replace(/\{\{-?\s*([A-Za-z_]\w*)\s*-?\}\}/g, (_all, word: string) => {
    if (!Object.hasOwn(words, word))
      throw failed(`the template ${path} asks for ${word}; there are ${Object.keys(words).join(', ')}`)
    return words[word]!
  })
}

const plainText = (line: KernelCommandLine | string): string =>
  typeof line === 'string' ? line.replace(/[\r\n]/g, '') : kernelCommandLineText(line)

/** For GRUB, whose configuration is a shell: what it would read as its own is put in quotes (GRUB manual, "Quoting"). */
export function grubText(line: KernelCommandLine | string): string {
  if (typeof line === 'string') return plainText(line)
  const word = (name: string, value: string) => {
    if (value === '') return name
    if (!/[\s;&|<>$\\'"{}#]/.test(value)) return `${name}=${value}`
    return `${name}="${value.replace(/[\\"$]/g, String.raw`\$&`)}"`
  }
  const words = [...line.parameters].flatMap(([name, values]) => values.map((value) => word(name, value)))
  return words.join(' ') + (line.init === '' ? '' : ` -- ${line.init.replace(/[\\;&|<>$'"{}#]/g, String.raw`\$&`)}`)
}

/** Graft points are `target=source` (xorrisofs manual): an equals sign or backslash of a name is escaped. */
const escaped = (path: string): string => path.replace(/[\\=]/g, String.raw`\$&`)

async function firstFile(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) {
    const found = await stat(path).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
        return null
      throw error
    })
    if (found?.isFile() === true) return path
  }
  return null
}

const failed = (error: string, cause?: unknown) => new ImageCreationFailed({ image_type: 'iso', error }, { cause })
