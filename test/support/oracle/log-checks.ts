import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { KEYED_CHECKS } from '../../../src/verify/checks.ts'
import { runCheck } from '../fixtures/run-check.ts'

/** What the checks of `npm run verify` find in the events of a workspace: nothing, after any run. */
export function logCheckViolations(events: readonly RecordedEvent[], now: number): readonly string[] {
  return KEYED_CHECKS.flatMap((check) => runCheck(check, events, new Date(now).toISOString()))
}
