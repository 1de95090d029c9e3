import { contains, type Filter } from '../src/ports/read-store.ts'

/** Documents with a number and a label: digits match the number, text matches the label; all of them without a text. */
export function searchingNumbers(text: string | undefined): Filter {
  if (!text) return {}
  const digits = text.replace(/\D/g, '')
  return { $or: [{ label: contains(text) }, ...(digits ? [{ e164: contains(digits) }] : [])] }
}
