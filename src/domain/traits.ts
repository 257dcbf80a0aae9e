import { standardTraits } from './standard-traits.ts'

const standard: ReadonlySet<string> = new Set(standardTraits)

/** A trait: one of the standard ones, or `CUSTOM_` with capitals, digits and underscores; 255 characters at most. */
export const isTrait = (name: unknown): name is string =>
  typeof name === 'string' && name.length <= 255 && (/^CUSTOM_[A-Z0-9_]+$/.test(name) || standard.has(name))
