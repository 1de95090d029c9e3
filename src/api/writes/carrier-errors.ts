import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { CarrierRefused, CarrierUnavailable } from '../../ports/carrier-numbers.ts'

/** What the carrier answers, or its own sentence where it refuses or is away. */
export async function orUpstreamError<Result>(
  asked: () => Promise<Result>,
): Promise<Result | Refusal<'upstream-error'>> {
  try {
    return await asked()
  } catch (error) {
    if (error instanceof CarrierRefused || error instanceof CarrierUnavailable)
      return refuse('upstream-error', null, error.message)
    throw error
  }
}
