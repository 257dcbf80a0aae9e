import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { BmcProfile } from './profile.ts'

interface Session {
  readonly id: string
  readonly token: string
  readonly user: string
  lastUse: number
}

/** Who may use a BMC: its accounts and the sessions that are open. */
export class BmcSessions {
  readonly #accounts: ReadonlyMap<string, string>
  readonly #profile: BmcProfile
  readonly #sessions = new Map<string, Session>()
  /** set by a fault: every log-in is refused */
  refusesLogins = false
  /** log-ins that were tried, in all */
  attempts = 0

  /** @param accounts password by user; without any the BMC asks for nothing */
  constructor(accounts: ReadonlyMap<string, string>, profile: BmcProfile) {
    this.#accounts = accounts
    this.#profile = profile
  }

  get open(): number {
    return this.#sessions.size
  }

  get ids(): readonly string[] {
    return [...this.#sessions.values()].map((session) => session.id)
  }

  /** Opens a session; null when the log-in is refused. */
  login(user: string, password: string): { id: string; token: string } | null {
    this.attempts++
    if (!this.#knows(user, password)) return null
    while (this.#sessions.size >= this.#profile.sessionLimit) {
      const oldest = [...this.#sessions.values()].sort((a, b) => a.lastUse - b.lastUse)[0]
      if (oldest === undefined) break
      this.#sessions.delete(oldest.token)
    }
    const session = { id: randomUUID().slice(0, 8), token: randomBytes(16).toString('hex'), user, lastUse: Date.now() }
    this.#sessions.set(session.token, session)
    return session
  }

  /** Ends a session; false when there is none of that name. */
  logout(id: string): boolean {
    const session = [...this.#sessions.values()].find((candidate) => candidate.id === id)
    return session !== undefined && this.#sessions.delete(session.token)
  }

  loseAll(): void {
    this.#sessions.clear()
  }

  /** Whether a request may pass, by its token or by HTTP Basic. */
  allows(headers: IncomingHttpHeaders): boolean {
    if (this.#accounts.size === 0) return true
    const token = headers['x-auth-token']
    if (typeof token === 'string') {
      const session = this.#sessions.get(token)
      if (session === undefined) return false
      if (Date.now() - session.lastUse > this.#profile.sessionIdle) {
        this.#sessions.delete(token)
        return false
      }
      session.lastUse = Date.now()
      return true
    }
    const [scheme = '', credentials = ''] = (headers.authorization ?? '').split(' ')
    if (!this.#profile.basic || scheme.toLowerCase() !== 'basic') return false
    this.attempts++
    const [user = '', ...password] = Buffer.from(credentials, 'base64').toString('utf8').split(':')
    return this.#knows(user, password.join(':'))
  }

  #knows(user: string, password: string): boolean {
    if (this.refusesLogins) return false
    const known = Buffer.from(this.#accounts.get(user) ?? '')
    const given = Buffer.from(password)
    return this.#accounts.has(user) && known.length === given.length && timingSafeEqual(known, given)
  }
}
