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
/** A number, however it is punctuated. The bounds keep its evaluation linear. */
const NUMBER = /(?:\+|%2B)?\(?\d(?:[\s().-]{0,3}\d){6,16}/gi

/** A field and its value, in JSON or a form. A name without a quote begins where a word does, so that the evaluation is linear. */
const FIELD = /(?:(["'])|(?<![\w.-]))([\w.-]+)(\1\s{0,4}[=:]\s{0,4})("(?:[^"\\]|\\.){0,4096}"|[^&,}\s"]+)/g
/** Names of fields whose values are credentials. */
const CREDENTIAL = /authorization|passw|secret|token|api[_-]?key|signature|routing[_-]?key|credential/i
const HIDDEN = '•••'

/** A text without secrets as the platform issues them, and without the values of fields that are called as credentials are. */
function withoutCredentials(text: string): string {
  const fields = text.replace(FIELD, (all, quote = '', name: string, between: string, value: string) => {
    if (!CREDENTIAL.test(name)) return all
    return `${quote}${name}${between}${value.startsWith('"') ? `"${HIDDEN}"` : HIDDEN}`
  })
  return redactSecrets(fields)
}

/**
 * Creates the mask of stored texts: credentials become `•••`, and the caller's number, however it is spelt, its last four
 * digits unless the campaign discloses it.
 */
export function createTextMask({ caller, isDisclosed }: ShownCaller): (text: string) => string {
  if (caller === null || isDisclosed) return withoutCredentials
  const national = caller.replace(/\D/g, '').slice(-NATIONAL_DIGITS)
  const masked = maskDestination(caller)
  const hide = (spelt: string) => (spelt.replace(/\D/g, '').includes(national) ? masked : spelt)
  return (text) => withoutCredentials(text).replace(NUMBER, hide)
}
