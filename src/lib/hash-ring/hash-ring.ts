/**
 * Consistent hash ring, position for position as tooz builds it (`tooz.hashring`): services in other languages must agree on
 * who serves a node.
 */
import { createHash, type Hash } from 'node:crypto'

/** Python's names of hash functions, as OpenSSL has them; the shake functions have no length of their own and take 32 bytes. */
const algorithms: Readonly<Record<string, { name: string; outputLength?: number }>> = {
  blake2b: { name: 'blake2b512' },
  blake2s: { name: 'blake2s256' },
  sha3_224: { name: 'sha3-224' },
  sha3_256: { name: 'sha3-256' },
  sha3_384: { name: 'sha3-384' },
  sha3_512: { name: 'sha3-512' },
  shake_128: { name: 'shake128', outputLength: 32 },
  shake_256: { name: 'shake256', outputLength: 32 },
}

export interface HashRingOptions {
  /** positions of each host are this many (2 to the power of `[DEFAULT]hash_partition_exponent`) */
  readonly partitions: number
  /** `[DEFAULT]hash_ring_algorithm` */
  readonly algorithm: string
}

export class HashRing {
  readonly hosts: ReadonlySet<string>
  readonly #algorithm: string
  /** digests as hexadecimal text, ascending; they are all of one length, so text order is number order */
  readonly #positions: string[]
  readonly #owners: string[]

  constructor(hosts: Iterable<string>, { partitions, algorithm }: HashRingOptions) {
    this.hosts = new Set(hosts)
    this.#algorithm = algorithm
    const owners = new Map<string, string>()
    for (const host of this.hosts) {
      const hash = newHash(algorithm).update(host)
      for (let part = 0; part < partitions; part++) {
        hash.update(host)
        owners.set(hash.copy().digest('hex'), host)
      }
    }
    this.#positions = [...owners.keys()].sort()
    this.#owners = this.#positions.map((position) => owners.get(position)!)
  }

  /** The host that serves the key. `ignored` hosts are passed over. Undefined: no host is left. */
  ownerOf(key: string, ignored: ReadonlySet<string> = new Set()): string | undefined {
    return this.ownersOf(key, 1, ignored)[0]
  }

  /** The first `count` different hosts from the key's position on. Fewer when there are not so many. */
  ownersOf(key: string, count: number, ignored: ReadonlySet<string> = new Set()): string[] {
    const found: string[] = []
    const start = this.#positionAfter(newHash(this.#algorithm).update(key).digest('hex'))
    for (let step = 0; step < this.#owners.length && found.length < count; step++) {
      const host = this.#owners[(start + step) % this.#owners.length]!
      if (!ignored.has(host) && !found.includes(host)) found.push(host)
    }
    return found
  }

  /** The ring as tooz keeps it: position (hexadecimal) and host, ascending. */
  positions(): [string, string][] {
    return this.#positions.map((position, index) => [position, this.#owners[index]!])
  }

  /** Index of the first position greater than the digest. */
  #positionAfter(digest: string): number {
    let low = 0
    let high = this.#positions.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#positions[middle]! > digest) high = middle
      else low = middle + 1
    }
    return low
  }
}

function newHash(algorithm: string): Hash {
  const known = algorithms[algorithm]
  return known?.outputLength === undefined
    ? createHash(known?.name ?? algorithm)
    : createHash(known.name, { outputLength: known.outputLength })
}
