/** Brings an answer into the form in which the recordings hold answers, and says where two of that form differ. */
import { changeAt, isContainer } from './pointer.ts'
import type { Comparable, Json, Rule, Step } from './scenario.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
}

/** Values of this run by the name that stands for each, the longest first. */
export type Known = readonly (readonly [value: string, name: string])[]

const comparedHeaders = [
  'x-openstack-ironic-api-minimum-version',
  'x-openstack-ironic-api-maximum-version',
  'x-openstack-ironic-api-version',
  'location',
] as const
const requestIds = ['openstack-request-id', 'x-openstack-request-id'] as const

const uuids = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g
const time = /^\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(?:\.\d{1,6})?(Z|[+-]\d\d:?\d\d)?$/
/** Members with a sentence that each server words itself. */
const sentences = ['last_error', 'faultstring', 'maintenance_reason_server']

const compact = (value: Json): string =>
  JSON.stringify(value, (_key, member: Json) =>
    isContainer(member) && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
const prose = (value: Json): Json => (typeof value === 'string' && value !== '' ? '<text>' : value)
const typeName = (value: Json): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

function named(text: string, known: Known): string {
  const [, separator, zone] = time.exec(text) ?? []
  if (separator !== undefined) return `<time${separator === 'T' ? '' : ' with blank'}${zone ?? ''}>`
  let result = text
  for (const [value, name] of known) result = result.replaceAll(value, `{{${name}}}`)
  return result.replace(uuids, '<uuid>')
}

function anonymous(value: Json, known: Known, key = ''): Json {
  if (typeof value === 'string')
    return sentences.includes(key) ? (value.startsWith('<text') ? value : prose(value)) : named(value, known)
  if (!isContainer(value)) return value
  if (Array.isArray(value)) return value.map((member) => anonymous(member, known))
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [named(name, known), anonymous(member, known, name)]),
  )
}

function headersOf({ headers }: Answer, known: Known): Record<string, string> {
  const result: Record<string, string> = {}
  for (const name of comparedHeaders) if (headers[name] !== undefined) result[name] = named(headers[name], known)
  const { allow, 'www-authenticate': challenge, 'content-type': contentType } = headers
  if (allow !== undefined)
    result['allow'] = allow
      .split(/\s*,\s*/)
      .sort()
      .join(', ')
  if (challenge !== undefined) result['www-authenticate'] = challenge.split(' ')[0]!
  if (contentType !== undefined) result['content-type'] = contentType.split(';')[0]!.trim().toLowerCase()
  for (const name of requestIds) {
    if (headers[name] !== undefined)
      result[name] = /^req-[0-9a-f-]{36}$/.test(headers[name]) ? '<request id>' : '<malformed>'
  }
  return result
}

/** The envelope of a refusal: its shape and codes, and that there is a sentence. */
function refusal(body: Json): Json | undefined {
  if (!isContainer(body) || Array.isArray(body)) return undefined
  const shape = Object.keys(body).sort()
  const inner = body['error']
  if (isContainer(inner) && !Array.isArray(inner) && 'message' in inner) {
    return { members: shape, encoding: 'object', content: { ...inner, message: prose(inner['message'] ?? null) } }
  }
  if (!('error_message' in body)) return undefined
  const told = body['error_message']!
  if (typeof told !== 'string') return { members: shape, encoding: typeName(told), content: contentOf(told) }
  const parsed = parse(told)
  if (!isContainer(parsed)) return { members: shape, encoding: 'text', text: told !== '' }
  return { members: shape, encoding: 'json-in-string', content: contentOf(parsed) }
}

function contentOf(envelope: Json): Json {
  if (!isContainer(envelope) || Array.isArray(envelope)) return envelope
  const told = Object.entries(envelope).map(([key, value]): [string, Json] => {
    if (key === 'faultstring') return [key, prose(value)]
    if (key === 'description') return [key, '<ignored>']
    return [key, key === 'debuginfo' && value !== null ? '<text>' : value]
  })
  return Object.fromEntries(told)
}

export function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Rules that look at real values; the others see a document without them. */
const beforehand: readonly Rule['how'][] = ['own', 'contains']

const loosen: { readonly [how in Rule['how']]: (value: Json, rule: Rule, own: ReadonlySet<Json>) => Json | undefined } =
  {
    own: (list, { key = 'uuid' }, own) =>
      Array.isArray(list) ? list.filter((entry) => own.has((entry as { [key: string]: Json })[key] ?? null)) : list,
    only: (value, { arg }) =>
      isContainer(value)
        ? Object.fromEntries(Object.entries(value).filter(([key]) => (arg as string[]).includes(key)))
        : value,
    unordered: (list) => (Array.isArray(list) ? list.toSorted((a, b) => (compact(a) < compact(b) ? -1 : 1)) : list),
    ignore: () => undefined,
    present: () => '<present>',
    prose,
    type: (value) => `<${typeName(value)}>`,
    keys: (value) => (isContainer(value) ? { '<keys>': Object.keys(value).sort() } : value),
    contains: (value, { arg }) => {
      const has = typeof value === 'string' && value.toLowerCase().includes(String(arg).toLowerCase())
      return `<text ${has ? 'containing' : 'without'} ${JSON.stringify(arg)}>`
    },
  }

export function comparable(answer: Answer, { rules = [] }: Pick<Step, 'rules'>, known: Known): Comparable {
  const result = { status: answer.status, headers: headersOf(answer, known) }
  if (answer.text === '') return { ...result, body: null, empty: true }
  const parsed = parse(answer.text)
  if (parsed === undefined) return { ...result, text: true }
  const error = answer.status >= 400 ? refusal(parsed) : undefined
  if (error !== undefined) return { ...result, error }
  const own = new Set<Json>(known.map(([value]) => value))
  const apply = (document: Json, chosen: readonly Rule[]): Json =>
    chosen.reduce((so, rule) => changeAt(so, rule.at, (value) => loosen[rule.how](value, rule, own)), document)
  let body = apply(
    parsed,
    rules.filter(({ how }) => beforehand.includes(how)),
  )
  body = anonymous(body, known)
  if (isContainer(body) && !Array.isArray(body) && 'default_version' in body)
    body = { ...body, description: prose(body['description'] ?? null) }
  return {
    ...result,
    body: apply(
      body,
      rules.filter(({ how }) => !beforehand.includes(how)),
    ),
  }
}

const short = (value: Json | undefined): string => {
  const text = value === undefined ? 'nothing' : compact(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

export function differences(wanted: Json | undefined, got: Json | undefined, at: string): string[] {
  if (isContainer(wanted) && isContainer(got) && Array.isArray(wanted) === Array.isArray(got)) {
    const keys = new Set([...Object.keys(wanted), ...Object.keys(got)])
    type Members = { [key: string]: Json }
    return [...keys].flatMap((key) => differences((wanted as Members)[key], (got as Members)[key], `${at}/${key}`))
  }
  if (wanted === got || (wanted !== undefined && got !== undefined && compact(wanted) === compact(got))) return []
  return [`${at}: recorded ${short(wanted)}, got ${short(got)}`]
}

/** Where an answer is not as recorded. Where real Ironic failed inside, any refusal is as good. */
export function unlike(recorded: Comparable, got: Comparable): string[] {
  if (recorded.status >= 500) {
    if (got.status < 400) return [`status: recorded ${recorded.status}, got ${got.status}`]
    return recorded.error !== undefined && got.error === undefined ? ['a refusal without an envelope'] : []
  }
  return differences(recorded as unknown as Json, got as unknown as Json, '')
}
