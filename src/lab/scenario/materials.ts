import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sampleEspImage, writeSampleImage } from '../media/sample-image.ts'
import type { SampleImage } from '../media/sample-image.ts'

/** Files that a deployment needs, made from nothing. */
export interface Materials {
  /** served by a web server */
  readonly directory: string
  /** FAT image with the boot loader for UEFI */
  readonly esp: string
  readonly image: SampleImage
  /** names of the files under the web server */
  readonly names: { readonly kernel: string; readonly ramdisk: string; readonly image: string }
}

/** Makes a kernel and a ramdisk that are none, a boot loader that is none, and a whole-disk image. */
export async function makeMaterials(directory: string, { imageSize = 16 * 1024 * 1024 } = {}): Promise<Materials> {
  const served = join(directory, 'images')
  await mkdir(served, { recursive: true })
  const names = { kernel: 'lab.kernel', ramdisk: 'lab.initramfs', image: 'lab-system.raw' }
  const esp = join(directory, 'esp.img')
  const kernel = Buffer.alloc(64 * 1024, 'kernel of the lab ')
  const ramdisk = Buffer.alloc(256 * 1024, 'ramdisk of the lab ')
  await writeFile(join(served, names.kernel), kernel)
  await writeFile(join(served, names.ramdisk), ramdisk)
  await writeFile(esp, sampleEspImage())
  const image = await writeSampleImage(join(served, names.image), { size: imageSize, marker: 'lab-system' })
  return { directory: served, esp, image, names }
}
