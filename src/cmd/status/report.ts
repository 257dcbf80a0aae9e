/** 0 success, 1 warning, 2 failure: also the exit status of the command. */
export type CheckCode = 0 | 1 | 2

export interface Finding {
  readonly code: CheckCode
  /** what was found and what to do; null when all is well */
  readonly details: string | null
}

export interface CheckResult extends Finding {
  readonly name: string
}

const title = 'Upgrade Check Results'
const words: Record<CheckCode, string> = { 0: 'Success', 1: 'Warning', 2: 'Failure' }
const wrapAt = 60

export const worst = (results: readonly CheckResult[]): CheckCode =>
  results.reduce<CheckCode>((most, { code }) => (code > most ? code : most), 0)

/** The JSON that oslo.upgradecheck prints. */
export function jsonReport(results: readonly CheckResult[]): string {
  const checks = results.map(({ name, code, details }) => ({ check: name, result: code, details }))
  return JSON.stringify({ name: title, checks })
}

/** The table that oslo.upgradecheck prints: one column, one cell per check. */
export function tableReport(results: readonly CheckResult[]): string {
  const cells = results.map(({ name, code, details }) => [
    `Check: ${name}`,
    `Result: ${words[code]}`,
    ...`Details: ${details === null ? 'None' : wrapped(details)}`.split('\n'),
  ])
  const width = Math.max(title.length, ...cells.flat().map((line) => line.length))
  const rule = `+${'-'.repeat(width + 2)}+`
  const row = (line: string) => `| ${line.padEnd(width)} |`
  return [rule, row(title), rule, ...cells.flatMap((lines) => [...lines.map(row), rule])].join('\n')
}

/** Lines of at most 60 characters, all but the first indented by two. */
function wrapped(text: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    const candidate = line === '' ? word : `${line} ${word}`
    if (candidate.length <= wrapAt || line.trim() === '') line = candidate
    else {
      lines.push(line)
      line = `  ${word}`
    }
  }
  return [...lines, line].join('\n')
}
