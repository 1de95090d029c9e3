import { z } from 'zod'
import { answeredAttempt, call } from '../../src/domain/calls/call.ts'
import { booksChangedEvents, computeBooks } from '../../src/domain/calls/settlement.ts'
import { figureCents, figuresOf, sameFigures } from '../../src/domain/money/figures.ts'
import { ADJUSTMENT } from '../../src/domain/shared/limits.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Figures that an adjustment sets, and its reason (Supplement §6, `adjust`). */
export const adjustmentInput = z.object({
  converted: z.boolean().optional(),
  revenueCents: figureCents.optional(),
  payoutCents: figureCents.optional(),
  reason: z.string().trim().min(1).max(ADJUSTMENT.reason),
})

/** Corrects figures of a call that ended. A figure in the request keeps its value; the others still follow from the facts. */
export const adjustCall = defineCommand({
  name: 'adjust-call',
  entity: call,
  input: adjustmentInput.extend({ callId: id }),
  id: ({ callId }) => callId,
  rejects: ['call-not-found', 'bad-request', 'conflict', 'adjustment-limit'],
  decide({ callId, reason, ...sent }, state, { now, workspaceId, actor, commandId, newId }) {
    if (state?.workspaceId !== workspaceId) return refuseNotFound('call')
    const { arrival, ended, adjustedBy } = state
    if (adjustedBy.includes(commandId)) return []
    const named = Object.fromEntries(Object.entries(sent).filter(([, figure]) => figure !== undefined))
    if (Object.keys(named).length === 0) {
      return refuse('bad-request', null, 'Name at least one of converted, revenueCents and payoutCents.')
    }
    if (!ended) return refuse('conflict', { outcome: 'live' }, 'The call is still live.')
    if (sent.payoutCents !== undefined && !arrival.publisher) {
      return refuse('conflict', { publisher: null }, 'The call has no publisher, so it has no payout to correct.')
    }
    const corrections = { ...state.corrections, ...named }
    const before = computeBooks(state, ended.talkSeconds)
    const after = computeBooks(state, ended.talkSeconds, { corrections })
    if (sameFigures(before, after)) {
      return refuse('bad-request', figuresOf(before), 'The call has these figures already: nothing changes.')
    }
    if (after.converted && !answeredAttempt(state)) {
      return refuse('conflict', null, 'The call reached no buyer, so it cannot convert.')
    }
    if (adjustedBy.length >= ADJUSTMENT.max) return refuse('adjustment-limit', { limit: ADJUSTMENT.max })
    const facts = { callId, ref: arrival.ref, occurredAt: now, adjustmentId: newId(), reason, corrections }
    const source = actor.type === 'key' ? ('key' as const) : ('user' as const)
    return [
      { type: 'CallAdjusted', data: { ...facts, source, before: figuresOf(before), after: figuresOf(after) } },
      ...booksChangedEvents(state, callId, after, now, reason),
    ]
  },
})
