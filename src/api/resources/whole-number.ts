import { refuse, type Value } from '../values.ts'

/** What the columns hold. */
const largest = 2 ** 31 - 1

/** A number without a fraction; unlike `Integer`, nothing else is made into one. */
export const WholeNumber: Value<number> = {
  stored: 'int',
  schema: { type: 'integer' },
  read: (name, value) =>
    typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= largest
      ? value
      : refuse(name, 'a whole number', value),
}
