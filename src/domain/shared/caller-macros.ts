import { areaCodeOf } from './nanp.ts'

/** A caller as macros tell of it; each field is null when it is not known. */
export interface MacroCaller {
  readonly e164: string | null
  /** The workspace's hash of the number (Supplement §8, `caller.hash`). */
  readonly hash: string | null
}

/** The digits of a text, full-width ones too. */
const digitsOf = (text: string) => text.normalize('NFKC').replace(/\D/g, '')
/** Digits of a number without its country code, in the form in which tags may contain it. */
const nanpOf = (e164: string) => digitsOf(e164).slice(-10)

/** Replaces a text that contains the caller's ten digits by the caller's hash. */
export function createCallerMask({ e164, hash }: MacroCaller): (text: string) => string {
  const nanp = e164 === null ? '' : nanpOf(e164)
  return (text) => (nanp.length === 10 && digitsOf(text).includes(nanp) ? (hash ?? '') : text)
}

/** Values of the macros that are made of a caller's number: the number itself only where it is shown, or else its hash. */
export function callerMacros({ e164, hash }: MacroCaller, shown: boolean): Readonly<Record<string, string | null>> {
  if (e164 === null) return {}
  const real = { e164, digits: digitsOf(e164), nanp: nanpOf(e164), suffix: e164.slice(-4) }
  const each = Object.entries(real).map(([name, value]) => [`caller.${name}`, shown ? value : hash])
  return { ...Object.fromEntries(each), 'caller.hash': hash, 'caller.area': areaCodeOf(e164) }
}
