import { contains, type Filter } from '../../src/ports/read-store.ts'
import { digitsOf } from './digits.ts'

/** Documents whose `label` contains the text, or whose `e164` contains its digits; all documents without a text. */
export function numberFilter(text: string | undefined): Filter {
  if (!text) return {}
  const digits = digitsOf(text)
  return { $or: [{ label: contains(text) }, ...(digits ? [{ e164: contains(digits) }] : [])] }
}
