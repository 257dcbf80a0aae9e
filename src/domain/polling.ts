/**
 * Pauses between looks at something that is most often ready soon: after a sixth of the interval, after half of it, after the
 * whole, then once every interval. That is hardly more looks than at a fixed interval from the start, and a short wait ends soon.
 * @param interval milliseconds
 * @param count how many intervals there are in all
 */
export function* pauses(interval: number, count: number): Generator<number> {
  if (count < 1) return
  let before = 0
  for (const at of [interval / 6, interval / 2, interval]) {
    yield at - before
    before = at
  }
  for (let index = 1; index < count; index++) yield interval
}
