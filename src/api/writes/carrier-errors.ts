import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { CarrierRefused, CarrierUnavailable } from '../../ports/carrier-numbers.ts'

/** The carrier's answer, or its own sentence when it refuses or is unavailable. */
export async function orUpstreamError<Result>(
  call: () => Promise<Result>,
): Promise<Result | Refusal<'upstream-error'>> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof CarrierRefused || error instanceof CarrierUnavailable)
      return refuse('upstream-error', null, error.message)
    throw error
  }
}
