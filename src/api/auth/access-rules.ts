import type { AccessRule } from '../../lib/keystone-auth/token.ts'

/**
 * Whether an application credential that is restricted to some requests may make this one.
 * @param services types in the token's catalog
 * @param serviceType what this service is called in rules, `[keystone_authtoken]service_type`; without it nothing is allowed
 * @param onBehalf a service sends the request for the user, who did not choose it
 */
export function accessRulesAllow(
  rules: readonly AccessRule[],
  services: readonly string[],
  serviceType: string | null,
  request: { readonly method: string; readonly path: string },
  onBehalf: boolean,
): boolean {
  if (serviceType === null || !services.includes(serviceType)) return false
  if (onBehalf) return true
  return rules.some(
    (rule) => rule.service === serviceType && rule.method === request.method && matches(request.path, rule.path),
  )
}

/**
 * Keystone's path patterns: `*` and `{name}` stand for some text within one segment, `**` for any text. Users write them, so
 * the match walks all readings side by side instead of backtracking.
 */
function matches(path: string, pattern: string): boolean {
  let ends = Array.from({ length: path.length + 1 }, (_, index) => index === 0)
  for (const part of pattern.match(/\*\*|\*|\{[^}]*\}|[^*{]+|\{/g) ?? []) ends = after(path, ends, part)
  return ends[path.length] === true
}

/** Where the text of a part may end, given where it may start; one walk along the path. */
function after(path: string, starts: readonly boolean[], part: string): boolean[] {
  const anything = part === '**'
  if (!anything && part !== '*' && !part.startsWith('{')) {
    return starts.map((_, end) => starts[end - part.length] === true && path.startsWith(part, end - part.length))
  }
  let open = false
  return starts.map((start, end) => {
    if (!anything && path[end - 1] === '/') open = false
    const reached = open || (anything && start)
    open ||= start
    return reached
  })
}
