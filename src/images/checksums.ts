import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { InvalidParameterValue, MissingParameterValue } from '../errors/index.ts'
import {
  ImageChecksumAlgorithmFailure,
  ImageChecksumError,
  ImageChecksumFileReadFailure,
  ImageChecksumURLNotSupported,
  ImageDownloadFailed,
} from '../errors/image.ts'
import { pythonSpace, strip } from '../lib/python/text.ts'
import { urlParts } from './reference.ts'

export interface Checksum {
  /** hex digits, or `algorithm:digits` */
  readonly checksum: string
  /** null: told by the checksum itself, or MD5 */
  readonly algorithm: string | null
}

export interface ChecksumRules {
  readonly allowMd5: boolean
  readonly allowChecksumFiles: boolean
  /** the text behind a checksum URL */
  readonly fetchText: (url: string) => Promise<string>
  /** SHA-256 of the file of a `file://` source */
  readonly hashOfFile: (imageSource: string) => Promise<string>
}

/** Is the checksum the address of a list of checksums? @throws ImageChecksumURLNotSupported when that is switched off */
export function isChecksumUrl(checksum: string, allowed: boolean): boolean {
  if (!checksum.startsWith('http://') && !checksum.startsWith('https://')) return false
  if (!allowed) throw new ImageChecksumURLNotSupported({})
  return true
}

/** SHA-2 by the number of its digits; MD5 is told by nothing. */
const algorithmOfLength: Readonly<Record<number, string>> = { 64: 'sha256', 128: 'sha512' }

/**
 * The checksum that an image must have, in whatever form `instance_info` tells it: `image_os_hash_value` with its algorithm,
 * `image_checksum` as digits, `algorithm:digits` or a URL; a `file://` image without one is hashed.
 * @throws ImageChecksumAlgorithmFailure for MD5 where it is not allowed
 */
export async function chooseChecksum(
  instanceInfo: Readonly<Record<string, unknown>>,
  rules: ChecksumRules,
): Promise<{ checksum: unknown; algorithm: unknown }> {
  if ('image_os_hash_value' in instanceInfo) {
    return { checksum: instanceInfo['image_os_hash_value'], algorithm: instanceInfo['image_os_hash_algo'] ?? null }
  }
  const source = String(instanceInfo['image_source'] ?? '')
  const given = instanceInfo['image_checksum'] ?? null
  if (given === null) {
    if (!source.startsWith('file:')) {
      throw new MissingParameterValue(
        'image_checksum, or image_os_hash_algo and image_os_hash_value, must be in instance_info.',
      )
    }
    return { checksum: await rules.hashOfFile(source), algorithm: 'sha256' }
  }
  if (typeof given !== 'string') throw new InvalidParameterValue('image_checksum in instance_info must be text.')
  const checksum = isChecksumUrl(given, rules.allowChecksumFiles)
    ? checksumFromList(await rules.fetchText(given), given, source)
    : given
  if (checksum.length === 32 && !rules.allowMd5) throw new ImageChecksumAlgorithmFailure({})
  return { checksum, algorithm: algorithmOfLength[checksum.length] ?? null }
}

// unlike JavaScript's, Python's blanks are without the byte order mark
const blank = `[${pythonSpace}]`
const digits = '[a-fA-F\\d]'
const aloneOnLine = new RegExp(`^(${digits}{32}|${digits}{64}|${digits}{128})$`)
/** At the start of a line, as coreutils writes it, or at its end, as BSD does. */
const inLine = [32, 64, 128].flatMap((length) => [
  new RegExp(`^(${digits}{${length}})${blank}`),
  new RegExp(`${blank}(${digits}{${length}})$`),
])

/**
 * The checksum of an image out of a list: one checksum alone, or lines `digits  name`, `digits *name`,
 * `SHA256 (name) = digits`. Names are compared without their folders.
 * @throws ImageDownloadFailed when the list does not tell it
 */
