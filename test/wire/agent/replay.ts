import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type AgentForTests, type Heard, type Said, startAgentForTests } from '../../../src/agent/agent-for-tests.ts'

/** One exchange of the real conductor with the real agent, or what a client asked the conductor for. */
interface Exchange {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  // oxlint-disable-next-line typescript/no-explicit-any -- recorded JSON
  readonly body: any
  /** null: the connection was closed instead of an answer */
  readonly status: number | null
  readonly answer: unknown
  readonly client?: string
}

export interface Recording {
  readonly flow: string
  readonly about: string
  readonly last_state: Record<string, string> | null
  readonly entries: readonly Exchange[]
}

export const recordingNamed = (name: string): Recording =>
  JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8')) as Recording

/** `{token}` stands for what differs from one run to another. */
const isPlaceholder = (value: unknown) => typeof value === 'string' && /\{[a-z_\d]+\}|characters trimmed\}$/.test(value)

/**
 * Is what we said no more than what was recorded? Objects may leave members out, not add any.
 * @returns the first place that is more, or null
 */
export function moreThan(ours: unknown, theirs: unknown, where = ''): string | null {
  if (ours === '******' || isPlaceholder(theirs)) return null
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    if (ours.length > theirs.length) return where
    return (
      ours.map((item, index) => moreThan(item, theirs[index], `${where}[${index}]`)).find((x) => x !== null) ?? null
    )
  }
  if (typeof ours === 'object' && ours !== null) {
    if (typeof theirs !== 'object' || theirs === null) return where
    const known = theirs as Record<string, unknown>
    for (const [key, value] of Object.entries(ours)) {
      const path = `${where}.${key}`
      if (!Object.hasOwn(known, key)) return path
      const more = moreThan(value, known[key], path)
      if (more !== null) return more
    }
    return null
  }
  return ours === theirs ? null : `${where}: ${JSON.stringify(ours)} instead of ${JSON.stringify(theirs)}`
}

/** Parts of the node that belong to this run and not to the recording: only their presence is compared. */
const ofThisRun = (params: Record<string, unknown>) => {
  const { node, ports, ...rest } = params
  return { node: Object.keys(node ?? {}), ports: ports ?? [], ...rest }
}

function compare(heard: Heard, recorded: Exchange): void {
  const ours = ofThisRun(heard.params)
  const theirs = ofThisRun(recorded.body.params)
  const extra = ours.node.filter((key) => !theirs.node.includes(key))
  assert.deepEqual(extra, [], `${heard.command} tells more of the node than was recorded`)
  const { node: _a, ports: _b, ...oursRest } = ours
  const { node: _c, ports: _d, ...theirsRest } = theirs
  assert.equal(moreThan(oursRest, theirsRest), null, `${heard.command} says more than was recorded`)
  const query = new URL(recorded.path, 'http://agent').searchParams
  assert.deepEqual([...heard.query.keys()], [...query.keys()])
  assert.equal(heard.query.get('wait'), query.get('wait'))
}

export interface Replay {
  readonly agent: AgentForTests
  /** what went wrong in comparing; a request handler cannot fail a test by itself */
  readonly problems: Error[]
  /** commands and `status`, as recorded */
  readonly recorded: string[]
  /** the same, as we said */
  said(): string[]
}

const nameOf = (exchange: Exchange) => (exchange.method === 'GET' ? 'status' : (exchange.body.name as string))

/** An agent that answers as the recorded one did, and compares what it is asked. */
export async function replayAgent(recording: Recording): Promise<Replay> {
  const exchanges = recording.entries.filter((entry) => entry.method !== undefined)
  const problems: Error[] = []
  let next = 0
  const answer = (heard: Heard): Said => {
    const name = heard.command ?? 'status'
    const at = exchanges.findIndex((exchange, index) => index >= next && nameOf(exchange) === name)
    if (at < 0) {
      problems.push(new Error(`${name} was said, but in the recording it is not said any more`))
      return { status: 500, body: { faultstring: 'not recorded' } }
    }
    next = at + 1
    const exchange = exchanges[at]!
    try {
      if (heard.command !== null) compare(heard, exchange)
    } catch (error) {
      problems.push(error as Error)
    }
    return exchange.status === null ? 'close' : { status: exchange.status, body: exchange.answer }
  }
  const agent = await startAgentForTests(answer)
  return {
    agent,
    problems,
    recorded: exchanges.map(nameOf),
    said: () => agent.heard.map(({ command }) => command ?? 'status'),
  }
}
