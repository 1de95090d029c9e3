const UNITS: readonly (readonly [number, string])[] = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
]

/** A duration in words, in the largest unit that divides it: `2 hours`, `90 seconds`. */
export function formatDuration(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds >= size && seconds % size === 0) ?? [1, 'second']
  return pluralize(seconds / size, unit)
}

/** A count and its noun: `1 call`, `2 calls`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** A phone number or SIP address with only the last four digits of its user part: `•••4821`, `sip:•••4821`, `sip:•••`. */
export function maskDestination(destination: string): string {
  const [, scheme = '', called = ''] = /^(sips?:)?([^@;?]*)/i.exec(destination) ?? []
  return `${scheme}•••${/\d{0,4}$/.exec(called)?.[0]}`
}

/** Cents as dollars: `$12.50`. */
export function formatDollars(cents: number): string {
  return `${cents < 0 ? '-' : ''}$${(Math.abs(cents) / 100).toFixed(2)}`
}
