import { callStory } from '../../projections/calls/call-story.ts'
import { call, callEvents } from '../domain/calls/call.ts'
import type { StoryStep } from '../domain/calls/story.ts'
import { ledger } from '../domain/routing/ledger.ts'
import { dataOf } from '../kernel/event.ts'
import { id } from '../kernel/wire.ts'
import type { EventLog } from '../ports/event-log.ts'
import { applyPending } from '../runtime/projections/apply-pending.ts'
import type { Upcasts } from '../runtime/upcasts.ts'
import { createFoldReader, type RecordedDecision, readDecisions } from '../runtime/write/decision-replay.ts'
import {
  callCommandFor,
  type DecisionDiff,
  type DecisionInput,
  diffDecision,
  ledgerDecisionInput,
} from './decision-diff.ts'

/** How a call was routed, and each decision on it taken again. */
export interface Explanation {
  readonly ref: string
  /** Where the call stands, in one sentence. */
  readonly summary: string
  readonly steps: readonly StoryStep[]
  readonly decisions: readonly DecisionDiff[]
}

/** A call cannot be explained; the message is one sentence. */
export class ExplanationError extends Error {
  override readonly name = 'Unexplained'
}

/** Calls of the workspace that were gone through on the way, and the number of the one that is asked for. */
export type ProgressListener = (calls: number, to: number) => void

/** All that a call's own stream holds. @throws Unexplained when it holds nothing, or is of no workspace */
async function callHistoryOf(log: EventLog, upcasts: Upcasts, callId: string) {
  const decisions: RecordedDecision[] = []
  for await (const decided of readDecisions(log, call, callId)) decisions.push(decided)
  const events = decisions.flatMap((decided) => decided.events)
  const arrived = dataOf(callEvents, events, 'CallArrived')
  if (!arrived) throw new ExplanationError(`There is no call ${callId}.`)
  const stored = applyPending(callStory, callId, null, events, upcasts)
  if (!stored) throw new ExplanationError(`Call ${callId} is of no workspace, so no ledger decided on it.`)
  const { workspaceId, summary, steps } = callStory.doc.parse(stored.doc)
  return { decisions, workspaceId, summary, steps, arrival: arrived.arrival }
}

/** A decision of the ledger on one call. */
interface LedgerDecision extends DecisionInput {
  readonly decided: RecordedDecision
}

/** The ledger's decisions on a call, in order; the ledger is folded from its beginning until it is done with the call. */
async function ledgerDecisionsOn(
  log: EventLog,
  workspaceId: string,
  { callId, seq }: { readonly callId: string; readonly seq: number },
  onTheWay: ProgressListener,
): Promise<readonly LedgerDecision[]> {
  const rulings: LedgerDecision[] = []
  for await (const decided of readDecisions(log, ledger, workspaceId)) {
    const { state } = decided.before
    if (rulings.length > 0 && !state.calls.get(callId)?.live) return rulings
    const told = decided.events.map(ledgerDecisionInput).find((one) => one?.callId === callId)
    if (told) rulings.push({ ...told, decided })
    onTheWay(state.seq, seq)
  }
  return rulings
}

/**
 * Tells how a call was routed, as its story does, and takes each decision on it again from what the log holds: the
 * ledger's own, and what the call's stream made of them.
 * @throws Unexplained, LogUnavailable
 */
export async function explainCall(
  log: EventLog,
  upcasts: Upcasts,
  given: string,
  onTheWay: ProgressListener = () => undefined,
): Promise<Explanation> {
  const parsed = id.safeParse(given)
  if (!parsed.success) throw new ExplanationError(`"${given}" is no call id: it is a UUID, not the public reference.`)
  const { decisions, workspaceId, summary, steps, arrival } = await callHistoryOf(log, upcasts, parsed.data)
  const rulings = await ledgerDecisionsOn(log, workspaceId, arrival, onTheWay)
  const readFold = createFoldReader(log)
  const retaken: DecisionDiff[] = []
  for (const { decided, ...told } of rulings) retaken.push(await diffDecision(readFold, decided, told))

  const causes = new Map(rulings.flatMap(({ decided }) => decided.events).map((event) => [event.meta.eventId, event]))
  for (const decided of decisions) {
    const [first] = decided.events
    const command = callCommandFor(first)
    if (!command) continue
    const cause = causes.get(first.meta.causationId ?? '')
    retaken.push(await diffDecision(readFold, decided, { command, input: cause?.data }))
  }
  return { ref: arrival.ref, summary, steps, decisions: retaken.toSorted((a, b) => a.position - b.position) }
}
