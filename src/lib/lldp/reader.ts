/** Reads the fields of a TLV from its octets; the sentence of the error says what was missing. */
export class TlvReader {
  private offset = 0
  private readonly octets: Buffer
  constructor(octets: Buffer) {
    this.octets = octets
  }

  take(count: number): Buffer {
    if (this.offset + count > this.octets.length)
      throw new LldpError(`${count} octets wanted at ${this.offset}, ${this.octets.length - this.offset} are left`)
    const part = this.octets.subarray(this.offset, this.offset + count)
    this.offset += count
    return part
  }

  u8(): number {
    return this.take(1).readUInt8()
  }

  u16(): number {
    return this.take(2).readUInt16BE()
  }

  u32(): number {
    return this.take(4).readUInt32BE()
  }

  /** The rest, or `count` octets, as UTF-8 text. */
  text(count = this.octets.length - this.offset): string {
    return decodeText(this.take(count))
  }
}

/** A TLV that does not hold what its type promises. */
export class LldpError extends Error {
  override readonly name = 'LldpError'
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws LldpError when the octets are not UTF-8 */
export function decodeText(octets: Buffer): string {
  try {
    return decoder.decode(octets)
  } catch (cause) {
    throw new LldpError('the text is not UTF-8', { cause })
  }
}
