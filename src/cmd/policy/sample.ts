import type { PolicyRule } from '../../api/policies.ts'

const quoted = (text: string): string => JSON.stringify(text)

function entry({ name, check, operations, scope_types, deprecated_rule }: PolicyRule): string {
  const former =
    deprecated_rule === undefined
      ? []
      : [
          `# Counts beside it unless [oslo_policy]enforce_new_defaults: ${quoted(deprecated_rule.name)}: ${quoted(deprecated_rule.check)}`,
        ]
  return [
    ...operations.map((operation) => `# ${operation}`),
    ...(scope_types === undefined ? [] : [`# Takes tokens of scope: ${scope_types.join(', ')}`]),
    ...former,
    `#${quoted(name)}: ${quoted(check)}`,
  ].join('\n')
}

/** A policy file with every rule as it is by default, commented out. */
export const samplePolicy = (rules: readonly PolicyRule[]): string =>
  [
    '# Rules of the API. Take away the # of a rule to change it; a rule that is not changed should stay out of this file.',
    ...rules.map(entry),
  ].join('\n\n')
