import { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { cents, id, instant } from '../../kernel/wire.ts'
import { bids } from '../routing/bids.ts'
import { bookedFor } from '../routing/counted-call.ts'
import {
  type Arrival,
  arrival,
  type Claim,
  claim,
  heldBack,
  skip,
  type Terms,
  terms,
  type Unrouted,
  unrouted,
} from '../routing/decision.ts'
import { wonOffer } from '../routing/won-offer.ts'
import { callOutcome, callStatus, dialOutcome, gateCode } from '../shared/call-codes.ts'
import { named } from '../shared/fields.ts'
import { type Books, books, type Corrections, callChangeEvents, type Posted } from './call-changes.ts'
import { recording } from './recording.ts'
import { applyTagChanges, type Tags } from './tags.ts'

const callKey = { callId: id, occurredAt: instant }

/** Events of `call-<id>`. These names are the storage format. Sentences are recorded and never change. */
export const callEvents = {
  CallArrived: z.object({
    arrival,
    gates: z.object({ passed: z.array(gateCode).readonly(), failed: gateCode.nullable() }),
    terms,
    /** Names of the targets on the plan, in order. */
    plan: z.array(named).readonly(),
    bids,
    /** The offer of an auction that the call claimed. */
    offer: wonOffer.omit({ plan: true, terms: true, tags: true }).optional(),
  }),
  TargetDialed: z.object({
    ...callKey,
    carrierCallId: z.string(),
    recordCall: z.boolean(),
    claim,
    skipped: z.array(skip).readonly(),
    bids,
  }),
  TargetFailed: z.object({
    ...callKey,
    attempt: z.int(),
    target: named,
    buyer: named,
    outcome: dialOutcome,
    sipCode: z.int().nullable(),
    retryAfterSeconds: z.int().nullable(),
    rangSeconds: z.int(),
    whisperAccepted: z.boolean().nullable(),
    sentence: z.string(),
  }),
  TargetAnswered: z.object({
    ...callKey,
    attempt: z.int(),
    target: named,
    buyer: named,
    rangSeconds: z.int(),
    whisperAccepted: z.boolean().nullable(),
  }),
  CallUnrouted: z.object({
    ...callKey,
    carrierCallId: z.string(),
    unrouted,
    heldBack: heldBack.optional(),
    skipped: z.array(skip).readonly(),
    bids,
  }),
  CallEnded: z.object({
    ...callKey,
    carrierCallId: z.string(),
    arrivedAt: instant,
    status: callStatus,
    outcome: callOutcome.exclude(['live', 'converted']),
    hungUpBy: z.enum(['caller', 'agent', 'platform', 'unknown']),
    connected: z.boolean(),
    recorded: z.boolean(),
    talkSeconds: z.int(),
    ringSeconds: z.int(),
    campaignId: id.nullable(),
    publisherId: id.nullable(),
    target: named.nullable(),
    buyer: named.nullable(),
    sentence: z.string(),
    /** When the call settles: the end plus the effective buffer. */
    settlesAt: instant,
    /** Usage charge of the call. */
    usageCents: cents,
    /** When usage is charged; null when there is none. */
    usageDueAt: instant.nullable(),
  }),
  CallSettled: z.object({
    ...callKey,
    ...bookedFor.shape,
    ...books.shape,
    sentence: z.string(),
  }),
  UsageCharged: z.object({ ...callKey, usageCents: cents, minutes: z.int() }),
  ...callChangeEvents,
  /** Usually after the end; `occurredAt` is when the carrier saved the recording. */
  RecordingSaved: z.object({ ...callKey, carrierCallId: z.string(), recording }),
}

/** A dial and its present outcome. */
export interface Attempt {
  readonly claim: Claim
  readonly outcome: 'ringing' | 'answered' | z.infer<typeof dialOutcome>
  readonly rangSeconds: number
}

/** State of one call. */
export interface CallState {
  readonly workspaceId: string | null
  readonly arrival: Arrival
  readonly terms: Terms
  readonly attempts: readonly Attempt[]
  readonly answeredAt: string | null
  readonly unrouted: Unrouted | null
  readonly ended: {
    readonly at: string
    readonly talkSeconds: number
    readonly connected: boolean
    readonly settlesAt: string
    readonly usageDueAt: string | null
  } | null
  /** The present books, the instant of the settlement, and the number of changes since; null before the settlement. */
  readonly settled: (Books & { readonly at: string; readonly changes: number }) | null
  /** Posted conversions with their commands: a person's mark, a buyer's postback, or a postback after a mark. */
  readonly posts: readonly (Posted & { readonly commandId: string })[]
  readonly corrections: Corrections
  /** Ids of the commands that adjusted the call. */
  readonly adjustedBy: readonly string[]
  readonly tags: Tags
  readonly usageCharged: boolean
  /** The carrier's ids of the saved recordings. */
  readonly recordings: readonly string[]
}

const updateAttempt = (
  state: CallState | null,
  attempt: number,
  outcome: Attempt['outcome'],
  rangSeconds: number,
): CallState | null =>
  state && {
    ...state,
    attempts: state.attempts.map((one) => (one.claim.attempt === attempt ? { ...one, outcome, rangSeconds } : one)),
  }

const pickBooks = ({ converted, source, reason, revenueCents, payoutCents }: Books): Books => ({
  converted,
  source,
  reason,
  revenueCents,
  payoutCents,
})

/** One call's life: `call-<id>`. Its state is null before the arrival. */
export const call = defineEntity<CallState | null, typeof callEvents>({
  name: 'call',
  partitionedBy: 'workspace',
  version: 3,
  events: callEvents,
  // 2: the visitor's session; calls before have none.
  upcasts: { CallArrived: [(data) => data] },
  initial: null,
  evolve: {
    CallArrived: (_state, { data: { arrival, terms }, meta }) => ({
      workspaceId: meta.workspaceId,
      arrival,
      terms,
      attempts: [],
      answeredAt: null,
      unrouted: null,
      ended: null,
      settled: null,
      posts: [],
      corrections: {},
      adjustedBy: [],
      tags: PersistentMap(Object.entries(arrival.tags).map(([key, { value }]) => [key, value])),
      usageCharged: false,
      recordings: [],
    }),
    TargetDialed: (state, { data: { claim } }): CallState | null =>
      state && { ...state, attempts: [...state.attempts, { claim, outcome: 'ringing', rangSeconds: 0 }] },
    TargetFailed: (state, { data }) => updateAttempt(state, data.attempt, data.outcome, data.rangSeconds),
    TargetAnswered: (state, { data }) => {
      const after = updateAttempt(state, data.attempt, 'answered', data.rangSeconds)
      return after && { ...after, answeredAt: data.occurredAt }
    },
    CallUnrouted: (state, { data }) => state && { ...state, unrouted: data.unrouted },
    CallEnded: (state, { data: { occurredAt, talkSeconds, connected, settlesAt, usageDueAt } }) =>
      state && { ...state, ended: { at: occurredAt, talkSeconds, connected, settlesAt, usageDueAt } },
    CallSettled: (state, { data }) =>
      state && { ...state, settled: { ...pickBooks(data), at: data.occurredAt, changes: 0 } },
    BooksChanged: (state, { data }) =>
      state && { ...state, settled: { ...pickBooks(data), at: data.settledAt, changes: data.change } },
    ConversionPosted: (state, { data: { source, revenueCents, note, externalId }, meta: { commandId } }) =>
      state && { ...state, posts: [...state.posts, { source, revenueCents, note, externalId, commandId }] },
    CallAdjusted: (state, { data: { corrections }, meta }) =>
      state && { ...state, corrections, adjustedBy: [...state.adjustedBy, meta.commandId] },
    CallTagged: (state, { data: { changes } }) => state && { ...state, tags: applyTagChanges(state.tags, changes) },
    UsageCharged: (state) => state && { ...state, usageCharged: true },
    RecordingSaved: (state, { data: { recording } }) =>
      state && { ...state, recordings: [...state.recordings, recording.carrierRecordingId] },
  },
})

/** The attempt that is ringing; null when none is. */
export function ringingAttempt(state: CallState): Attempt | null {
  return state.attempts.find(({ outcome }) => outcome === 'ringing') ?? null
}

/** The attempt that a buyer answered; null when none did. */
export function answeredAttempt(state: CallState): Attempt | null {
  return state.attempts.find(({ outcome }) => outcome === 'answered') ?? null
}

/** Seconds from one instant to another, rounded; never below 0. */
export function secondsBetween(from: string, to: string): number {
  return Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1_000))
}
