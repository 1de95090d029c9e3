import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { figures, figuresOf } from '../../src/domain/money/figures.ts'
import { withCapNotifications } from '../../src/domain/routing/cap-notifications.ts'
import { NOT_COUNTED } from '../../src/domain/routing/counted-call.ts'
import { countedCallLookups, countedCallMemory } from '../../src/domain/routing/counted-call-memory.ts'
import { claim, laneKeyOf } from '../../src/domain/routing/decision.ts'
import { callCountedEvents } from '../../src/domain/routing/event-builders.ts'
import { ledger } from '../../src/domain/routing/ledger.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { getEntry } from '../../src/kernel/windowed-map.ts'
import { id, instant } from '../../src/kernel/wire.ts'

/**
 * Counts a change of a settled call's books: revenue, payout and, where conversions count, its slot, in the windows in
 * which the call counts. Idempotent by call and number of the change: a repeated or outdated change counts nothing.
 */
export const recountCall = defineCommand({
  name: 'recount-call',
  entity: ledger,
  input: z.object({
    callId: id,
    /** Number of the change of the call's books, from 1. */
    change: z.int().min(1),
    settledAt: instant,
    campaignId: id.nullable(),
    publisherId: id.nullable(),
    laneKeyId: id.optional(),
    /** The claim that connected; null when none did. */
    claim: claim.pick({ target: true, buyer: true, capCountsOn: true, occurredAt: true }).nullable(),
    ...figures.shape,
  }),
  reads: { workspace },
  lookups: ({ callId }, state) => (state.calls.has(callId) ? [] : countedCallLookups(state, callId)),
  decide(
    { callId, change, settledAt: occurredAt, campaignId, publisherId, laneKeyId, claim, ...books },
    state,
    { reads, lookUp },
  ) {
    const after = figuresOf(books)
    const targetId = claim?.target.id ?? null
    const buyerId = claim?.buyer.id ?? null
    const capCountsOn = claim?.capCountsOn ?? null
    const lane = { publisherId, ...laneKeyOf({ laneKeyId }) }
    const whose = { campaignId, ...lane, targetId, buyerId, capCountsOn, claimedAt: claim?.occurredAt ?? null }
    const open = claim ? state.calls.get(callId) : undefined
    // The settlement is not counted yet: count it with the present figures.
    const first = open ? callCountedEvents(open, { callId, occurredAt, ...whose, ...after }) : []
    const known = getEntry(state.countedCalls, callId) ?? lookUp(countedCallMemory, callId) ?? NOT_COUNTED
    const before = first.length > 0 ? { ...NOT_COUNTED, ...after, resetSince: open?.resetSince ?? false } : known
    if (before.change >= change) return []
    const wasReset = (state.resets.get(targetId ?? '') ?? -1) > (before.revision ?? Number.POSITIVE_INFINITY)
    const data = {
      callId,
      occurredAt,
      change,
      ...whose,
      before: figuresOf(before),
      after,
      revision: before.revision,
      resetSince: before.resetSince || wasReset,
    }
    return withCapNotifications(state, [...first, { type: 'CallRecounted' as const, data }], reads.workspace)
  },
})
