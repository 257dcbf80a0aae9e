/**
 * Password hashes as crypt(3) and /etc/shadow have them: `$5$` (SHA-256) and `$6$` (SHA-512), by Ulrich Drepper's
 * "Unix crypt using SHA-256 and SHA-512", with the stock 5000 rounds.
 */
import { createHash, randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

export type ShaCryptMethod = 'sha256' | 'sha512'

const alphabet = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const rounds = 5000

interface Method {
  readonly prefix: string
  readonly size: number
  /** groups of byte positions, each written as four characters; the last group is shorter */
  readonly order: readonly (readonly number[])[]
}

/** Three columns of bytes; which of them comes first moves on from group to group. */
function byteOrder(
  size: number,
  next: (group: readonly [number, number, number]) => [number, number, number],
): number[][] {
  const third = Math.trunc(size / 3)
  const groups: number[][] = []
  let group: [number, number, number] = [0, third, 2 * third]
  for (let count = 0; count < third; count++) {
    groups.push(group)
    group = next(group)
  }
  return groups
}

const methods: Readonly<Record<ShaCryptMethod, Method>> = {
  sha256: {
    prefix: '$5$',
    size: 32,
    order: [...byteOrder(32, ([a, b, c]) => [c + 1, a + 1, b + 1]), [31, 30]],
  },
  sha512: {
    prefix: '$6$',
    size: 64,
    order: [...byteOrder(64, ([a, b, c]) => [b + 1, c + 1, a + 1]), [63]],
  },
}

/** A salt of 16 characters. */
export const newSalt = (): string => Array.from(randomBytes(16), (byte) => alphabet[byte & 63]).join('')

/** @returns `$5$salt$hash` or `$6$salt$hash` */
export async function shaCrypt(password: string, method: ShaCryptMethod, salt: string = newSalt()): Promise<string> {
  const { prefix, size, order } = methods[method]
  const key = Buffer.from(password, 'utf8')
  const grain = Buffer.from(salt, 'utf8').subarray(0, 16)
  const hash = (...parts: readonly Buffer[]) => {
    const digest = createHash(method)
    for (const part of parts) digest.update(part)
    return digest.digest()
  }
  const first = firstDigest(hash, key, grain, size)
  const keyPart = repeated(hash(...Array<Buffer>(key.length).fill(key)), key.length)
  const saltPart = repeated(hash(...Array<Buffer>(16 + first[0]!).fill(grain)), grain.length)
  let digest = first
  for (let round = 0; round < rounds; round++) {
    const odd = round % 2 === 1
    digest = hash(
      odd ? keyPart : digest,
      ...(round % 3 === 0 ? [] : [saltPart]),
      ...(round % 7 === 0 ? [] : [keyPart]),
      odd ? digest : keyPart,
    )
    // thousands of rounds must not keep everybody else waiting
    if (round % 500 === 499) await setImmediate()
  }
  return `${prefix}${grain.toString('utf8')}$${order.map((group) => encode(group.map((at) => digest[at]!))).join('')}`
}

function firstDigest(hash: (...parts: readonly Buffer[]) => Buffer, key: Buffer, salt: Buffer, size: number): Buffer {
  const other = hash(key, salt, key)
  const parts = [key, salt, repeated(other, key.length)]
  for (let bits = key.length; bits > 0; bits >>>= 1) parts.push(bits & 1 ? other.subarray(0, size) : key)
  return hash(...parts)
}

/** The digest over and over, cut to a length. */
const repeated = (digest: Buffer, length: number): Buffer =>
  Buffer.concat(Array<Buffer>(Math.ceil(length / digest.length)).fill(digest)).subarray(0, length)

/** Bytes, the first the most significant, as characters of six bits, the least significant first. */
function encode(bytes: readonly number[]): string {
  let value = bytes.reduce((sum, byte) => (sum << 8) | byte, 0)
  let text = ''
  for (let count = Math.ceil((bytes.length * 8) / 6); count > 0; count--) {
    text += alphabet[value & 63]
    value >>>= 6
  }
  return text
}
