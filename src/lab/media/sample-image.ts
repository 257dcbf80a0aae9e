import { createHash, randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { fatVolume } from './fat.ts'
import { gptPieces, partitionTypes } from './partition-table.ts'
import type { Partition } from './partition-table.ts'

const mebibyte = 1024 * 1024

/** A disk image that the lab's firmware takes for a system. */
export interface SampleImage {
  readonly path: string
  /** bytes */
  readonly size: number
  readonly sha256: string
  /** text at the start of the root partition; a machine that boots the image says it */
  readonly marker: string
}

/** Text before the marker at the start of the root partition. */
export const markerPrefix = 'LAB-SYSTEM '

/** An image of an EFI system partition with a boot loader that is none, as input for boot ISOs. */
export function sampleEspImage(): Buffer {
  return fatVolume(2 * mebibyte, 'ESP', [
    { path: 'EFI/BOOT/BOOTX64.EFI', bytes: portableExecutable('the lab reads the configuration beside this file') },
  ])
}

/**
 * Writes a raw whole-disk image: GPT, an EFI system partition, a root partition with a marker and random content.
 * @param size bytes; at least 4 MiB
 */
export async function writeSampleImage(
  path: string,
  { size = 16 * mebibyte, marker = 'sample' } = {},
): Promise<SampleImage> {
  const partitions: Partition[] = [
    { number: 1, name: 'ESP', type: partitionTypes.efi, start: mebibyte, size: 2 * mebibyte },
    { number: 2, name: 'root', type: partitionTypes.linux, start: 3 * mebibyte, size: size - 4 * mebibyte },
  ]
  const handle = await open(path, 'w', 0o644)
  try {
    await handle.truncate(size)
    for (const piece of gptPieces(size, partitions))
      await handle.write(piece.bytes, 0, piece.bytes.length, piece.offset)
    const esp = sampleEspImage()
    await handle.write(esp, 0, esp.length, mebibyte)
    const root = Buffer.alloc(512)
    root.write(`${markerPrefix}${marker}\n`)
    await handle.write(root, 0, root.length, 3 * mebibyte)
    // Every eighth MiB holds something that does not compress, the rest are holes.
    for (let at = 3 * mebibyte + 4096; at < size - 2 * mebibyte; at += 8 * mebibyte) {
      const content = randomBytes(mebibyte)
      await handle.write(content, 0, content.length, at)
    }
  } finally {
    await handle.close()
  }
  return { path, size, sha256: await sha256Of(path), marker }
}

/** The SHA-256 of a file, read in pieces. */
export async function sha256Of(path: string, { start = 0, length = Infinity } = {}): Promise<string> {
  const hash = createHash('sha256')
  const handle = await open(path, 'r')
  try {
    const buffer = Buffer.alloc(mebibyte)
    for (let at = start; at < start + length;) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, start + length - at), at)
      if (bytesRead === 0) break
      hash.update(buffer.subarray(0, bytesRead))
      at += bytesRead
    }
  } finally {
    await handle.close()
  }
  return hash.digest('hex')
}

/** Bytes that begin as a PE executable does; they do nothing. */
function portableExecutable(text: string): Buffer {
  const bytes = Buffer.alloc(1024)
  bytes.write('MZ', 0, 'latin1')
  bytes.writeUInt32LE(0x80, 0x3c)
  bytes.write('PE\0\0', 0x80, 'latin1')
  bytes.write(text, 0x200, 'utf8')
  return bytes
}
