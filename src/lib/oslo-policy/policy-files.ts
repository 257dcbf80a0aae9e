import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parse as parseYaml } from 'yaml'
import type { Check } from './check.ts'
import { InvalidRule, parseRule } from './parse.ts'
import type { FileRules } from './rules.ts'

/** A policy file that cannot be read or is no mapping of names to rules. */
export class PolicyFileError extends Error {
  override readonly name = 'PolicyFileError'
}

/**
 * Rules from the text of a policy file: YAML 1.1 (hence JSON too), a mapping. Of a name that stands twice the last counts.
 * @throws PolicyFileError naming the file, and the rule where one is wrong
 */
export function parsePolicy(text: string, path: string): Map<string, Check> {
  const content = readYaml(text, path) ?? {}
  if (content === '' || content === 0 || content === false) return new Map()
  if (typeof content !== 'object' || Array.isArray(content)) {
    throw new PolicyFileError(`Policy file ${path} must be a mapping of rule names to rules.`)
  }
  return new Map(
    Object.entries(content).map(([name, rule]) => {
      try {
        return [name, parseRule(rule)]
      } catch (cause) {
        if (!(cause instanceof InvalidRule)) throw cause
        throw new PolicyFileError(`Policy file ${path}, rule "${name}": ${cause.message}`, { cause })
      }
    }),
  )
}

function readYaml(text: string, path: string): unknown {
  try {
    return parseYaml(text, { version: '1.1', uniqueKeys: false, logLevel: 'error' })
  } catch (cause) {
    throw new PolicyFileError(`Policy file ${path} is not YAML: ${cause instanceof Error ? cause.message : ''}`, {
      cause,
    })
  }
}

/** Where to look; a place that is not there is no fault, it may come later. */
export interface PolicyPlaces {
  /** `policy_file`, looked up in the folders of the configuration. */
  readonly file: string
  /** `policy_dirs`: each file in them that does not start with a dot, by name; later ones win. */
  readonly dirs: readonly string[]
  /** Finds a relative path beside the configuration; the first place that has it. */
  find(path: string): string | undefined
}

interface Source {
  readonly path: string
  readonly stamp: string
}

/**
 * The operator's policy files, looked at again whenever someone asks. A look costs a few microseconds, as nothing but the marks
 * of the files is read until one changes; the thread pool would make it ten times as much, in every request.
 */
export class PolicyFiles {
  readonly #places: PolicyPlaces
  #stamp: string | undefined

  constructor(places: PolicyPlaces) {
    this.#places = places
  }

  /** The rules when any file, or the list of them, is another than at the last call; else `undefined`. @throws PolicyFileError */
  changed(): FileRules | undefined {
    const sources = this.#sources()
    const stamp = sources.map((source) => `${source.path} ${source.stamp}`).join('\n')
    if (stamp === this.#stamp) return undefined
    // A file that is wrong is told once, not at each request; the next change brings a new stamp.
    this.#stamp = stamp
    return new Map(sources.flatMap(({ path }) => [...parsePolicy(readPolicy(path), path)]))
  }

  #sources(): Source[] {
    const { file, dirs } = this.#places
    const found = this.#places.find(file)
    const folders = dirs.map((dir) => this.#places.find(dir)).filter((dir) => dir !== undefined)
    const paths = [...(found === undefined ? [] : [found]), ...folders.flatMap(filesIn)]
    return paths.map(stamped).filter((source) => source !== undefined)
  }
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT'

function filesIn(dir: string): string[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true })
    const names = entries
      .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => entry.name)
    return names.sort().map((name) => join(dir, name))
  } catch (cause) {
    if (isMissing(cause)) return []
    throw new PolicyFileError(`Policy folder ${dir} cannot be read.`, { cause })
  }
}

function stamped(path: string): Source | undefined {
  try {
    const marks = statSync(path, { bigint: true, throwIfNoEntry: false })
    return marks && { path, stamp: `${marks.ino} ${marks.size} ${marks.mtimeNs} ${marks.ctimeNs}` }
  } catch (cause) {
    throw new PolicyFileError(`Policy file ${path} cannot be read.`, { cause })
  }
}

function readPolicy(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (cause) {
    throw new PolicyFileError(`Policy file ${path} cannot be read as UTF-8 text.`, { cause })
  }
}
