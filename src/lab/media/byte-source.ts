import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { request } from 'undici'
import type { Dispatcher } from 'undici'

/** Bytes that can be read at any place: a file, or a file on a web server. */
export interface ByteSource {
  /** bytes in all */
  readonly size: number
  /** Reads `length` bytes from `offset`; fewer come back only at the end. */
  read(offset: number, length: number): Promise<Buffer>
  close(): Promise<void>
}

class FileSource implements ByteSource {
  readonly size: number
  readonly #handle: FileHandle
  constructor(handle: FileHandle, size: number) {
    this.#handle = handle
    this.size = size
  }
  async read(offset: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - offset))
    const buffer = Buffer.alloc(wanted)
    const { bytesRead } = await this.#handle.read(buffer, 0, wanted, offset)
    return buffer.subarray(0, bytesRead)
  }
  async close(): Promise<void> {
    await this.#handle.close()
  }
}

/** A file on disk. */
export async function openFile(path: string): Promise<ByteSource> {
  const handle = await open(path, 'r')
  return new FileSource(handle, (await handle.stat()).size)
}

/** Bytes in memory. */
export function fromBuffer(bytes: Buffer): ByteSource {
  return {
    size: bytes.length,
    read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)),
    close: () => Promise.resolve(),
  }
}

const blockSize = 64 * 1024

/** Reads pieces of a remote file with `Range` (RFC 9110 section 14), in blocks that are kept. */
class RangeSource implements ByteSource {
  readonly size: number
  readonly #url: string
  readonly #http: HttpAccess
  readonly #blocks = new Map<number, Buffer>()
  constructor(url: string, size: number, first: Buffer, http: HttpAccess) {
    this.#url = url
    this.size = size
    this.#http = http
    this.#blocks.set(0, first)
  }
  async read(offset: number, length: number): Promise<Buffer> {
    const end = Math.min(offset + length, this.size)
    const parts: Buffer[] = []
    for (let at = offset; at < end;) {
      const index = Math.floor(at / blockSize)
      const block = await this.#block(index)
      const from = at - index * blockSize
      const part = block.subarray(from, Math.min(block.length, from + end - at))
      if (part.length === 0) throw new Error(`${this.#url} is shorter than the ${this.size} bytes that its server told`)
      parts.push(part)
      at += part.length
    }
    return Buffer.concat(parts)
  }
  async #block(index: number): Promise<Buffer> {
    const known = this.#blocks.get(index)
    if (known !== undefined) return known
    const first = index * blockSize
    const last = Math.min(first + blockSize, this.size) - 1
    const answer = await request(this.#url, { ...this.#http, headers: { range: `bytes=${first}-${last}` } })
    const block = Buffer.from(await answer.body.arrayBuffer())
    if (answer.statusCode !== 206 || block.length !== last - first + 1) {
      throw new Error(`${this.#url} answered ${answer.statusCode} with ${block.length} bytes to bytes ${first}-${last}`)
    }
    this.#blocks.set(index, block)
    return block
  }
  close(): Promise<void> {
    this.#blocks.clear()
    return Promise.resolve()
  }
}

interface HttpAccess {
  readonly dispatcher: Dispatcher
  readonly signal: AbortSignal
}

/**
 * Opens a file on a web server the way a BMC does: by ranges where the server has them, else as one download into
 * `directory`. The length that the server tells must be the length that comes.
 */
export async function openUrl(
  url: string,
  { dispatcher, signal, directory }: HttpAccess & { readonly directory: string },
): Promise<ByteSource> {
  const http = { dispatcher, signal }
  const answer = await request(url, { ...http, headers: { range: `bytes=0-${blockSize - 1}` } })
  if (answer.statusCode === 206) {
    const total = /^bytes 0-\d+\/(\d+)$/.exec(String(answer.headers['content-range'] ?? ''))?.[1]
    const first = Buffer.from(await answer.body.arrayBuffer())
    if (total === undefined) throw new Error(`${url} answered 206 without a Content-Range that tells the size`)
    const size = Number(total)
    if (first.length !== Math.min(size, blockSize))
      throw new Error(`${url} sent ${first.length} bytes of a first block`)
    return new RangeSource(url, size, first, http)
  }
  if (answer.statusCode !== 200) {
    await answer.body.dump()
    throw new Error(`${url} answered ${answer.statusCode}`)
  }
  const path = join(directory, 'medium')
  await pipeline(answer.body, createWriteStream(path, { mode: 0o600 }), { signal })
  const source = await openFile(path)
  const told = answer.headers['content-length']
  if (told !== undefined && Number(told) !== source.size) {
    await source.close()
    throw new Error(`${url} sent ${source.size} bytes of ${String(told)}`)
  }
  return source
}
