import type { Config } from '../config/index.ts'
import { InvalidImage } from '../errors/image.ts'
import { type FormatProbe, withProbe } from './format-probe.ts'
import { imageFormats } from './format-table.ts'

/** Formats that can be written to a disk as they are. `gpt` is a disk with a partition table. */
export const rawFormats: ReadonlySet<string> = new Set(['raw', 'gpt'])

/** The content fits several formats, so different programs would read different things out of it. */
export class AmbiguousImage extends Error {
  override readonly name = 'AmbiguousImage'
}

/**
 * The format of an image, from its content alone; nothing else reads it before this has.
 * @returns `raw` when it is none of the known ones
 * @throws AmbiguousImage
 */
export async function detectFormat(probe: FormatProbe): Promise<string> {
  const found: string[] = []
  for (const [name, format] of Object.entries(imageFormats)) if (await format.matches(probe)) found.push(name)
  if (found.length === 0) return 'raw'
  if (found.length === 1) return found[0]!
  // a bootable ISO may have a partition table in its system area
  if (found.length === 2 && found.includes('iso') && found.includes('gpt')) return 'iso'
  throw new AmbiguousImage(`The image is at once ${found.join(' and ')}.`)
}

/** Bytes of the disk that the image holds. */
export const virtualSize = async (probe: FormatProbe, format: string): Promise<number> =>
  (await imageFormats[format]?.virtualSize(probe)) ?? probe.size

export interface InspectedImage {
  readonly format: string
  readonly virtualSize: number
}

/**
 * Tells the format of an image and that it is safe: no backing file, no data or extent files elsewhere, no features that are
 * not known.
 * @throws InvalidImage
 */
export async function inspectImage(path: string, name: string): Promise<InspectedImage> {
  return await withProbe(path, async (probe) => {
    let format: string
    try {
      format = await detectFormat(probe)
    } catch (cause) {
      if (!(cause instanceof AmbiguousImage)) throw cause
      throw new InvalidImage(`Image ${name} is refused: ${cause.message}`, { cause })
    }
    const problem = await imageFormats[format]?.unsafe(probe)
    if (problem) throw new InvalidImage(`Image ${name} is refused: the ${format} file is not safe, ${problem}.`)
    return { format, virtualSize: await virtualSize(probe, format) }
  })
}

/** Declared formats of kernels and ramdisks in Glance, which say nothing about the file. */
const saysNothing = new Set(['ari', 'aki'])

/**
 * Is a format that was found allowed, and the one that was declared?
 * @param declared null when nobody told
 * @throws InvalidImage
 */
export function checkFormat(
  found: string | null,
  declared: string | null,
  permitted: Config['conductor']['permitted_image_formats'],
  name: string,
): void {
  const allowed = permitted.includes(found ?? '') || (permitted.includes('raw') && rawFormats.has(found ?? ''))
  if (found === null || !allowed) {
    throw new InvalidImage(
      `Image ${name} is refused: its format is ${found ?? 'unknown'}, allowed are ${permitted.join(', ')} ([conductor]permitted_image_formats).`,
    )
  }
  if (declared === null || saysNothing.has(declared) || declared === found) return
  if (declared === 'raw' && rawFormats.has(found)) return
  throw new InvalidImage(
    `Image ${name} is refused: it is declared as ${declared}, but it is ${found}. Correct image_disk_format in instance_info.`,
  )
}
