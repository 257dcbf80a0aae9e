/** Writes `src/config/acted-upon-table.ts` from the code: run it after code began or ceased to read an option. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type OptionsRead, optionsRead } from './option-reads.ts'

export function tableText(read: OptionsRead): string {
  const groups = Object.entries(read).map(
    ([group, names]) => `  ${group}: [\n${names.map((name) => `    '${name}',\n`).join('')}  ],\n`,
  )
  return `/**
 * The options that this release acts on, by group. Made from the code by \`test/architecture/write-acted-upon.ts\`; a test holds it equal
 * to what the code reads.
 */
// oxfmt-ignore
export const optionsActedUpon: Readonly<Record<string, readonly string[]>> = {
${groups.join('')}}
`
}

if (import.meta.main) {
  writeFileSync(join(import.meta.dirname, '../../src/config/acted-upon-table.ts'), tableText(await optionsRead()))
}
