import { closeSync, fstatSync, openSync, renameSync, rmSync, statSync, write, writeSync } from 'node:fs'

/** Where lines go. Nothing here waits for the disk or a pipe: lines queue up and are written together. */
export interface Destination {
  write(line: string): void
  /** resolves when all that was written so far is out, or cannot be */
  flush(): Promise<void>
  /** writes what is left at once, without waiting; for the end of the process */
  flushSync(): void
  close(): Promise<void>
}

export interface Rotation {
  /** a file of that many bytes is put aside */
  readonly maxBytes?: number
  /** the file is put aside when that many milliseconds have passed */
  readonly everyMs?: number
  /** how many old files are kept */
  readonly keep: number
}

/** More than this waiting to be written (a pipe that nobody reads) and lines are dropped rather than memory filled. */
const mostWaitingBytes = 32 * 1024 * 1024
const retryMs = 20

class BufferedDestination implements Destination {
  protected fd: number
  private waiting: string[] = []
  private waitingBytes = 0
  private dropped = 0
  private writing: Promise<void> | undefined
  private inFlight: Buffer | undefined

  constructor(fd: number) {
    this.fd = fd
  }

  write(line: string): void {
    if (this.waitingBytes > mostWaitingBytes) {
      this.dropped += 1
      return
    }
    this.waiting.push(line)
    this.waitingBytes += line.length
    this.writing ??= this.drain()
  }

  async flush(): Promise<void> {
    while (this.writing !== undefined) await this.writing
  }

  flushSync(): void {
    const rest = Buffer.concat([this.inFlight ?? Buffer.alloc(0), this.take()])
    this.inFlight = undefined
    let written = 0
    while (written < rest.length) {
      try {
        written += writeSync(this.fd, rest, written)
      } catch {
        return // the process ends and its last lines have nowhere to go
      }
    }
  }

  async close(): Promise<void> {
    await this.flush()
  }

  /** Called before each batch; a file may open anew. */
  protected prepare(_bytes: number): void {}

  private take(): Buffer {
    const lost =
      this.dropped === 0 ? '' : `${this.dropped} log lines were dropped because they could not be written fast enough\n`
    const batch = Buffer.from(lost + this.waiting.join(''))
    this.waiting = []
    this.waitingBytes = 0
    this.dropped = 0
    return batch
  }

  private async drain(): Promise<void> {
    await new Promise(setImmediate)
    while (this.waiting.length > 0) {
      this.inFlight = this.take()
      this.prepare(this.inFlight.length)
      while (this.inFlight !== undefined && this.inFlight.length > 0) {
        const written = await writeOnce(this.fd, this.inFlight)
        this.inFlight = this.inFlight?.subarray(written)
      }
      this.inFlight = undefined
    }
    this.writing = undefined
  }
}

/** How many bytes went out; a full pipe takes none for a moment, a broken one takes all of them to nowhere. */
function writeOnce(fd: number, bytes: Buffer): Promise<number> {
  return new Promise((resolve) => {
    write(fd, bytes, (error, written) => {
      if (error === null) resolve(written)
      else if (error.code === 'EAGAIN') setTimeout(resolve, retryMs, 0)
      else resolve(bytes.length)
    })
  })
}

/** Standard output (1) or standard error (2). */
export const streamDestination = (fd: 1 | 2): Destination => new BufferedDestination(fd)

/** How often a file is compared with its path: whoever rotates logs may have moved it. */
const lookEveryMs = 1000

class FileDestination extends BufferedDestination {
  private readonly path: string
  private readonly rotation: Rotation | undefined
  private lookedAt = 0
  private openedAt: number

  constructor(path: string, rotation: Rotation | undefined) {
    super(open(path))
    this.path = path
    this.rotation = rotation
    this.openedAt = Date.now()
  }

  protected override prepare(bytes: number): void {
    const now = Date.now()
    if (this.rotation !== undefined && this.isFull(bytes, now)) this.putAside()
    else if (now - this.lookedAt >= lookEveryMs && this.wasMoved()) this.reopen()
    this.lookedAt = now
  }

  override async close(): Promise<void> {
    await super.close()
    closeSync(this.fd)
  }

  private isFull(bytes: number, now: number): boolean {
    const { maxBytes, everyMs } = this.rotation!
    if (everyMs !== undefined && now - this.openedAt >= everyMs) return true
    return maxBytes !== undefined && fstatSync(this.fd).size + bytes > maxBytes
  }

  private wasMoved(): boolean {
    const there = statSync(this.path, { throwIfNoEntry: false })
    return there === undefined || there.ino !== fstatSync(this.fd).ino
  }

  /** `x.log` becomes `x.log.1`, `x.log.1` becomes `x.log.2`, the oldest goes. */
  private putAside(): void {
    const { keep } = this.rotation!
    for (let number = keep; number >= 1; number--) {
      const from = number === 1 ? this.path : `${this.path}.${number - 1}`
      if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, `${this.path}.${number}`)
    }
    if (keep === 0) rmSync(this.path, { force: true })
    this.reopen()
  }

  private reopen(): void {
    closeSync(this.fd)
    this.fd = open(this.path)
    this.openedAt = Date.now()
  }
}

/** Not readable by others: a log names machines, users and addresses. */
const open = (path: string) => openSync(path, 'a', 0o640)

/** A file that follows its path when it is moved away. @throws when it cannot be opened */
export const fileDestination = (path: string, rotation?: Rotation): Destination => new FileDestination(path, rotation)
