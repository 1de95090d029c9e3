import { z } from 'zod'
import { STATES } from './limits.ts'
import { excerpt } from './problems.ts'

/** Two-letter state codes; none accepts every state. Whether each is one is a rule, since records differ in the refusal. */
export const states = z.array(z.string()).max(STATES.max).readonly()

const CODE = /^[A-Za-z]{2}$/

/** Upper case, each code once, in the order sent. What is no code stays as it was sent: upper case alone makes two letters of ß. */
export function normalizeStates(codes: readonly string[]): readonly string[] {
  return [...new Set(codes.map((code) => (CODE.test(code) ? code.toUpperCase() : code)))]
}

/** What is wrong with a list of codes, as a sentence; null when nothing is. */
export function statesProblem(codes: readonly string[]): string | null {
  const wrong = codes.find((code) => !CODE.test(code))
  return wrong === undefined ? null : `${excerpt(wrong)} is not a two-letter state code.`
}
