const UNITS: readonly (readonly [number, string])[] = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
]

/** Seconds in words, in the largest unit that divides them: `2 hours`, `90 seconds`. */
export function formatDuration(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds >= size && seconds % size === 0) ?? [1, 'second']
  return pluralize(seconds / size, unit)
}

/** A count and its noun: `1 call`, `2 calls`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** A number or sip address with all but the trailing digits of who is called hidden: `•••4821`, `sip:•••4821`, `sip:•••`. */
export function maskDestination(destination: string): string {
  const [, scheme = '', called = ''] = /^(sips?:)?([^@;?]*)/i.exec(destination) ?? []
  return `${scheme}•••${/\d{0,4}$/.exec(called)?.[0]}`
}
