import { readBoolean } from '../lib/text/booleans.ts'

/** True or false for a word that is one of the two (oslo.utils' words); undefined for anything else. */
export const booleanFrom = readBoolean

/** The same, where anything that is not a clear word means `otherwise`. */
export const booleanOr = (value: unknown, otherwise = false): boolean => readBoolean(value) ?? otherwise
