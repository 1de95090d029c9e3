import type { z } from 'zod'
import { callEvents } from '../../src/domain/calls/call.ts'
import { CALL } from '../../src/domain/shared/limits.ts'
import { matchEvent } from '../../src/kernel/event.ts'
import { defineJobs, timerId } from '../shared/timers.ts'

const { CallArrived, CallEnded, CallSettled, UsageCharged } = callEvents
const events = { CallArrived, CallEnded, CallSettled, UsageCharged }

/** Jobs that the end of a call schedules, with the instants at which they fall due. */
function jobsAfterEnd({ callId, occurredAt, settlesAt, usageDueAt, usageCents }: z.infer<typeof CallEnded>) {
  return [
    ...(settlesAt > occurredAt ? [{ kind: 'settle', at: settlesAt, callId, amountCents: null }] : []),
    ...(usageDueAt ? [{ kind: 'usage', at: usageDueAt, callId, amountCents: usageCents }] : []),
  ]
}

/** Settlement, usage, and calls whose end the carrier never reported. */
export const callJobs = defineJobs({
  events,
  key: matchEvent<typeof events, string | readonly string[]>({
    CallArrived: ({ data }) => timerId('stuck', data.arrival.callId),
    CallEnded: ({ data }) => [
      timerId('stuck', data.callId),
      ...jobsAfterEnd(data).map(({ kind, callId }) => timerId(kind, callId)),
    ],
    CallSettled: ({ data }) => timerId('settle', data.callId),
    UsageCharged: ({ data }) => timerId('usage', data.callId),
  }),
  create: {
    CallArrived({ data: { arrival }, meta }) {
      const { callId, occurredAt } = arrival
      // A call dated in the past is played now: it is no more stuck than one that arrives now.
      const dueAt = Math.max(Date.parse(occurredAt), Date.parse(meta.at)) + CALL.stuckSeconds * 1_000
      return meta.workspaceId === null
        ? null
        : { workspaceId: meta.workspaceId, kind: 'stuck', dueAt, subjectId: callId, amountCents: null }
    },
    CallEnded({ data, meta }, id) {
      const job = jobsAfterEnd(data).find(({ kind, callId }) => timerId(kind, callId) === id)
      if (!job || meta.workspaceId === null) return null
      const { kind, at, callId, amountCents } = job
      return { workspaceId: meta.workspaceId, kind, dueAt: Date.parse(at), subjectId: callId, amountCents }
    },
  },
  update: {
    CallEnded: (doc) => (doc.kind === 'stuck' ? null : doc),
    CallSettled: () => null,
    UsageCharged: () => null,
  },
})
