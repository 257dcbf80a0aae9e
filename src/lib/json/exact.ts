/**
 * JSON as Python reads and writes it where JavaScript would lose something: integers beyond 2^53 stay exact, as
 * `JSON.rawJSON` values that `JSON.stringify` writes back digit by digit.
 */

declare global {
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

const longNumber = /(?<![\w.])-?\d{16,}(?![\d.eE])/

/** The value of a JSON text. @throws SyntaxError when it is none */
export function parseJson(text: string): unknown {
  if (!longNumber.test(text)) return JSON.parse(text) as unknown
  const keep = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' &&
    !Number.isSafeInteger(value) &&
    context?.source !== undefined &&
    /^-?\d+$/.test(context.source)
      ? JSON.rawJSON(context.source)
      : value
  return JSON.parse(text, keep) as unknown
}

const open = [0x7b, 0x5b]
const close = [0x7d, 0x5d]

/** Measures how deep brackets are nested outside of texts, chunk by chunk, before anything is parsed. */
export class NestingMeter {
  deepest = 0
  #depth = 0
  #inText = false
  #escaped = false

  read(chunk: Uint8Array): void {
    let depth = this.#depth
    let inText = this.#inText
    let escaped = this.#escaped
    for (const byte of chunk) {
      if (escaped) escaped = false
      else if (inText) {
        if (byte === 0x5c) escaped = true
        else if (byte === 0x22) inText = false
      } else if (byte === 0x22) inText = true
      else if (byte === open[0] || byte === open[1]) {
        depth += 1
        if (depth > this.deepest) this.deepest = depth
      } else if (byte === close[0] || byte === close[1]) depth -= 1
    }
    this.#depth = depth
    this.#inText = inText
    this.#escaped = escaped
  }
}
