import { PREFIX } from './limits.ts'

/** Whether two names read the same: ignoring case, surrounding blanks, and how accents are composed. */
export function isSameName(one: string, other: string): boolean {
  return comparable(one) === comparable(other)
}

const comparable = (name: string) => name.trim().normalize('NFC').toLowerCase()

/**
 * A short code for a name, different from all `taken` ones: its first letters and digits in upper case, then a number
 * where those are taken.
 */
export function prefixFor(name: string, taken: ReadonlySet<string>): string {
  const letters = name.toUpperCase().replace(/[^A-Z0-9]/g, '')
  const stem = letters.slice(0, PREFIX.default).padEnd(PREFIX.min, 'X')
  if (!taken.has(stem)) return stem
  let n = 2
  while (taken.has(`${stem}${n}`)) n += 1
  return `${stem}${n}`
}
