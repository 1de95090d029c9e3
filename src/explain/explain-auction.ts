import { holdAuction } from '../../commands/auctions/hold-auction.ts'
import { pingStory } from '../../projections/auctions/ping-story.ts'
import { auction, auctionEvents } from '../domain/auctions/auction.ts'
import { decidedAt } from '../domain/auctions/ping-answer.ts'
import { traceOf } from '../domain/auctions/ping-trace.ts'
import { bidsField } from '../domain/routing/bids.ts'
import { possibleStreamsOf } from '../kernel/entity.ts'
import { dataOf } from '../kernel/event.ts'
import type { EventLog } from '../ports/event-log.ts'
import { applyPending } from '../runtime/projections/apply-pending.ts'
import type { Upcasts } from '../runtime/upcasts.ts'
import { createFoldReader, type RecordedDecision, readDecisions } from '../runtime/write/decision-replay.ts'
import { type DecisionDiff, diffDecision } from './decision-diff.ts'
import type { ExplainedStep, Explanation } from './explanation.ts'

/** The stream of an auction; null where there is none. Its workspace is not known, so every partition is asked. */
async function auctionStreamOf(log: EventLog, auctionId: string): Promise<string | null> {
  for (const stream of possibleStreamsOf(auction, auctionId))
    if ((await log.read(stream, 0, 1)).length > 0) return stream
  return null
}

/** The input of the decision on a ping, from its event; undefined for a ping that was refused before it was judged. */
function auctionInput({ events }: RecordedDecision) {
  const held = dataOf(auctionEvents, events, 'AuctionHeld')
  if (!held) return undefined
  const { ping, ref, seq, request, bids = [], inputs } = held
  // `seed` is an input of the command's context.
  const { seed: _seed, ...claims } = inputs
  return { ping, ref, seq, request, decidedAt: decidedAt(held), ...claims, ...bidsField(bids) }
}

/**
 * Explains what a publisher's ping was answered: its trace, and a replay of its decision from the log alone. Null where there is no
 * such auction. @throws LogUnavailable
 */
export async function explainAuction(log: EventLog, upcasts: Upcasts, auctionId: string): Promise<Explanation | null> {
  const stream = await auctionStreamOf(log, auctionId)
  if (stream === null) return null
  const decisions: RecordedDecision[] = []
  for await (const decided of readDecisions(log, auction, stream)) decisions.push(decided)
  const events = decisions.flatMap((decided) => decided.events)
  const stored = applyPending(pingStory, auctionId, null, events, upcasts)
  if (!stored) return null
  const story = pingStory.doc.parse(stored.doc)
  const steps = traceOf(story, events.at(-1)?.meta.at ?? '').map(
    ({ at, step, sentence, code }): ExplainedStep => ({ at, step, sentence, detail: code === null ? null : { code } }),
  )
  const readFold = createFoldReader(log)
  const diffs: DecisionDiff[] = []
  for (const decided of decisions) {
    const input = auctionInput(decided)
    if (input) diffs.push(await diffDecision(readFold, decided, { command: holdAuction, input }))
  }
  const { ref } = story.held ?? story.refused ?? { ref: auctionId }
  return { ref, summary: steps.findLast(({ step }) => step !== 'answered')?.sentence ?? '', steps, decisions: diffs }
}
