import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { recordArrival } from '../../commands/calls/record-arrival.ts'
import { recordDial } from '../../commands/calls/record-dial.ts'
import { recordPlanSpent } from '../../commands/calls/record-plan-spent.ts'
import { failOver } from '../../commands/routing/fail-over.ts'
import { routeCall } from '../../commands/routing/route-call.ts'
import type { callEvents } from '../domain/calls/call.ts'
import type { ledgerEvents } from '../domain/routing/ledger-events.ts'
import type { AnyCommand } from '../kernel/command.ts'
import { matchEvent, type NewEvent, type RecordedEvent, type RecordedOf } from '../kernel/event.ts'
import { isRefusal, type Refusal } from '../kernel/refusal.ts'
import { type FoldReader, type RecordedDecision, replayDecision } from '../runtime/write/decision-replay.ts'

/** A field that a decision taken again gives otherwise than was recorded; undefined where one of them has none. */
export interface Difference {
  /** Such as `TargetClaimed.claim.ringSeconds`. */
  readonly field: string
  readonly recorded: unknown
  readonly decided: unknown
}

/** A decision taken again. */
export interface DecisionDiff {
  readonly command: string
  readonly position: number
  /** Revisions that it was taken at, by stream: its own as it was found, and those that it read. */
  readonly revisions: Readonly<Record<string, number>>
  /** Empty when it would be taken the same. */
  readonly differences: readonly Difference[]
  /** Why it cannot be taken again; null when it can. */
  readonly problem: string | null
}

/** What led to a decision. */
export interface DecisionInput {
  readonly callId: string
  readonly command: AnyCommand
  readonly input: unknown
}

function arrivalInput({ data }: RecordedOf<typeof ledgerEvents, 'CallAdmitted' | 'CallRefused'>): DecisionInput {
  const { callId, carrierCallId, dialedNumber: to, caller, occurredAt } = data.arrival
  const { routingKeyHash } = data.inputs
  return { callId, command: routeCall, input: { callId, carrierCallId, to, caller, routingKeyHash, occurredAt } }
}

/** The ledger's decisions on calls, by the event that each begins with. */
export const ledgerDecisionInput = matchEvent<
  Pick<typeof ledgerEvents, 'CallAdmitted' | 'CallRefused' | 'ClaimReleased'>,
  DecisionInput
>({
  CallAdmitted: arrivalInput,
  CallRefused: arrivalInput,
  ClaimReleased: ({ data }) => ({ callId: data.callId, command: failOver, input: data }),
})

/** What a call's own stream makes of the ledger's decisions: the command that each goes by the event that caused it. */
export const callCommandFor = matchEvent<
  Pick<typeof callEvents, 'CallArrived' | 'TargetDialed' | 'CallUnrouted'>,
  AnyCommand
>({
  CallArrived: () => recordArrival,
  TargetDialed: () => recordDial,
  CallUnrouted: () => recordPlanSpent,
})

const seeded = z.object({ inputs: z.object({ seed: z.int() }) })

/** The seed that a decision recorded; null where it recorded none. */
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
    return [{ field: 'the events', recorded: typesOf(recorded), decided: types }]
  }
  // As the log gives it back.
  const written: readonly NewEvent[] = JSON.parse(JSON.stringify(decided))
  return recorded.flatMap(({ type, data }, n) => differencesIn(type, data, written[n]?.data))
}

/** Takes a decision again, and compares it with what was recorded. */
export async function diffDecision(
  readFold: FoldReader,
  decided: RecordedDecision,
  told: Omit<DecisionInput, 'callId'>,
): Promise<DecisionDiff> {
  const { before, events } = decided
  const { stream, meta, position } = events[0]
  const facts = {
    command: told.command.name,
    position,
    revisions: { [stream]: before.revision, ...meta.reads },
    differences: [],
    problem: null,
  }
  if (told.input === undefined) return { ...facts, problem: 'The event that it goes by is not in the log.' }
  try {
    const again = await replayDecision(readFold, decided, { ...told, seed: seedOf(events) })
    return { ...facts, differences: differencesOf(events, again) }
  } catch (error) {
    return { ...facts, problem: error instanceof Error ? error.message : String(error) }
  }
}
