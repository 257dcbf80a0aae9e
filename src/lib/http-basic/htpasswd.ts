import { createHash, createHmac, randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { parseOptions, verify } from '@node-rs/bcrypt'
import { LRUCache } from 'lru-cache'
import { strip } from '../python/text.ts'
import { Turnstile } from './turnstile.ts'

/** The file is missing, unreadable, or holds something other than bcrypt. An operator's mistake. */
export class HtpasswdFileError extends Error {
  override readonly name = 'HtpasswdFileError'
}

/** No such user, or another password: callers must not learn which. */
export class WrongCredentials extends Error {
  override readonly name = 'WrongCredentials'
  /** For the log only. */
  readonly reason: string
  constructor(reason: string) {
    super('User name or password is wrong.')
    this.reason = reason
  }
}

/** bcrypt looks at 72 bytes; more would let different passwords pass as one. */
const longestPassword = 72
const remembered = 256
/** Two at a time leave the other threads of the pool to files and DNS. */
const hashesAtOnce = 2
const waitingForHash = 200
/** Checked in place of an unknown user's hash when the file has none to show how costly its hashes are. */
const decoyHash = '$2b$10$abcdefghijklmnopqrstuuN2f4ZDSoR8/TAG80qUYDM9bRnmRm0Zy'
const bcryptHash = /^\$2[yab]\$/

/** The entries of a file, each `user:hash`, in order. */
const entriesOf = (text: string): string[] =>
  text
    .split(/\r\n|\r|\n/)
    .map(strip)
    .filter((line) => line.includes(':'))

function hashOf(entry: string): string {
  const colon = entry.indexOf(':')
  const hash = entry.slice(colon + 1)
  if (!bcryptHash.test(hash)) {
    throw new HtpasswdFileError(
      `The password of user ${entry.slice(0, colon)} is not a bcrypt hash; write it with "htpasswd -B".`,
    )
  }
  return hash
}

/** What a stranger's password is checked against: an unknown user must take the time that a wrong password takes. */
const decoyOf = (entries: readonly string[]): string =>
  entries.map((entry) => entry.slice(entry.indexOf(':') + 1)).find((hash) => bcryptHash.test(hash)) ?? decoyHash

/** Says that the whole file can be used. @throws HtpasswdFileError */
export function checkHtpasswd(text: string): void {
  for (const entry of entriesOf(text)) hashOf(entry)
}

interface Loaded {
  readonly stamp: string
  readonly entries: readonly string[]
}

/**
 * A file of users and bcrypt hashes as Apache's `htpasswd -B` writes it. It is looked at again on each check, so that a user
 * that was taken out is refused at once; hashing happens in the thread pool, a few at a time, and its results are remembered
 * under a keyed digest (never the password).
 */
export class Htpasswd {
  readonly path: string
  readonly #key = randomBytes(32)
  readonly #verdicts = new LRUCache<string, boolean>({ max: remembered })
  readonly #running = new Map<string, Promise<boolean>>()
  readonly #turnstile = new Turnstile(hashesAtOnce, waitingForHash)
  #loaded: Loaded | undefined
  #loading: Promise<Loaded> | undefined

  private constructor(path: string) {
    this.path = path
  }

  /** Opens the file and checks all of it. @throws HtpasswdFileError */
  static async open(path: string): Promise<Htpasswd> {
    const file = new Htpasswd(path)
    const { entries } = await file.#current()
    for (const entry of entries) hashOf(entry)
    return file
  }

  /**
   * Checks a login.
   * @returns the user's name
   * @throws WrongCredentials, HtpasswdFileError, or `Busy` when more logins wait than can be checked in time
   */
  async authenticate(user: string, password: Buffer): Promise<string> {
    const { entries } = await this.#current()
    const entry = entries.find((line) => line.startsWith(`${user}:`))
    const hash = entry === undefined ? undefined : hashOf(entry)
    const right = await this.#matches(password, hash ?? decoyOf(entries))
    if (hash === undefined) throw new WrongCredentials(`User ${user} is not in ${this.path}.`)
    if (!right) throw new WrongCredentials(`The password of user ${user} does not match.${flaw(hash)}`)
    return user
  }

  async #matches(password: Buffer, hash: string): Promise<boolean> {
    if (password.length > longestPassword) return false
    const id = createHmac('sha256', this.#key)
      .update(createHash('sha256').update(hash).digest())
      .update(password)
      .digest('base64')
    const known = this.#verdicts.get(id)
    if (known !== undefined) return known
    let running = this.#running.get(id)
    if (running === undefined) {
      running = this.#turnstile
        .pass(() => verify(password, hash))
        .then((right) => {
          this.#verdicts.set(id, right)
          return right
        })
        .finally(() => this.#running.delete(id))
      this.#running.set(id, running)
    }
    return await running
  }

  /** The entries, read again when the file is another than last time; concurrent checks share one look. */
  #current(): Promise<Loaded> {
    this.#loading ??= this.#look().finally(() => (this.#loading = undefined))
    return this.#loading
  }

  async #look(): Promise<Loaded> {
    try {
      const { ino, size, mtimeNs, ctimeNs } = await stat(this.path, { bigint: true })
      const stamp = `${ino} ${size} ${mtimeNs} ${ctimeNs}`
      if (this.#loaded?.stamp !== stamp) {
        const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(this.path))
        this.#loaded = { stamp, entries: entriesOf(text) }
      }
      return this.#loaded
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new HtpasswdFileError(
        `The file of users ${this.path} cannot be read (${why}). Let the user of this service read it, or make it: htpasswd -nbB USER PASSWORD prints a line of it.`,
        { cause },
      )
    }
  }
}

function flaw(hash: string): string {
  try {
    parseOptions(hash)
    return ''
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return ' Its hash is malformed, so that no password can; write it anew with "htpasswd -B".'
  }
}
