import { endCall } from '../../commands/calls/end-call.ts'
import { settleCall } from '../../commands/calls/settle-call.ts'
import { chargeUsage } from '../../commands/money/charge-usage.ts'
import { instantText } from '../kernel/instant.ts'
import { JOB_SLOTS, type JobHandlers } from './scheduled-jobs.ts'

/** Handlers of the jobs that calls schedule (`projections/calls/call-jobs.ts`). */
export const callJobHandlers: JobHandlers = {
  settle: {
    slots: JOB_SLOTS.settle,
    run: ({ run }, { subjectId: callId }, cause) => run(settleCall, { callId }, cause),
  },
  usage: {
    slots: JOB_SLOTS.usage,
    run: ({ run }, { subjectId: callId, amountCents, dueAt }, cause) =>
      run(chargeUsage, { callId, amountCents: amountCents ?? 0, at: instantText(dueAt) }, cause),
  },
  // No carrier keeps a call this long, so its end notice was lost: the platform ends the call.
  stuck: {
    slots: JOB_SLOTS.stuck,
    run({ run }, { subjectId: callId, dueAt }, cause) {
      const end = { hungUpBy: 'platform', recorded: false, terminated: true, occurredAt: instantText(dueAt) }
      return run(endCall, { callId, ...end }, cause)
    },
  },
}
