/** Holds one recorded conversation with a server: fresh names each time, waiting where the recording waited, cleaning up. */
import { randomBytes, randomUUID } from 'node:crypto'
import { request, type Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { comparable, parse, unlike, type Answer, type Known } from './comparison.ts'
import { valueAt } from './pointer.ts'
import type { Json, Request, Scenario, Step, VariableKind } from './scenario.ts'

export interface Peer {
  /** URL without a slash at the end */
  readonly base: string
  readonly conductor: string
  readonly agent: Agent
  /** `name:password` */
  readonly credentials?: string
}

export interface Options {
  /** done before each step */
  readonly before?: (conversation: Conversation, step: Step) => Promise<void>
  /** milliseconds in which a state must be reached */
  readonly patience?: number
}

export interface StepResult {
  readonly step: Step
  /** where the answer was not as recorded; empty when all is as recorded */
  readonly unlike: readonly string[]
}

const letters = () => randomBytes(10).reduce((word, byte) => word + String.fromCharCode(97 + (byte % 26)), '')
const fresh: Readonly<Record<VariableKind, () => string>> = {
  uuid: randomUUID,
  name: () => `zz-${letters()}`,
  word: () => `zz${letters()}`,
  trait: () => `CUSTOM_${letters().toUpperCase()}`,
  mac: () =>
    `52:54:${randomBytes(4)
      .toString('hex')
      .replace(/..(?!$)/g, '$&:')}`,
}

const forms: Readonly<Record<string, (value: string) => string>> = {
  upper: (value) => value.toUpperCase(),
  dash: (value) => value.replaceAll(':', '-'),
  nodash: (value) => value.replaceAll('-', ''),
  enc: encodeURIComponent,
}

const limit = 20_000

export class Conversation {
  readonly #scenario: Scenario
  readonly #peer: Peer
  readonly #options: Options
  readonly #variables: Map<string, Json>

  constructor(scenario: Scenario, peer: Peer, options: Options = {}) {
    this.#scenario = scenario
    this.#peer = peer
    this.#options = options
    const made = Object.entries(scenario.vars).map(([name, kind]) => [name, fresh[kind]()] as const)
    this.#variables = new Map<string, Json>([['base', peer.base], ['conductor', peer.conductor], ...made])
  }

  async hold(): Promise<StepResult[]> {
    const results: StepResult[] = []
    let stopped: string | undefined
    try {
      for (const [index, step] of this.#scenario.steps.entries()) {
        if (stopped !== undefined) {
          results.push({ step, unlike: [`not asked, as ${stopped}`] })
          continue
        }
        await this.#options.before?.(this, step)
        const answer = await this.#answerTo(step)
        const captured = answer !== undefined && this.#capture(step, answer)
        const found = answer === undefined ? ['its state was never reached'] : this.#compare(step, answer)
        if (!captured) stopped = `step ${index + 1} gave nothing to go on with`
        results.push({ step, unlike: found })
      }
    } finally {
      for (const entry of this.#scenario.cleanup) await this.#cleanUp(entry)
    }
    return results
  }

  /** Asks for something that is not of the scenario, with its names filled in. */
  async ask(request: Request): Promise<Answer> {
    try {
      return await this.#send(request)
    } catch (error) {
      // the server had ended the connection that we took
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
      return this.#send(request)
    }
  }

  #compare(step: Step, answer: Answer): string[] {
    return unlike(step.expect, comparable(answer, step, this.#known()))
  }

  #known(): Known {
    const texts = [...this.#variables].filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].length >= 6,
    )
    return texts
      .flatMap(([name, value]): [string, string][] => {
        const upper = value.toUpperCase()
        return upper === value
          ? [[value, name]]
          : [
              [value, name],
              [upper, `${name}:upper`],
            ]
      })
      .sort(([a], [b]) => b.length - a.length)
  }

  /** The last answer; undefined when what the step waits for never came. */
  async #answerTo(step: Step): Promise<Answer | undefined> {
    const until = Object.entries(step.until ?? {})
    const end = Date.now() + (this.#options.patience ?? limit)
    for (;;) {
      const answer = await this.#send(step)
      const document = parse(answer.text)
      if (until.every(([pointer, wanted]) => wanted.includes(valueAt(document, pointer) ?? null))) return answer
      if (Date.now() > end) return undefined
      await sleep(30)
    }
  }

  #capture({ capture = {} }: Step, answer: Answer): boolean {
    for (const [name, pointer] of Object.entries(capture)) {
      const value = valueAt(parse(answer.text), pointer)
      if (value === undefined || value === null) return false
      this.#variables.set(name, value)
    }
    return true
  }

  #filled(value: Json): Json {
    if (typeof value === 'string') return this.#filledText(value)
    if (Array.isArray(value)) return value.map((member) => this.#filled(member))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [String(this.#filledText(key)), this.#filled(member)]),
    )
  }

  #filledText(text: string): Json {
    const [, whole] = /^\{\{([\w.-]+)\}\}$/.exec(text) ?? []
    if (whole !== undefined) return this.#value(whole)
    return text
      .replace(/\{\{([\w.-]+)(?::(\w+))?\}\}/g, (_all, name: string, form?: string) => {
        const value = String(this.#value(name))
        return form === undefined ? value : forms[form]!(value)
      })
      .replace(/\{\{repeat:([^:}]*):(\d+)\}\}/g, (_all, part: string, times: string) => part.repeat(Number(times)))
  }

  #value(name: string): Json {
    const value = this.#variables.get(name)
    if (value === undefined) throw new Error(`${this.#scenario.name}: nothing is known as ${name}`)
    return value
  }

  #headers({ version = this.#scenario.version, auth = true, headers = {} }: Request): Record<string, string> {
    const { credentials } = this.#peer
    const all: Record<string, string | null> = {
      accept: 'application/json',
      'x-openstack-ironic-api-version': version,
      authorization: auth && credentials !== undefined ? `Basic ${btoa(credentials)}` : null,
    }
    for (const [name, value] of Object.entries(headers)) all[name.toLowerCase()] = value
    const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null)
    return Object.fromEntries(sent.map(([name, value]) => [name, String(this.#filledText(value))]))
  }

  #send(asked: Request): Promise<Answer> {
    const { method, path, body, rawBody } = asked
    const headers = this.#headers(asked)
    const content =
      rawBody !== undefined
        ? String(this.#filledText(rawBody))
        : body === undefined
          ? undefined
          : JSON.stringify(this.#filled(body))
    if (content !== undefined) headers['content-type'] ??= 'application/json'
    if (content !== undefined || method.startsWith('P'))
      headers['content-length'] = `${Buffer.byteLength(content ?? '')}`
    const { hostname, port } = new URL(this.#peer.base)
    return new Promise((resolve, reject) => {
      const sent = request(
        // the path goes out as it is written
        {
          hostname,
          port,
          method,
          path: String(this.#filledText(path)),
          headers,
          agent: this.#peer.agent,
          timeout: limit,
        },
        (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.on('error', reject)
          answer.on('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers as Record<string, string>,
              text: Buffer.concat(chunks).toString(),
            }),
          )
        },
      )
      sent.on('error', reject)
      sent.on('timeout', () => sent.destroy(new Error(`no answer to ${method} ${path}`)))
      sent.end(content)
    })
  }

  async #cleanUp(entry: Scenario['cleanup'][number]): Promise<void> {
    const latest = { version: 'latest' } as const
    if ('delete' in entry) {
      if (this.#knows(entry.delete)) await this.#send({ ...latest, method: 'DELETE', path: entry.delete })
      return
    }
    if (!this.#knows(entry.node)) return
    const path = `/v1/nodes/${String(this.#filledText(entry.node))}`
    const end = Date.now() + limit
    for (;;) {
      await this.#send({
        ...latest,
        method: 'PATCH',
        path,
        body: [{ op: 'replace', path: '/protected', value: false }],
      })
      await this.#send({ ...latest, method: 'PUT', path: `${path}/maintenance` })
      const { status } = await this.#send({ ...latest, method: 'DELETE', path })
      if (status === 204 || status === 404) return
      if (Date.now() > end) throw new Error(`${path} could not be deleted: ${status}`)
      await sleep(50)
    }
  }

  #knows(text: string): boolean {
    return text.matchAll(/\{\{([\w.-]+)(?::\w+)?\}\}/g).every(([, name]) => this.#variables.has(name!))
  }
}
