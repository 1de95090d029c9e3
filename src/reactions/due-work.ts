import { endCall } from '../../commands/calls/end-call.ts'
import { settleCall } from '../../commands/calls/settle-call.ts'
import { chargeUsage } from '../../commands/money/charge-usage.ts'
import { advanceOrder, connectNumber, type NumberTools } from './number-orders.ts'
import { billNumber } from './renewals.ts'
import type { Causation } from './tools.ts'

/** A row of the `timers` projection. */
export interface DueJobRow {
  /** The call, order or number that it is about. */
  readonly subjectId: string
  /** Milliseconds since the epoch. */
  readonly dueAt: number
  readonly amountCents: number | null
}

type JobHandler = (tools: NumberTools, row: DueJobRow, cause: Causation) => Promise<unknown>

const instant = (ms: number) => new Date(ms).toISOString()

/** What is done when a timer falls due, by its kind. It is idempotent, and done again now and then while its row stands. */
export const SCHEDULED_JOBS: Readonly<Record<string, JobHandler>> = {
  settle: ({ run }, { subjectId: callId }, cause) => run(settleCall, { callId }, cause),
  usage: ({ run }, { subjectId: callId, amountCents, dueAt }, cause) =>
    run(chargeUsage, { callId, amountCents: amountCents ?? 0, at: instant(dueAt) }, cause),
  // Longer than any carrier keeps a call up: its end was lost, and the platform ends it.
  stuck: ({ run }, { subjectId: callId, dueAt }, cause) => {
    const end = { hungUpBy: 'platform', recorded: false, terminated: true, occurredAt: instant(dueAt) }
    return run(endCall, { callId, ...end }, cause)
  },
  order: (tools, { subjectId }, cause) => advanceOrder(tools, subjectId, cause),
  connect: (tools, { subjectId }, cause) => connectNumber(tools, subjectId, cause),
  renewal: (tools, { subjectId }, cause) => billNumber(tools, subjectId, cause),
}
