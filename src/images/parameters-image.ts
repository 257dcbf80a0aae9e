import { execFile } from 'node:child_process'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ImageCreationFailed } from '../errors/image.ts'

const run = promisify(execFile)
const limitMs = 60_000
const floppyBytes = 1440 * 1024

/**
 * A FAT image with `parameters.txt` (one `name=value` a line), which the agent reads from a removable device labelled
 * `ir-vfd-dev`.
 * @param workFolder a folder that nobody else can read
 * @throws ImageCreationFailed
 */
export async function buildParametersImage(
  output: string,
  parameters: Readonly<Record<string, string>>,
  workFolder: string,
  signal: AbortSignal,
): Promise<void> {
  const text = join(workFolder, 'parameters.txt')
  await writeFile(
    text,
    Object.entries(parameters)
      .map(([name, value]) => `${name}=${value}`)
      .join('\n'),
    { mode: 0o600 },
  )
  await writeFile(output, '', { mode: 0o600 })
  await truncate(output, floppyBytes)
  await tool('mkfs.vfat', ['-n', 'ir-vfd-dev', output], signal)
  await tool('mcopy', ['-i', output, text, '::parameters.txt'], signal)
}

async function tool(name: string, args: readonly string[], signal: AbortSignal): Promise<void> {
  const path = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`
  try {
    await run(name, args, { timeout: limitMs, signal, env: { PATH: path, LC_ALL: 'C' } })
  } catch (cause) {
    signal.throwIfAborted()
    const { code, stderr } = cause as { code?: unknown; stderr?: string }
    const error =
      code === 'ENOENT'
        ? `${name} is not installed`
        : `${name} ended with ${String(code)}: ${(stderr ?? '').slice(0, 300)}`
    throw new ImageCreationFailed({ image_type: 'vfat', error }, { cause })
  }
}
