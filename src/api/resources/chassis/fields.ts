import { field } from '../../resource.ts'
import { Dict, nullable, text, Time, Uuid } from '../../values.ts'

/** What a chassis shows and takes. */
export const chassisFields = {
  uuid: field(nullable(Uuid), { on: ['create'], list: true }),
  created_at: field(Time),
  updated_at: field(Time),
  description: field(nullable(text({ max: 255 })), { on: ['create', 'update'], list: true }),
  extra: field(nullable(Dict), { on: ['create', 'update'] }),
}
