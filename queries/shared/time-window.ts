import { type Refusal, refuse } from '../../src/kernel/refusal.ts'
import { queryInstant } from '../../src/kernel/wire.ts'
import type { Filter } from '../../src/ports/read-store.ts'

/** The time window of a list, to be spread into its query: from `from`, before `to`. */
export const timeWindowFields = { from: queryInstant.optional(), to: queryInstant.optional() }

interface TimeWindow {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** The documents whose `at` is in the window. */
export function timeWindowFilter({ from, to }: TimeWindow): Filter {
  const at = { ...(from === undefined ? {} : { $gte: from }), ...(to === undefined ? {} : { $lt: to }) }
  return Object.keys(at).length === 0 ? {} : { at }
}

/** Refuses a window that ends before it begins; null for any other. */
export function timeWindowProblem({ from, to }: TimeWindow): Refusal<'validation-error'> | null {
  return from !== undefined && to !== undefined && from > to
    ? refuse('validation-error', { from: 'must not be after to' })
    : null
}
