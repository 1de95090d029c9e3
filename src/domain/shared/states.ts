import { z } from 'zod'
import { excerpt } from '../../kernel/excerpt.ts'
import { STATES } from './limits.ts'

/**
 * State codes; an empty list accepts every state (Document 1, shared convention 9). `statesProblem` checks each code,
 * because records differ in the refusal.
 */
export const states = z.array(z.string()).max(STATES.max).readonly()

const CODE = /^[A-Za-z]{2}$/

/**
 * The codes in upper case, each once, in the order sent. Texts that are no code stay as sent: upper case would turn ß
 * into two letters.
 */
export function normalizeStates(codes: readonly string[]): readonly string[] {
  return [...new Set(codes.map((code) => (CODE.test(code) ? code.toUpperCase() : code)))]
}

/** What is wrong with a list of state codes, as a sentence; null when all are valid. */
export function statesProblem(codes: readonly string[]): string | null {
  const wrong = codes.find((code) => !CODE.test(code))
  return wrong === undefined ? null : `"${excerpt(wrong)}" is not a two-letter state code, for example CA.`
}
