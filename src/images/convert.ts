import type { Config } from '../config/index.ts'
import type { Clock } from '../domain/clock.ts'
import { ImageConvertFailed } from '../errors/image.ts'
import { ProgramFailed, runProgram } from '../lib/exec/run.ts'

const mebibyte = 1024 * 1024
/** A conversion reads and writes every block once; disks of some TiB take hours. */
const conversionLimitMs = 6 * 60 * 60 * 1000
/** What qemu-img says when the host was short of memory for a moment. */
const passingTrouble = /Resource temporarily unavailable|Cannot allocate memory/

export interface Conversion {
  readonly source: string
  /** must have been detected by us: qemu-img guesses nothing */
  readonly sourceFormat: string
  readonly destination: string
  /** bytes that the result may have */
  readonly size: number
  /** for messages */
  readonly name: string
  readonly signal?: AbortSignal | undefined
}

/**
 * Converts an image to raw by qemu-img, which gets limited memory and file size, and none of our environment.
 * @throws ImageConvertFailed
 */
export async function convertToRaw(conversion: Conversion, config: Config, clock: Clock): Promise<void> {
  const { source, sourceFormat, destination, size, name, signal } = conversion
  const { image_convert_memory_limit: memory, image_convert_attempts: attempts } = config.disk_utils
  // the paths are ours and absolute, so that none can be taken for an option or a protocol
  const args = ['convert', '-f', sourceFormat, '-O', 'raw', source, destination]
  for (let attempt = 1; ; attempt++) {
    try {
      await runProgram('qemu-img', args, {
        timeoutMs: conversionLimitMs,
        signal,
        // malloc's arenas would use up the limit many times over
        env: { MALLOC_ARENA_MAX: '3' },
        memoryLimit: memory * mebibyte,
        fileSizeLimit: size + mebibyte,
      })
      return
    } catch (cause) {
      if (!(cause instanceof ProgramFailed)) throw cause
      if (attempt >= attempts || !passingTrouble.test(cause.stderr)) {
        const missing = cause.code === 'ENOENT' ? '; install qemu-utils and util-linux' : ''
        throw new ImageConvertFailed({ image_id: name, reason: cause.message + missing }, { cause })
      }
      await clock.sleep(1000 * attempt, signal)
    }
  }
}
