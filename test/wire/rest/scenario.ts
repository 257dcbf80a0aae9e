/** The recorded conversations: one JSON file each, with steps that name a request and what the recorded server answered. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServerKind } from './service.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** How a place of the answer (a JSON pointer; `*` is one level) is loosened before it is compared. */
export interface Rule {
  readonly at: string
  readonly how: 'own' | 'only' | 'unordered' | 'ignore' | 'present' | 'prose' | 'type' | 'keys' | 'contains'
  readonly arg?: Json
  readonly key?: string
}

/** An answer in the form in which answers are compared. */
export interface Comparable {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Json
  readonly error?: Json
  readonly empty?: boolean
  readonly text?: boolean
}

export interface Request {
  readonly method: string
  readonly path: string
  /** of the microversion header; null: without it */
  readonly version?: string | null
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body?: Json
  readonly rawBody?: string
  /** false: without credentials */
  readonly auth?: boolean
}

export interface Step extends Request {
  readonly name?: string
  /** repeat until each pointer has one of these values */
  readonly until?: Readonly<Record<string, Json[]>>
  readonly capture?: Readonly<Record<string, string>>
  readonly rules?: readonly Rule[]
  readonly expect: Comparable
}

export type VariableKind = 'uuid' | 'name' | 'mac' | 'word' | 'trait'

export interface Scenario {
  readonly name: string
  readonly server?: ServerKind
  readonly version: string
  readonly vars: Readonly<Record<string, VariableKind>>
  readonly steps: readonly Step[]
  readonly cleanup: readonly ({ readonly node: string } | { readonly delete: string })[]
}

/** All of them, by file name without its ending. */
export async function loadScenarios(directory: string): Promise<ReadonlyMap<string, Scenario>> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.json')).sort()
  const entries = files.map(async (file) => {
    const scenario = JSON.parse(await readFile(join(directory, file), 'utf8')) as Scenario
    return [file.slice(0, -'.json'.length), scenario] as const
  })
  return new Map(await Promise.all(entries))
}

/** Steps that differ by decision, `scenario #step reason` a line: the reason by `scenario #step`. */
export async function loadExceptions(file: string): Promise<ReadonlyMap<string, string>> {
  const lines = (await readFile(file, 'utf8'))
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('//'))
  return new Map(
    lines.map((line) => {
      const [, step, reason] = /^(\S+ #\d+)\s+(\S.*)$/.exec(line) ?? []
      if (step === undefined || reason === undefined) throw new Error(`${file}: not "scenario #step reason": ${line}`)
      return [step, reason] as const
    }),
  )
}
