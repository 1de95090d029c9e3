import { z } from 'zod'
import { STATES_MAX } from './limits.ts'

/** Two-letter state codes; none accepts every state. */
export const states = z.array(z.string().max(8)).max(STATES_MAX).readonly()

/** Upper case, each code once, in the order sent. */
export function normalStates(codes: readonly string[]): readonly string[] {
  return [...new Set(codes.map((code) => code.toUpperCase()))]
}

/** What is wrong with a list of codes, as a sentence; null when nothing is. */
export function statesProblem(codes: readonly string[]): string | null {
  const wrong = codes.find((code) => !/^[A-Za-z]{2}$/.test(code))
  return wrong === undefined ? null : `${wrong} is not a two-letter state code.`
}
