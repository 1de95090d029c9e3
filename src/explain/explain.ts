import { callStory } from '../../projections/calls/call-story.ts'
import { call, callEvents } from '../domain/calls/call.ts'
import { ledger } from '../domain/routing/ledger.ts'
import { possibleStreamsOf, streamOf } from '../kernel/entity.ts'
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
import { explainAuction } from './explain-auction.ts'
import type { Explanation } from './explanation.ts'

/** A call cannot be explained; the message is one sentence. */
export class ExplanationError extends Error {
  override readonly name = 'Unexplained'
}

/** Receives the progress of folding the ledger: the calls folded, and the sequence number of the explained call. */
export type ProgressListener = (calls: number, to: number) => void

/** The stream of a call; null where there is none. Its workspace is not known, so every partition is asked. @throws LogUnavailable */
async function callStreamOf(log: EventLog, callId: string): Promise<string | null> {
  for (const stream of possibleStreamsOf(call, callId)) if ((await log.read(stream, 0, 1)).length > 0) return stream
  return null
}

/** Reads a call's own stream. @throws ExplanationError when it is empty or belongs to no workspace; LogUnavailable */
async function callHistoryOf(log: EventLog, upcasts: Upcasts, callId: string, stream: string) {
  const decisions: RecordedDecision[] = []
  for await (const decided of readDecisions(log, call, stream)) decisions.push(decided)
  const events = decisions.flatMap((decided) => decided.events)
  const arrived = dataOf(callEvents, events, 'CallArrived')
  if (!arrived) throw new ExplanationError(`There is no call ${callId}.`)
  const stored = applyPending(callStory, callId, null, events, upcasts)
  if (!stored) throw new ExplanationError(`Call ${callId} belongs to no workspace, so no ledger decided on it.`)
  const { workspaceId, summary, steps } = callStory.doc.parse(stored.doc)
  return { decisions, workspaceId, summary, steps, arrival: arrived.arrival }
}

/** A decision of the ledger on one call. */
interface LedgerDecision extends DecisionInput {
  readonly decided: RecordedDecision
}

/** The ledger's decisions on a call, in order. Folds the ledger from its first event until the call is no longer live. */
async function ledgerDecisionsOn(
  log: EventLog,
  workspaceId: string,
  { callId, seq }: { readonly callId: string; readonly seq: number },
  onProgress: ProgressListener,
): Promise<readonly LedgerDecision[]> {
  const ledgerDecisions: LedgerDecision[] = []
  for await (const decided of readDecisions(log, ledger, streamOf(ledger, workspaceId))) {
    const { state } = decided.before
    if (ledgerDecisions.length > 0 && !state.calls.get(callId)?.live) return ledgerDecisions
    const input = ledgerDecisionInput(decided.events)
    if (input?.callId === callId) ledgerDecisions.push({ ...input, decided })
    onProgress(state.seq, seq)
  }
  return ledgerDecisions
}

/**
 * Explains how a call was routed, or what a publisher's ping was answered. `given` is the id of a call or of an auction.
 * @throws ExplanationError, LogUnavailable
 */
export async function explainById(
  log: EventLog,
  upcasts: Upcasts,
  given: string,
  onProgress: ProgressListener = () => undefined,
): Promise<Explanation> {
  const parsed = id.safeParse(given)
  if (!parsed.success)
    throw new ExplanationError(
      `"${given}" is no id of a call or auction: it is a UUID, which GET /api/v1/calls?ref=CA-… tells of a public reference.`,
    )
  const stream = await callStreamOf(log, parsed.data)
  if (stream !== null) return explainCall(log, upcasts, parsed.data, stream, onProgress)
  const explained = await explainAuction(log, upcasts, parsed.data)
  if (explained) return explained
  throw new ExplanationError(`There is no call or auction ${parsed.data}.`)
}

/** Explains a call: its story, and a replay of each decision on the ledger and on the call's stream from the log alone. */
async function explainCall(
  log: EventLog,
  upcasts: Upcasts,
  callId: string,
  stream: string,
  onProgress: ProgressListener,
): Promise<Explanation> {
  const { decisions, workspaceId, summary, steps, arrival } = await callHistoryOf(log, upcasts, callId, stream)
  const ledgerDecisions = await ledgerDecisionsOn(log, workspaceId, arrival, onProgress)
  const readFold = createFoldReader(log)
  const diffs: DecisionDiff[] = []
  for (const { decided, ...input } of ledgerDecisions) diffs.push(await diffDecision(readFold, decided, input))

  const causes = new Map(
    ledgerDecisions.flatMap(({ decided }) => decided.events).map((event) => [event.meta.eventId, event]),
  )
  for (const decided of decisions) {
    const [first] = decided.events
    const command = callCommandFor(first)
    if (!command) continue
    const cause = causes.get(first.meta.causationId ?? '')
    diffs.push(await diffDecision(readFold, decided, { command, input: cause?.data }))
  }
  return { ref: arrival.ref, summary, steps, decisions: diffs.toSorted((a, b) => a.position - b.position) }
}
