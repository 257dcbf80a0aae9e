import { readdir, readFile, stat } from 'node:fs/promises'
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
  find(path: string): Promise<string | undefined>
}

interface Source {
  readonly path: string
  readonly stamp: string
}

/** The operator's policy files, looked at again whenever someone asks. */
export class PolicyFiles {
  readonly #places: PolicyPlaces
  #stamp: string | undefined

  constructor(places: PolicyPlaces) {
    this.#places = places
  }

  /** The rules when any file, or the list of them, is another than at the last call; else `undefined`. @throws PolicyFileError */
  async changed(): Promise<FileRules | undefined> {
    const sources = await this.#sources()
    const stamp = sources.map((source) => `${source.path} ${source.stamp}`).join('\n')
    if (stamp === this.#stamp) return undefined
    // A file that is wrong is told once, not at each request; the next change brings a new stamp.
    this.#stamp = stamp
    const rules = new Map<string, Check>()
    for (const { path } of sources) {
      for (const [name, check] of parsePolicy(await readPolicy(path), path)) rules.set(name, check)
    }
    return rules
  }

  async #sources(): Promise<Source[]> {
    const file = await this.#places.find(this.#places.file)
    const dirs = await Promise.all(this.#places.dirs.map((dir) => this.#places.find(dir)))
    const inDirs = await Promise.all(dirs.filter((dir) => dir !== undefined).map(filesIn))
    const paths = [...(file === undefined ? [] : [file]), ...inDirs.flat()]
    const sources = await Promise.all(paths.map(stamped))
    return sources.filter((source) => source !== undefined)
  }
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT'

async function filesIn(dir: string): Promise<string[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true })
    const names = entries
      .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => entry.name)
    return names.sort().map((name) => join(dir, name))
  } catch (cause) {
    if (isMissing(cause)) return []
    throw new PolicyFileError(`Policy folder ${dir} cannot be read.`, { cause })
  }
}

async function stamped(path: string): Promise<Source | undefined> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return { path, stamp: `${ino} ${size} ${mtimeNs} ${ctimeNs}` }
  } catch (cause) {
    if (isMissing(cause)) return undefined
    throw new PolicyFileError(`Policy file ${path} cannot be read.`, { cause })
  }
}

async function readPolicy(path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
  } catch (cause) {
    throw new PolicyFileError(`Policy file ${path} cannot be read as UTF-8 text.`, { cause })
  }
}
