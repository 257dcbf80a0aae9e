import { type FileHandle, open } from 'node:fs/promises'

/** Reads pieces of an image for the format checks; what lies beyond its end is not there. */
export interface FormatProbe {
  readonly size: number
  /** As many of these bytes as the image has. */
  read(offset: number, length: number): Promise<Buffer>
}

export function probeOf(handle: FileHandle, size: number): FormatProbe {
  return {
    size,
    async read(offset, length) {
      if (offset >= size || length <= 0) return Buffer.alloc(0)
      const buffer = Buffer.alloc(Math.min(length, size - offset))
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset)
      return buffer.subarray(0, bytesRead)
    },
  }
}

/** Opens a file for the time of one look at it. */
export async function withProbe<T>(path: string, look: (probe: FormatProbe) => Promise<T>): Promise<T> {
  const handle = await open(path, 'r')
  try {
    return await look(probeOf(handle, (await handle.stat()).size))
  } finally {
    await handle.close()
  }
}
