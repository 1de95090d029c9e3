import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { recordArrival } from '../../commands/calls/record-arrival.ts'
import { recordDial } from '../../commands/calls/record-dial.ts'
import { recordPlanSpent } from '../../commands/calls/record-plan-spent.ts'
import { failOver } from '../../commands/routing/fail-over.ts'
import { routeCall } from '../../commands/routing/route-call.ts'
import type { Bid } from '../domain/bidding/bid.ts'
import type { callEvents } from '../domain/calls/call.ts'
import { bidsField } from '../domain/routing/bids.ts'
import type { ledgerEvents } from '../domain/routing/ledger-events.ts'
import type { AnyCommand } from '../kernel/command.ts'
import { type Meta, matchEvent, type NewEvent, type RecordedEvent, type RecordedOf } from '../kernel/event.ts'
import { isRefusal, type Refusal } from '../kernel/refusal.ts'
import { type FoldReader, type RecordedDecision, replayDecision } from '../runtime/write/decision-replay.ts'

/** A field in which a replayed decision differs from the recorded events; undefined where one has no such field. */
export interface Difference {
  /** Such as `TargetClaimed.claim.ringSeconds`. */
  readonly field: string
  readonly recorded: unknown
  readonly decided: unknown
}

/** A replayed decision, compared with the recorded one. */
export interface DecisionDiff {
  readonly command: string
  readonly position: number
  /** Revisions of its input, by stream: its own stream before it, and the streams it read. */
  readonly revisions: Readonly<Record<string, number>>
  /** What it looked up, by memory and key: whether there was something. */
  readonly lookups: Readonly<Record<string, 'found' | 'none'>>
  /** Empty when the replay gives the recorded events. */
  readonly differences: readonly Difference[]
  /** Why it cannot be replayed; null when it was. */
  readonly problem: string | null
}

/** The command and input of a decision. */
export interface DecisionInput {
  readonly callId: string
  readonly command: AnyCommand
  readonly input: unknown
}

function arrivalInput({ data }: RecordedOf<typeof ledgerEvents, 'CallAdmitted' | 'CallRefused'>): DecisionInput {
  const { callId, carrierCallId, dialedNumber: to, caller, occurredAt } = data.arrival
  // `seed` is an input of the command's context.
  const { seed: _seed, unclaimedOffer, ...inputs } = data.inputs
  const { bids = [], offer = unclaimedOffer, lease } = data
  const asked = { ...bidsField(bids), ...(offer && { offer }), ...(lease && { lease }) }
  const input = { callId, carrierCallId, to, caller, judgesHeldBack: false, ...inputs, ...asked, occurredAt }
  return { callId, command: routeCall, input }
}

/** The bids that a failover was given: its next step records them. */
const bidsOfFailover = matchEvent<Pick<typeof ledgerEvents, 'TargetClaimed' | 'PlanSpent'>, readonly Bid[]>({
  TargetClaimed: ({ data }) => data.bids ?? [],
  PlanSpent: ({ data }) => data.bids ?? [],
})

const inputOfEvent = matchEvent<
  Pick<typeof ledgerEvents, 'CallAdmitted' | 'CallRefused' | 'ClaimReleased'>,
  DecisionInput
>({
  CallAdmitted: arrivalInput,
  CallRefused: arrivalInput,
  ClaimReleased: ({ data }) => ({ callId: data.callId, command: failOver, input: data }),
})

/** Reconstructs the input of a ledger decision on a call from its events; undefined for a decision of another kind. */
export function ledgerDecisionInput(events: readonly RecordedEvent[]): DecisionInput | undefined {
  const [input] = events.flatMap((event) => inputOfEvent(event) ?? [])
  if (input?.command !== failOver) return input
  const bids = events.flatMap((event) => bidsOfFailover(event) ?? [])
  return { ...input, input: { ...(input.input as object), ...bidsField(bids) } }
}

/** The command of a decision on a call's stream, by its first event. Its input is the ledger event that caused it. */
export const callCommandFor = matchEvent<
  Pick<typeof callEvents, 'CallArrived' | 'TargetDialed' | 'CallUnrouted'>,
  AnyCommand
>({
  CallArrived: () => recordArrival,
  TargetDialed: () => recordDial,
  CallUnrouted: () => recordPlanSpent,
})

const seeded = z.object({ inputs: z.object({ seed: z.int() }) })

/** The recorded seed of a decision; null when it has none. */
function seedOf(events: readonly RecordedEvent[]): number | null {
  const found = events.map(({ data }) => seeded.safeParse(data)).find(({ success }) => success)
  return found?.data?.inputs.seed ?? null
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

function differencesIn(field: string, recorded: unknown, decided: unknown): readonly Difference[] {
  if (isDeepStrictEqual(recorded, decided)) return []
  if (!isObject(recorded) || !isObject(decided)) return [{ field, recorded, decided }]
  const keys = new Set([...Object.keys(recorded), ...Object.keys(decided)])
  return [...keys].flatMap((key) => differencesIn(`${field}.${key}`, recorded[key], decided[key]))
}

const typesOf = (events: readonly NewEvent[]) => events.map(({ type }) => type).join(', ') || 'nothing'

function differencesOf(
  recorded: readonly RecordedEvent[],
  decided: readonly NewEvent[] | Refusal,
): readonly Difference[] {
  const types = isRefusal(decided) ? `a refusal (${decided.refused})` : typesOf(decided)
  if (isRefusal(decided) || typesOf(recorded) !== types) {
    return [{ field: 'events', recorded: typesOf(recorded), decided: types }]
  }
  // Compare in the form that the log returns.
  const stored: readonly NewEvent[] = JSON.parse(JSON.stringify(decided))
  return recorded.flatMap(({ type, data }, n) => differencesIn(type, data, stored[n]?.data))
}

/** What a decision looked up, as its events record it. */
function lookupsIn({ recalled = {} }: Meta): DecisionDiff['lookups'] {
  return Object.fromEntries(Object.entries(recalled).map(([key, doc]) => [key, doc === null ? 'none' : 'found']))
}

/** Replays a decision and compares it with the recorded events. An error of the replay becomes the `problem`. */
export async function diffDecision(
  readFold: FoldReader,
  decided: RecordedDecision,
  input: Omit<DecisionInput, 'callId'>,
): Promise<DecisionDiff> {
  const { before, events } = decided
  const { stream, meta, position } = events[0]
  const facts = {
    command: input.command.name,
    position,
    revisions: { [stream]: before.revision, ...meta.reads },
    lookups: lookupsIn(meta),
    differences: [],
    problem: null,
  }
  if (input.input === undefined) return { ...facts, problem: 'The event that caused it is not in the log.' }
  try {
    const replayed = await replayDecision(readFold, decided, { ...input, seed: seedOf(events) })
    return { ...facts, differences: differencesOf(events, replayed) }
  } catch (error) {
    return { ...facts, problem: error instanceof Error ? error.message : String(error) }
  }
}
