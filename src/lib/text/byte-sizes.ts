/** Sizes as people write them, with the units of oslo.utils: `1.5GB`, `512MiB`, `100kbit`. */
export type UnitSystem = 'IEC' | 'SI' | 'mixed'

const exponents: Readonly<Record<string, number>> = {
  K: 1,
  M: 2,
  G: 3,
  T: 4,
  P: 5,
  E: 6,
  Z: 7,
  Y: 8,
  R: 9,
  Q: 10,
}

const patterns: Readonly<Record<UnitSystem, RegExp>> = {
  IEC: /^([-+]?\d*\.?\d+)([KMGTPEZYRQ]i?)?(b|bit|B)\n?$/,
  SI: /^([-+]?\d*\.?\d+)([kMGTPEZYRQ])?(b|bit|B)\n?$/,
  mixed: /^([-+]?\d*\.?\d+)([kKMGTPEZYRQ]i?)?(b|bit|B)\n?$/,
}

/**
 * Bytes that a text means; a bit is an eighth. IEC counts in 1024, SI in 1000, mixed in 1024 where the prefix ends in `i`.
 * @returns undefined when the text is no size, or the system is not known
 */
export function bytesFrom(text: string, system: UnitSystem = 'IEC'): number | undefined {
  const match = patterns[system]?.exec(text)
  if (match === null || match === undefined) return undefined
  const [, number = '', prefix = '', unit] = match
  const magnitude = unit === 'B' ? Number(number) : Number(number) / 8
  if (prefix === '') return magnitude
  const exponent = exponents[prefix.charAt(0).toUpperCase()]
  if (exponent === undefined || prefix === 'ki') return undefined
  const binary = system === 'IEC' || (system === 'mixed' && prefix.endsWith('i'))
  return magnitude * (binary ? 1024 : 1000) ** exponent
}
