/** Whether a text is a uuid as oslo takes it: hyphens, braces and case do not matter. */
export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{32}$/.test(
    text
      .toLowerCase()
      .replace(/^urn:|uuid:/g, '')
      .replaceAll(/[{}-]/g, ''),
  )
