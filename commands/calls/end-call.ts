import { z } from 'zod'
import { USAGE_DELAY_SECONDS, usageFor } from '../../src/domain/calls/books.ts'
import { answeredAttempt, type CallState, call, ringingAttempt, secondsBetween } from '../../src/domain/calls/call.ts'
import { abandonedSentence, endedSentence } from '../../src/domain/calls/call-sentences.ts'
import { settlementEvent } from '../../src/domain/calls/settlement.ts'
import type { CallStatus } from '../../src/domain/shared/call-codes.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { addMs } from '../../src/kernel/instant.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const input = z.object({
  callId: id,
  hungUpBy: z.enum(['caller', 'agent', 'platform', 'unknown']),
  recorded: z.boolean(),
  /** The platform ended a stuck call. */
  terminated: z.boolean().default(false),
  occurredAt: instant,
})

/** The status that a call ends with (Supplement §6, Ends). */
function statusAtEnd(state: CallState, terminated: boolean): CallStatus {
  if (terminated) return 'terminated'
  if (answeredAttempt(state)) return 'completed'
  if (state.unrouted?.action === 'forward') return 'rejected'
  if (state.unrouted?.reason !== 'all_targets_failed') return state.unrouted ? 'rejected' : 'abandoned'
  const last = state.attempts.at(-1)?.outcome
  return last === 'no_answer' || last === 'busy' || last === 'rejected' || last === 'failed' ? last : 'failed'
}

const addSeconds = (instant: string, seconds: number) => addMs(instant, seconds * 1_000)

/** `TargetFailed` for the dial that was ringing when the call ended. */
function abandonedEvents(state: CallState, { callId, hungUpBy, occurredAt }: z.infer<typeof input>) {
  const dial = ringingAttempt(state)
  if (!dial) return []
  const { attempt, target, buyer, occurredAt: dialedAt } = dial.claim
  const rangSeconds = secondsBetween(dialedAt, occurredAt)
  return [
    {
      type: 'TargetFailed' as const,
      data: {
        callId,
        occurredAt,
        attempt,
        target,
        buyer,
        outcome: 'abandoned' as const,
        sipCode: null,
        retryAfterSeconds: null,
        rangSeconds,
        whisperAccepted: null,
        sentence: abandonedSentence(hungUpBy, target.name, rangSeconds),
      },
    },
  ]
}

/**
 * Ends a call, as the carrier or the platform reports. A call without a buffer, or that did not connect, settles at once.
 * Idempotent by call.
 */
export const endCall = defineCommand({
  name: 'end-call',
  entity: call,
  input,
  id: ({ callId }) => callId,
  rejects: ['call-not-found'],
  decide(end, state) {
    const { callId, hungUpBy, recorded, terminated, occurredAt } = end
    if (!state) return refuseNotFound('call')
    if (state.ended) return []
    const { arrival, terms, unrouted } = state
    const dial = answeredAttempt(state)
    const gaveUp = abandonedEvents(state, end)
    const last = (dial ?? state.attempts.at(-1))?.claim
    const talkSeconds = state.answeredAt ? secondsBetween(state.answeredAt, occurredAt) : 0
    const rang = [
      ...state.attempts.map(({ rangSeconds }) => rangSeconds),
      ...gaveUp.map(({ data }) => data.rangSeconds),
    ]
    const status = statusAtEnd(state, terminated)
    const connected = dial !== null
    const bufferSeconds = connected ? terms.bufferSeconds : 0
    const campaignId = arrival.campaign?.id ?? null
    const publisherId = arrival.publisher?.id ?? null
    const owed = usageFor(talkSeconds, terms.usageRateCents)
    const ended = {
      type: 'CallEnded' as const,
      data: {
        callId,
        carrierCallId: arrival.carrierCallId,
        occurredAt,
        arrivedAt: arrival.occurredAt,
        status,
        outcome: connected ? ('connected' as const) : unrouted ? ('unrouted' as const) : ('missed' as const),
        hungUpBy,
        connected,
        recorded: recorded && connected,
        talkSeconds,
        ringSeconds: rang.reduce((sum, seconds) => sum + seconds, 0),
        campaignId,
        publisherId,
        target: last?.target ?? null,
        buyer: connected || !unrouted ? (last?.buyer ?? null) : null,
        sentence: endedSentence(hungUpBy, talkSeconds, connected),
        settlesAt: addSeconds(occurredAt, bufferSeconds),
        usageCents: owed,
        usageDueAt: connected && owed > 0 ? addSeconds(occurredAt, USAGE_DELAY_SECONDS) : null,
      },
    }
    return [...gaveUp, ended, ...(bufferSeconds === 0 ? [settlementEvent(state, callId, talkSeconds, occurredAt)] : [])]
  },
})
