import { constants, open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { ByteSource } from './media/byte-source.ts'
import { gptPieces, mbrEntryPiece, placeAtEnd, readPartitionTable } from './media/partition-table.ts'
import type { Partition, PartitionTable } from './media/partition-table.ts'

const mebibyte = 1024 * 1024
const zeros = Buffer.alloc(mebibyte)

/** A disk of a machine: a sparse file of its full size. Only what was written takes room. */
export class Disk implements ByteSource {
  readonly path: string
  /** bytes */
  readonly size: number
  readonly serial: string
  #handle: FileHandle | undefined

  constructor(path: string, size: number, serial: string) {
    this.path = path
    this.size = size
    this.serial = serial
  }

  async #file(): Promise<FileHandle> {
    if (this.#handle === undefined) {
      this.#handle = await open(this.path, constants.O_RDWR | constants.O_CREAT, 0o600)
      await this.#handle.truncate(this.size)
    }
    return this.#handle
  }

  async read(offset: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - offset))
    const buffer = Buffer.alloc(wanted)
    const { bytesRead } = await (await this.#file()).read(buffer, 0, wanted, offset)
    return buffer.subarray(0, bytesRead)
  }

  /**
   * Writes at a place. Bytes that are all zero leave a hole when the place is known to be `fresh` (never written).
   * @throws Error when it would go beyond the end of the disk
   */
  async write(offset: number, bytes: Buffer, { fresh = false } = {}): Promise<void> {
    if (offset + bytes.length > this.size) throw new Error(`no space left on the disk of ${this.size} bytes`)
    if (fresh && bytes.length <= zeros.length && bytes.equals(zeros.subarray(0, bytes.length))) return
    await (await this.#file()).write(bytes, 0, bytes.length, offset)
  }

  /** Forgets everything that was ever written. */
  async discard(): Promise<void> {
    const file = await this.#file()
    await file.truncate(0)
    await file.truncate(this.size)
  }

  /** Wipes what makes a disk look used: the first and the last mebibyte. */
  async eraseMetadata(): Promise<void> {
    const table = await this.partitions()
    await this.write(0, zeros)
    await this.write(this.size - zeros.length, zeros)
    for (const partition of table?.partitions ?? []) await this.write(partition.start, zeros.subarray(0, 65536))
  }

  /** null when there is no partition table */
  partitions(): Promise<PartitionTable | null> {
    return readPartitionTable(this)
  }

  /** Makes a partition at the end and fills it. @throws Error when the disk has no table or no room */
  async addPartition(name: string, content: Buffer): Promise<Partition> {
    const table = await this.partitions()
    if (table === null) throw new Error('the disk has no partition table')
    const size = Math.max(64, Math.ceil(content.length / mebibyte)) * mebibyte
    const partition = placeAtEnd(this.size, table, size, name)
    const pieces =
      table.kind === 'gpt' ? gptPieces(this.size, [...table.partitions, partition]) : [mbrEntryPiece(partition)]
    for (const piece of pieces) await this.write(piece.offset, piece.bytes)
    await this.write(partition.start, content)
    return partition
  }

  /** Moves the second copy of a GPT to the end of a disk that is larger than the image written to it. */
  async moveBackupTable(): Promise<void> {
    const table = await this.partitions()
    if (table?.kind !== 'gpt') return
    for (const piece of gptPieces(this.size, table.partitions)) await this.write(piece.offset, piece.bytes)
  }

  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close()
  }
}
