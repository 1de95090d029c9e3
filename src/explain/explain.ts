import { callStory } from '../../projections/calls/call-story.ts'
import { call, callEvents } from '../domain/calls/call.ts'
import type { StoryStep } from '../domain/calls/story.ts'
import { ledger } from '../domain/routing/ledger.ts'
import { dataOf } from '../kernel/event.ts'
import { id } from '../kernel/wire.ts'
import type { EventLog } from '../ports/event-log.ts'
import { foldForward } from '../runtime/projections/apply-pending.ts'
import type { Upcasts } from '../runtime/upcasts.ts'
import { createFoldReader, type Decided, decisionsOf } from '../runtime/write/decision-replay.ts'
import { type Retaken, retake, type Told, toldByCall, toldByLedger } from './decision-diff.ts'

/** How a call was routed, and each decision on it taken again. */
export interface Explanation {
  readonly ref: string
  /** Where the call stands, in one sentence. */
  readonly summary: string
  readonly steps: readonly StoryStep[]
  readonly decisions: readonly Retaken[]
}

/** A call cannot be explained; the message is one sentence. */
export class Unexplained extends Error {
  override readonly name = 'Unexplained'
}

/** Calls of the workspace that were gone through on the way, and the number of the one that is asked for. */
export type OnTheWay = (calls: number, to: number) => void

/** All that a call's own stream holds. @throws Unexplained when it holds nothing, or is of no workspace */
async function lifeOf(log: EventLog, upcasts: Upcasts, callId: string) {
  const decisions: Decided[] = []
  for await (const decided of decisionsOf(log, call, callId)) decisions.push(decided)
  const events = decisions.flatMap((decided) => decided.events)
  const arrived = dataOf(callEvents, events, 'CallArrived')
  if (!arrived) throw new Unexplained(`There is no call ${callId}.`)
  const stored = foldForward(callStory, callId, null, events, upcasts)
  if (!stored) throw new Unexplained(`Call ${callId} is of no workspace, so no ledger decided on it.`)
  const { workspaceId, summary, steps } = callStory.doc.parse(stored.doc)
  return { decisions, workspaceId, summary, steps, arrival: arrived.arrival }
}

/** A decision of the ledger on one call. */
interface Ruling extends Told {
  readonly decided: Decided
}

/** The ledger's decisions on a call, in order; the ledger is folded from its beginning until it is done with the call. */
async function rulingsOn(
  log: EventLog,
  workspaceId: string,
  { callId, seq }: { readonly callId: string; readonly seq: number },
  onTheWay: OnTheWay,
): Promise<readonly Ruling[]> {
  const rulings: Ruling[] = []
  for await (const decided of decisionsOf(log, ledger, workspaceId)) {
    const { state } = decided.before
    if (rulings.length > 0 && !state.calls.get(callId)?.live) return rulings
    const told = decided.events.map(toldByLedger).find((one) => one?.callId === callId)
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
  onTheWay: OnTheWay = () => undefined,
): Promise<Explanation> {
  const parsed = id.safeParse(given)
  if (!parsed.success) throw new Unexplained(`"${given}" is no call id: it is a UUID, not the public reference.`)
  const { decisions, workspaceId, summary, steps, arrival } = await lifeOf(log, upcasts, parsed.data)
  const rulings = await rulingsOn(log, workspaceId, arrival, onTheWay)
  const readFold = createFoldReader(log)
  const retaken: Retaken[] = []
  for (const { decided, ...told } of rulings) retaken.push(await retake(readFold, decided, told))

  const causes = new Map(rulings.flatMap(({ decided }) => decided.events).map((event) => [event.meta.eventId, event]))
  for (const decided of decisions) {
    const [first] = decided.events
    const command = toldByCall(first)
    if (!command) continue
    const cause = causes.get(first.meta.causationId ?? '')
    retaken.push(await retake(readFold, decided, { command, input: cause?.data }))
  }
  return { ref: arrival.ref, summary, steps, decisions: retaken.toSorted((a, b) => a.position - b.position) }
}
