import { isTrait } from '../../../domain/traits.ts'
import { field } from '../../resource.ts'
import { checked, Dict, nullable, refuse, text, Time, Uuid } from '../../values.ts'
import { DeploySteps } from '../steps.ts'

/** A template is chosen by a trait of the instance, so it bears the name of one. */
export const TraitName = checked(text({ min: 1, max: 255 }), (name, parameter) =>
  isTrait(name) ? name : refuse(parameter, 'a standard trait, or CUSTOM_ with capitals, digits and _', name),
)

export const deployTemplateFields = {
  uuid: field(nullable(Uuid), { on: ['create'], list: true }),
  name: field(TraitName, { on: ['create', 'update'], mandatory: true, list: true }),
  created_at: field(Time),
  updated_at: field(Time),
  steps: field(DeploySteps, { on: ['create', 'update'], mandatory: true }),
  extra: field(nullable(Dict), { on: ['create', 'update'] }),
  // real Ironic takes it and keeps it nowhere
  description: field(nullable(text({ max: 255 })), { on: ['create', 'update'], shown: false }),
}
