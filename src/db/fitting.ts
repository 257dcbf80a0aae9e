/** What a TEXT of MariaDB holds. */
const maxTextBytes = 65_535
const cutMark = ' ... [truncated] ... '

/** A text that fits a TEXT column: the first and the last half, as real Ironic cuts the events of its history. */
export function fittingText(text: string): string {
  // three bytes at most per unit of a string
  if (text.length * 3 <= maxTextBytes) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= maxTextBytes) return text
  const room = maxTextBytes - Buffer.byteLength(cutMark)
  const head = Math.floor(room / 2)
  const decode = (part: Buffer) => new TextDecoder('utf-8').decode(part).replaceAll('\uFFFD', '')
  return decode(bytes.subarray(0, head)) + cutMark + decode(bytes.subarray(bytes.length - (room - head)))
}

/** A failure whose text is too long must still be stored: the row would otherwise stay in the state before it. */
export const withFittingError = <V extends { last_error?: string | null }>(values: V): V =>
  typeof values.last_error === 'string' ? { ...values, last_error: fittingText(values.last_error) } : values
