import type { Clock } from '../../domain/clock.ts'
import { InvalidParameterValue } from '../../errors/base.ts'

/** `3` or `3,10`: seconds, or the least and the most of them. */
export function parseDelay(text: string): readonly [number, number] {
  if (text.trim() === '') return [0, 0]
  const [least, most = least] = text.split(',').map(Number)
  if (!Number.isInteger(least) || !Number.isInteger(most)) {
    throw new InvalidParameterValue(
      `"${text}" is no delay of a fake interface: give seconds, or two numbers with a comma.`,
    )
  }
  return [least!, most!]
}

/** Waits as the option says; a range has a triangular distribution whose peak is its first number. */
export async function delay(clock: Clock, text: string, signal?: AbortSignal): Promise<void> {
  const [least, most] = parseDelay(text)
  if (least === 0 && most === 0) return
  const seconds = least === most ? least : most - (most - least) * Math.sqrt(1 - Math.random())
  await clock.sleep(seconds * 1000, signal)
}
