/** Steps in the bodies of deploy templates and runbooks, and how they are shown. */
import { cleaningInterfacePriority, deployingInterfacePriority } from '../../domain/step-priorities.ts'
import { InvalidDeployTemplate } from '../../errors/runbook.ts'
import { maskMembers } from '../../lib/secrets/mask.ts'
import type { JsonDict } from '../../objects/versioned-object.ts'
import { Dict, listOf, members, refuse, text, type Value } from '../values.ts'

/** What the column holds. */
const largest = 2 ** 31 - 1

/** A number from 0 on, or a text of decimal digits; stored as a number. */
const Rank: Value<number | string> = {
  stored: 'int',
  schema: {
    anyOf: [
      { type: 'integer', minimum: 0 },
      { type: 'string', minLength: 1, pattern: '^[0-9]+$' },
    ],
  },
  read(name, value) {
    const number = typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : value
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > largest) {
      return refuse(name, `a whole number from 0 to ${largest}`, value)
    }
    return value as number | string
  },
}

const stepName = text({ min: 1 })
const interfaceIn = (priorities: object) => text({ oneOf: Object.keys(priorities) })

export const DeploySteps = listOf(
  members({ interface: interfaceIn(deployingInterfacePriority), step: stepName, args: Dict, priority: Rank }),
  { min: 1 },
)

export const RunbookSteps = listOf(
  members(
    { interface: interfaceIn(cleaningInterfacePriority), step: stepName, args: Dict, order: Rank },
    { optional: ['args'] },
  ),
  { min: 1 },
)

/** @throws InvalidDeployTemplate when two steps are the same method of the same interface */
export function checkDuplicates(steps: readonly JsonDict[]): void {
  const seen = new Set<string>()
  for (const step of steps) {
    const name = `${String(step['interface'])}.${String(step['step'])}`
    if (seen.has(name)) throw new InvalidDeployTemplate(`The step ${name} is there twice; each may be named once.`)
    seen.add(name)
  }
}

/** The text of a list of steps; values under secret-looking names are hidden. */
export const shownSteps = (steps: readonly JsonDict[]): string =>
  JSON.stringify(steps.map((step) => ({ ...step, args: maskMembers((step['args'] ?? {}) as JsonDict, '******') })))