export function checksumFromList(text: string, listUrl: string, imageSource: string): string {
  const failed = (reason: string) => new ImageDownloadFailed({ image_href: listUrl, reason })
  const lines = text
    .split('\n')
    .map(strip)
    .filter((line) => line !== '')
  if (lines.length === 0) throw failed('the checksum file is empty')
  if (lines.length === 1 && !lines[0]!.includes(' ')) {
    const [alone] = aloneOnLine.exec(lines[0]!) ?? []
    if (alone === undefined) throw failed('the checksum file holds no checksum')
    return alone
  }
  const name = urlParts(imageSource).path.split('/').at(-1)!
  const names = nameMatchers(name)
  for (const matcher of names) {
    for (const line of lines) {
      if (line.startsWith('#') || !matcher.test(line)) continue
      const found = inLine.map((pattern) => pattern.exec(line)?.[1]).find((checksum) => checksum !== undefined)
      if (found !== undefined) return found
    }
  }
  throw failed(`the checksum file does not tell the checksum of "${name}"`)
}

/** How lines name a file: exactly; with folders before the name; and as real Ironic does, where a dot stands for anything. */
function nameMatchers(name: string): RegExp[] {
  // other signs that mean something in a pattern are not looked for: give the checksum itself for such a name
  if (name === '' || /[\\^$*+?()[\]|]/.test(name)) return []
  const exact = name.replaceAll(/[.{}]/g, '\\$&')
  const loose = name.replaceAll(/[{}]/g, '\\$&')
  const folder = '(?:[^\\s()]*/)?'
  return [`${folder}${exact}`, loose].flatMap((pattern) => [
    new RegExp(`${blank}[*]?${pattern}$|${blank}\\(${pattern}\\)${blank}`),
  ])
}

/** Names that hashlib knows and OpenSSL writes otherwise. */
const otherNames: Readonly<Record<string, string>> = {
  blake2b: 'blake2b512',
  blake2s: 'blake2s256',
  'sha-384': 'sha384',
}

/** @throws ImageChecksumAlgorithmFailure for an algorithm that is not known here */
export function hashFor(algorithm: string): Hash {
  const name = algorithm.toLowerCase().replaceAll('_', '-')
  try {
    return createHash(otherNames[name] ?? name.replace(/^sha-(1|224|256|384|512)$/, 'sha$1'))
  } catch (cause) {
    throw new ImageChecksumAlgorithmFailure({}, { cause })
  }
}

/** Algorithm and digits of a checksum in either form. @throws ImageChecksumError when there are no digits */
export function expectedDigest({ checksum, algorithm }: Checksum): { algorithm: string; digits: string } {
  const [first, second] = checksum.split(':')
  const digits = second ?? first!
  if (digits === '') throw new ImageChecksumError('The checksum of the image is empty.')
  const named = second === undefined ? '' : first!
  return { algorithm: (named || algorithm || 'md5').toLowerCase(), digits: digits.toLowerCase() }
}

/** The hash of a file, read in pieces. @throws ImageChecksumAlgorithmFailure, ImageChecksumFileReadFailure */
export async function hashFile(path: string, algorithm: string, signal?: AbortSignal): Promise<string> {
  const hash = hashFor(algorithm)
  try {
    const stream = createReadStream(path, { highWaterMark: 512 * 1024, ...(signal === undefined ? {} : { signal }) })
    for await (const part of stream) hash.update(part as Buffer)
  } catch (cause) {
    signal?.throwIfAborted()
    throw new ImageChecksumFileReadFailure({}, { cause })
  }
  return hash.digest('hex')
}

/** @throws ImageChecksumError unless the digits are those that are expected */
export function compareDigest(expected: { algorithm: string; digits: string }, digits: string): void {
  if (expected.digits !== digits) {
    throw new ImageChecksumError(
      `The ${expected.algorithm} checksum of the image is ${digits}, but ${expected.digits} was given for it.`,
    )
  }
}

/** @throws ImageChecksumError, ImageChecksumAlgorithmFailure, ImageChecksumFileReadFailure */
export async function verifyFile(path: string, checksum: Checksum, signal?: AbortSignal): Promise<void> {
  const expected = expectedDigest(checksum)
  compareDigest(expected, await hashFile(path, expected.algorithm, signal))
}
