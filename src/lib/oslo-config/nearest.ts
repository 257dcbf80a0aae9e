/** The candidate that differs least from a name; undefined when nothing is alike. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = folded(name)
  let best: string | undefined
  let least = Math.max(3, Math.ceil(wanted.length / 2))
  for (const candidate of candidates) {
    const distance = editDistance(wanted, folded(candidate), least)
    if (distance < least) {
      best = candidate
      least = distance
    }
  }
  return best
}

const folded = (name: string) => name.toLowerCase().replaceAll('-', '_')

/** How many letters must be changed, added, left out or swapped with their neighbour; given up once it reaches the limit. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + change)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) least = Math.min(least, before[j - 2]! + 1)
      next.push(least)
    }
    if (Math.min(...next) >= limit) return limit
    before = row
    row = next
  }
  return row[b.length]!
}
