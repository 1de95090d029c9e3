import { redactSecrets } from '../../kernel/redact-secrets.ts'
import { maskDestination } from '../shared/format.ts'

/** How much of a caller may be shown. */
export interface ShownCaller {
  /** E.164; null where it is hidden or unknown. */
  readonly caller: string | null
  readonly isDisclosed: boolean
}

/** A caller's number as the ledger shows it: only the last four digits, unless the campaign discloses its callers. */
export function shownNumber({ caller, isDisclosed }: ShownCaller): string | null {
  return caller === null || isDisclosed ? caller : maskDestination(caller)
}

/** Digits of a number that are compared: those of North America have ten without their country code. */
const NATIONAL_DIGITS = 10

/** Matches a number however it is punctuated, with or without its country code. */
function patternOf(caller: string): RegExp {
  const digits = caller.replace(/\D/g, '')
  const [code, national] = [digits.slice(0, -NATIONAL_DIGITS), digits.slice(-NATIONAL_DIGITS)]
  const spelt = (text: string) => [...text].join(String.raw`[\s().-]{0,3}`)
  const before = code === '' ? '' : String.raw`(?:${spelt(code)}[\s().-]{0,3})?`
  return new RegExp(String.raw`(?:\+|%2B)?\(?${before}${spelt(national)}`, 'gi')
}

/**
 * Creates the mask of stored texts: credentials become `•••`, and the caller's number, however it is spelt, its last four
 * digits unless the campaign discloses it.
 */
export function createTextMask({ caller, isDisclosed }: ShownCaller): (text: string) => string {
  if (caller === null || isDisclosed) return redactSecrets
  const pattern = patternOf(caller)
  const masked = maskDestination(caller)
  return (text) => redactSecrets(text).replace(pattern, masked)
}
