import type { Json } from './scenario.ts'

const tokens = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))

type Container = Json[] | { [key: string]: Json }
export const isContainer = (value: Json | undefined): value is Container => typeof value === 'object' && value !== null
const members = (value: Container) => value as { [key: string]: Json }

/** What is at a JSON pointer (RFC 6901). */
export function valueAt(document: Json | undefined, pointer: string): Json | undefined {
  let current = document
  for (const token of tokens(pointer)) {
    if (!isContainer(current)) return undefined
    current = members(current)[token]
  }
  return current
}

/** Changes each place that a pointer names, in which `*` is any one level and `**` any number of levels. */
export function changeAt(document: Json, pointer: string, change: (value: Json) => Json | undefined): Json {
  const walk = (value: Json, path: readonly string[]): Json | undefined => {
    const [token, ...rest] = path
    if (token === undefined) return change(value)
    if (!isContainer(value)) return value
    if (token === '**') {
      const deeper = mapMembers(value, (member) => walk(member, path))
      return rest.length === 0 ? deeper : (walk(deeper, rest) ?? deeper)
    }
    return mapMembers(value, (member, key) => (token === '*' || token === key ? walk(member, rest) : member))
  }
  return walk(document, tokens(pointer)) ?? null
}

/** A member for which there is nothing is left out; in a list its place is kept. */
function mapMembers(value: Container, map: (member: Json, key: string) => Json | undefined): Container {
  if (Array.isArray(value)) return value.map((member, index) => map(member, String(index)) ?? '<ignored>')
  const kept = Object.entries(value).map(([key, member]) => [key, map(member, key)] as const)
  return Object.fromEntries(kept.filter(([, member]) => member !== undefined)) as Container
}
