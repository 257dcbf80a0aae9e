import { field, type FieldTable } from '../../resource.ts'
import { Dict, listOf, nullable, refuse, StrictFlag, text, Time, Uuid, type Value } from '../../values.ts'
import { isLogicalName } from '../../../lib/text/names.ts'
import { TraitName } from '../deploy-templates/fields.ts'
import { RunbookSteps } from '../steps.ts'

const LogicalName: Value<string> = {
  stored: 'text',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[A-Za-z0-9\\-._~]+$' },
  read: (name, value) =>
    isLogicalName(value) ? value : refuse(name, 'a name of letters, digits, -, ., _ and ~', value),
}

/** What a runbook shows and takes. */
export const runbookFields = {
  uuid: field(nullable(Uuid), { on: ['create'], list: true }),
  name: field(LogicalName, { on: ['create', 'update'], mandatory: true, list: true }),
  created_at: field(Time),
  updated_at: field(Time),
  steps: field(RunbookSteps, { on: ['create', 'update'], mandatory: true }),
  disable_ramdisk: field(nullable(StrictFlag), { on: ['create', 'update'] }),
  extra: field(nullable(Dict), { on: ['create', 'update'] }),
  public: field(nullable(StrictFlag), { on: ['create', 'update'] }),
  owner: field(nullable(text({ max: 255 })), { on: ['create', 'update'] }),
  description: field(nullable(text({ max: 255 })), { since: 112, on: ['create', 'update'] }),
  traits: field(listOf(TraitName), { since: 112 }),
} satisfies FieldTable

/** Before it had traits of its own, a runbook was found by its name, which had to be a trait. */
const { description: _since112, ...older } = runbookFields
const olderFields: FieldTable = { ...older, name: field(TraitName, { on: ['create', 'update'], mandatory: true }) }

export const runbookFieldsIn = (minor: number): FieldTable => (minor >= 112 ? runbookFields : olderFields)
