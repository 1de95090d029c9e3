import { z } from 'zod'
import { callEvents } from '../src/domain/call.ts'
import { STUCK_CALL_SECONDS } from '../src/domain/limits.ts'
import { defineProjection } from '../src/kernel/projection.ts'
import { cents, id } from '../src/kernel/wire.ts'

const { CallArrived, CallEnded, CallSettled, UsageCharged } = callEvents

const kinds = z.enum(['settle', 'usage', 'stuck'])
const timerId = (kind: z.infer<typeof kinds>, callId: string) => `${kind}:${callId}`

const doc = z.object({
  workspaceId: id,
  kind: kinds,
  /** Milliseconds since the epoch. */
  dueAt: z.int(),
  callId: id,
  /** What falls due, of `usage` alone. */
  amountCents: cents.nullable(),
})
type Doc = z.infer<typeof doc>

/** What a call's end leaves to be done, with the instants at which it is due. */
function leftBy({ callId, occurredAt, settlesAt, usageDueAt, usageCents }: z.infer<typeof CallEnded>) {
  return [
    ...(settlesAt > occurredAt ? [{ kind: 'settle' as const, at: settlesAt, callId, amountCents: null }] : []),
    ...(usageDueAt ? [{ kind: 'usage' as const, at: usageDueAt, callId, amountCents: usageCents }] : []),
  ]
}

/** Work that falls due, by kind and call: settlement, usage, and calls whose end was never told. Rows go when it is done. */
export const timers = defineProjection({
  name: 'timers',
  version: 1,
  events: { CallArrived, CallEnded, CallSettled, UsageCharged },
  doc,
  indexes: [{ dueAt: 1 }],
  key({ type, data }) {
    if (type === 'CallArrived') return timerId('stuck', data.arrival.callId)
    if (type === 'CallSettled') return timerId('settle', data.callId)
    if (type === 'UsageCharged') return timerId('usage', data.callId)
    return [timerId('stuck', data.callId), ...leftBy(data).map(({ kind, callId }) => timerId(kind, callId))]
  },
  starts: {
    CallArrived({ data: { arrival }, meta }): Doc | null {
      const { callId, occurredAt } = arrival
      // A call dated in the past is played now: it is no more stuck than one that arrives now.
      const dueAt = Math.max(Date.parse(occurredAt), Date.parse(meta.at)) + STUCK_CALL_SECONDS * 1_000
      return meta.workspaceId === null
        ? null
        : { workspaceId: meta.workspaceId, kind: 'stuck', dueAt, callId, amountCents: null }
    },
    CallEnded({ data, meta }, id) {
      const left = leftBy(data).find(({ kind, callId }) => timerId(kind, callId) === id)
      if (!left || meta.workspaceId === null) return null
      const { kind, at, callId, amountCents } = left
      return { workspaceId: meta.workspaceId, kind, dueAt: Date.parse(at), callId, amountCents }
    },
  },
  on: {
    CallEnded: (doc) => (doc.kind === 'stuck' ? null : doc),
    CallSettled: () => null,
    UsageCharged: () => null,
  },
})
