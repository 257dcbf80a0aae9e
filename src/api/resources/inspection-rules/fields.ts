import { field } from '../../resource.ts'
import { List, nullable, StrictFlag, text, Time, Uuid } from '../../values.ts'
import { WholeNumber } from '../whole-number.ts'

/** What a rule shows and takes; what conditions and actions say is checked by the inspection itself. */
export const inspectionRuleFields = {
  uuid: field(nullable(Uuid), { on: ['create', 'update'], list: true }),
  priority: field(WholeNumber, { on: ['create', 'update'], list: true }),
  phase: field(nullable(text({ max: 16 })), { on: ['create', 'update'], list: true }),
  description: field(nullable(text({ max: 255 })), { on: ['create', 'update'], list: true }),
  created_at: field(Time),
  updated_at: field(Time),
  sensitive: field(nullable(StrictFlag), { on: ['create', 'update'] }),
  conditions: field(List, { on: ['create', 'update'] }),
  actions: field(List, { on: ['create', 'update'], mandatory: true }),
}
