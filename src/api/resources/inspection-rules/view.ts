import type { Row } from '../../../db/codec.ts'
import type { JsonDict } from '../../../objects/versioned-object.ts'
import { defineView } from '../../view.ts'
import { inspectionRuleFields } from './fields.ts'

const stepsIn = (text: unknown): JsonDict[] => (text ? (JSON.parse(text as string) as JsonDict[]) : [])

const isLooped = ({ loop }: JsonDict): boolean =>
  typeof loop === 'object' && loop !== null && Object.keys(loop).length > 0

const actionText = ({ op, args, loop, ...rest }: JsonDict) => ({
  op,
  args,
  ...(isLooped({ ...rest, loop }) ? { loop } : {}),
})
const conditionText = (condition: JsonDict) => ({
  ...actionText(condition),
  ...(isLooped(condition) ? { multiple: condition['multiple'] ?? 'any' } : {}),
})

/** A sensitive rule may hold passwords: what it does is shown to nobody. */
const unlessSensitive = (column: string, shown: (step: JsonDict) => object) => (row: Row) =>
  row['sensitive'] ? 'null' : JSON.stringify(stepsIn(row[column]).map(shown))

export const inspectionRuleView = defineView({
  fields: inspectionRuleFields,
  // real Ironic links to this path, although nothing is there
  resource: 'inspection',
  extrasNamed: true,
  made: {
    conditions: unlessSensitive('conditions', conditionText),
    actions: unlessSensitive('actions', actionText),
  },
})
