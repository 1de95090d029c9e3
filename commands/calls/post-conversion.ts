import { z } from 'zod'
import { answeredAttempt, call } from '../../src/domain/calls/call.ts'
import { booksChangedEvents, computeBooks } from '../../src/domain/calls/settlement.ts'
import { figureCents, figuresOf } from '../../src/domain/money/figures.ts'
import { CONVERSION } from '../../src/domain/shared/limits.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { addMs } from '../../src/kernel/instant.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

const HOUR_MS = 3_600_000

/** Input of a conversion (Supplement §6, `conversion`). */
export const conversionInput = z.object({
  converted: z.literal(true, { error: 'must be true: a correction (adjust) takes a conversion back' }),
  revenueCents: figureCents.optional(),
  note: z
    .string()
    .trim()
    .max(CONVERSION.note)
    .transform((note) => note || null)
    .nullish(),
  externalId: z.string().min(1).max(CONVERSION.externalId).nullish(),
})

/**
 * Converts a call: a key posts a buyer's postback, a person sets a mark. A call takes one postback, and one mark before it;
 * repeats are recognized by `externalId` (a postback's among postbacks only) and by command. A call that has not settled yet settles by the last one. A postback
 * without revenue or note keeps those of the mark.
 */
export const postConversion = defineCommand({
  name: 'post-conversion',
  entity: call,
  input: conversionInput.extend({ callId: id }),
  id: ({ callId }) => callId,
  rejects: ['call-not-found', 'conflict', 'already-converted', 'window-closed'],
  decide({ callId, revenueCents, note = null, externalId = null }, state, { now, workspaceId, actor, commandId }) {
    if (state?.workspaceId !== workspaceId) return refuseNotFound('call')
    const { arrival, ended, posts } = state
    if (!ended) return refuse('conflict', { outcome: 'live' }, 'The call is still live.')
    if (!answeredAttempt(state))
      return refuse('conflict', null, 'The call reached no buyer, so there is nothing to convert.')
    const source = actor.type === 'key' ? ('postback' as const) : ('manual' as const)
    // A mark with the same `externalId` is another statement: it must not swallow the revenue of the buyer's postback.
    const again = posts.some(
      (one) =>
        one.commandId === commandId ||
        (externalId !== null && one.externalId === externalId && (source === 'manual' || one.source === 'postback')),
    )
    if (again) return []
    const last = posts.at(-1)
    if (last && (last.source === 'postback' || source === 'manual')) {
      return refuse('already-converted', { conversionSource: last.source })
    }
    const closesAt = addMs(ended.at, CONVERSION.windowHours * HOUR_MS)
    if (now > closesAt) return refuse('window-closed', { closedAt: closesAt })
    const post = {
      source,
      revenueCents: revenueCents ?? last?.revenueCents ?? null,
      note: note ?? last?.note ?? null,
      externalId,
    }
    const before = computeBooks(state, ended.talkSeconds)
    const after = computeBooks(state, ended.talkSeconds, { posts: [...posts, { ...post, commandId }] })
    const facts = { callId, ref: arrival.ref, occurredAt: now, ...post }
    return [
      { type: 'ConversionPosted', data: { ...facts, before: figuresOf(before), after: figuresOf(after) } },
      ...booksChangedEvents(state, callId, after, now, source === 'manual' ? note : null),
    ]
  },
})
