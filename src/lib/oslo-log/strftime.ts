const two = (value: number) => String(value).padStart(2, '0')
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

/** `+0100` */
function offset(time: Date): string {
  const minutes = -time.getTimezoneOffset()
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}${two(size % 60)}`
}

function dayOfYear(time: Date): number {
  return Math.round(
    (Date.UTC(time.getFullYear(), time.getMonth(), time.getDate()) - Date.UTC(time.getFullYear(), 0, 0)) / 86_400_000,
  )
}

const fields: Readonly<Record<string, (time: Date) => string>> = {
  Y: (time) => String(time.getFullYear()),
  y: (time) => two(time.getFullYear() % 100),
  m: (time) => two(time.getMonth() + 1),
  d: (time) => two(time.getDate()),
  e: (time) => String(time.getDate()).padStart(2, ' '),
  H: (time) => two(time.getHours()),
  I: (time) => two(time.getHours() % 12 === 0 ? 12 : time.getHours() % 12),
  M: (time) => two(time.getMinutes()),
  S: (time) => two(time.getSeconds()),
  p: (time) => (time.getHours() < 12 ? 'AM' : 'PM'),
  j: (time) => String(dayOfYear(time)).padStart(3, '0'),
  a: (time) => days[time.getDay()]!.slice(0, 3),
  A: (time) => days[time.getDay()]!,
  b: (time) => months[time.getMonth()]!.slice(0, 3),
  B: (time) => months[time.getMonth()]!,
  z: offset,
  s: (time) => String(Math.floor(time.getTime() / 1000)),
  F: (time) => `${fields['Y']!(time)}-${fields['m']!(time)}-${fields['d']!(time)}`,
  T: (time) => `${fields['H']!(time)}:${fields['M']!(time)}:${fields['S']!(time)}`,
  '%': () => '%',
}

/** C's `strftime` in local time, for the fields that date formats of logs use; an unknown field stays as it is. */
export const strftime = (format: string, time: Date): string =>
  format.replace(/%([A-Za-z%])/g, (whole, field: string) => fields[field]?.(time) ?? whole)
