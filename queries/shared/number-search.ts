import { contains, type Filter } from '../../src/ports/read-store.ts'

/** The digits of a text that is written as numbers are; none of one that holds anything else, such as a name with a 7 in it. */
export function digitsIn(text: string): string {
  return /^[\d\s().+/-]*$/.test(text) ? text.replace(/\D/g, '') : ''
}

/** Documents with a number and a label: digits match the number, text matches the label; all of them without a text. */
export function numberFilter(text: string | undefined): Filter {
  if (!text) return {}
  const digits = digitsIn(text)
  return { $or: [{ label: contains(text) }, ...(digits ? [{ e164: contains(digits) }] : [])] }
}
