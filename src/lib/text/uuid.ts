const shape = /^[0-9a-f]{32}$/

/**
 * Whether Ironic takes the text for a UUID: any spelling that Python's `uuid.UUID` reads (upper case, braces, `urn:uuid:`,
 * without dashes), but not a spelling whose digits are none.
 */
export function isUuidLike(value: unknown): value is string {
  if (typeof value !== 'string') return false
  return shape.test(
    value
      .replace('urn:', '')
      .replace('uuid:', '')
      .replace(/^[{}]+|[{}]+$/g, '')
      .replaceAll('-', '')
      .toLowerCase(),
  )
}
