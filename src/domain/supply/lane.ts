import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { cap, id, instant } from '../../kernel/wire.ts'
import type { Campaigns } from '../campaigns/campaign.ts'
import { payout, percent } from '../money/money.ts'
import { payoutProblems } from '../money/payout-terms.ts'
import { nullableText, timezone } from '../shared/fields.ts'
import { CALL_CAP, CENTS, SECONDS, TEXT } from '../shared/limits.ts'
import { applyPatch } from '../shared/patch.ts'
import { type Problem, problemsOf } from '../shared/problems.ts'
import { patchSchedule, schedule, scheduleInput, scheduleProblem } from '../shared/schedule.ts'
import { createRecordUpdate, type SliceOf } from '../shared/slice.ts'
import { normalizeStates, states, statesProblem } from '../shared/states.ts'
import { zoneProblem } from '../shared/zones.ts'
import { type Publishers, type publisherEvents, withPublisherStatus } from './publisher.ts'
import {
  isLiveKey,
  issuedKey,
  newRoutingKey,
  type RoutingKey,
  revokeKey,
  type routingKeyEvents,
  routingKeyReducers,
} from './routing-key.ts'

export const payoutMode = z.enum(['inherit', 'fixed', 'revshare'])

/** A lane's terms: what its publisher earns, and where, when and how much it may send (Document 1, Lane). */
export const laneTerms = z.object({
  active: z.boolean(),
  payoutMode,
  payoutCents: payout.nullable(),
  revsharePct: percent.nullable(),
  minPayoutCents: payout.nullable(),
  maxPayoutCents: payout.nullable(),
  bufferSeconds: cap(SECONDS.buffer).nullable(),
  dedupeWindowSeconds: cap(SECONDS.dedupe),
  hourlyCap: cap(CALL_CAP.hourly),
  dailyCap: cap(CALL_CAP.daily),
  monthlyCap: cap(CALL_CAP.monthly),
  concurrencyCap: cap(CALL_CAP.laneConcurrency),
  dailyPayoutCapCents: cap(CENTS.dailyPayoutCap),
  blockWhenCapped: z.boolean(),
  states: states.nullable(),
  hoursSchedule: schedule.nullable(),
  timezone: timezone.nullable(),
  notesPublic: nullableText(TEXT.notes),
  notesInternal: nullableText(TEXT.notes),
})
export type LaneTerms = Readonly<z.infer<typeof laneTerms>>
export const laneTermsChanges = laneTerms.partial()

/** Terms in a request: any of them. */
export const laneInput = laneTerms.extend({ hoursSchedule: scheduleInput.nullable() }).partial()
export type LaneInput = Readonly<z.infer<typeof laneInput>>

/** A publisher's lane on one campaign. */
export const lane = laneTerms.extend({
  campaignId: id,
  publisherId: id,
  keyId: id.nullable(),
  /** Opened again after it was closed: its counters restart at 0. Absent on the first opening. */
  reopened: z.literal(true).optional(),
  assignedAt: instant,
  termsFrozenAt: instant,
})
export type Lane = Readonly<z.infer<typeof lane>>

/** A lane as `LaneOpened` stores it. `compatEnabled` is always false there; the key's `compat` tells the current state. */
const openedLane = lane.extend({ compatEnabled: z.boolean() })

/** The lane of a `LaneOpened` event. */
export function storedLane({ compatEnabled: _off, ...kept }: Readonly<z.infer<typeof openedLane>>): Lane {
  return kept
}

/** These names are the storage format. */
export const laneEvents = {
  LaneOpened: z.object({ lane: openedLane, key: issuedKey, campaignName: z.string(), publisherName: z.string() }),
  LaneTermsChanged: z.object({
    campaignId: id,
    publisherId: id,
    campaignName: z.string(),
    publisherName: z.string(),
    before: laneTermsChanges,
    after: laneTermsChanges,
  }),
  LaneClosed: z.object({
    campaignId: id,
    publisherId: id,
    campaignName: z.string(),
    publisherName: z.string(),
    revokedKeys: z.array(id).readonly(),
    numbersStillAssigned: z.int(),
  }),
}

/** Lanes by `laneId`; routing keys by their own id, revoked ones too. */
export interface Lanes extends Publishers {
  readonly lanes: PersistentMap<string, Lane>
  readonly routingKeys: PersistentMap<string, RoutingKey>
}

/** Id of a lane, in the state and in the read models. */
export function laneId(campaignId: string, publisherId: string): string {
  return `${campaignId}:${publisherId}`
}

/**
 * Routing key that names the counters of a lane that was opened again; undefined for a first opening, whose counters have
 * the id of the lane.
 */
export function reopenedKeyId({ reopened, keyId }: Pick<Lane, 'reopened' | 'keyId'>): string | undefined {
  return reopened && keyId !== null ? keyId : undefined
}

/** Id of a lane's counters; `laneKeyId` is its `reopenedKeyId`. */
export function laneCounterId(campaignId: string, publisherId: string, laneKeyId: string | undefined): string {
  const lane = laneId(campaignId, publisherId)
  return laneKeyId === undefined ? lane : `${lane}:${laneKeyId}`
}

const revokeKeys = (keys: Lanes['routingKeys'], ids: readonly string[], at: string): Lanes['routingKeys'] =>
  ids.reduce((left, id) => left.update(id, (key) => key && revokeKey(key, at)), keys)

/** A publisher's routing keys that are not revoked; of one campaign if `campaignId` is given. */
export function liveKeys({ routingKeys }: Lanes, publisherId: string, campaignId?: string): readonly RoutingKey[] {
  return [
    ...routingKeys
      .filter((key) => key.publisherId === publisherId && (campaignId === undefined || key.campaignId === campaignId))
      .filter(isLiveKey)
      .values(),
  ]
}

/** The common fields of events about a routing key. */
export function keyEventBase(
  { campaigns, publishers }: Campaigns & Publishers,
  { id: keyId, campaignId, publisherId }: Pick<RoutingKey, 'id' | 'campaignId' | 'publisherId'>,
) {
  return {
    keyId,
    campaignId,
    publisherId,
    campaignName: campaigns.get(campaignId)?.name ?? '',
    publisherName: publishers.get(publisherId)?.name ?? '',
  }
}

const updateKey = createRecordUpdate<RoutingKey, 'routingKeys'>('routingKeys')

export const evolveLanes: SliceOf<
  Lanes,
  typeof laneEvents & typeof routingKeyEvents & Pick<typeof publisherEvents, 'PublisherStatusChanged'>
> = {
  LaneOpened: (state, { data }) => ({
    ...state,
    lanes: state.lanes.set(laneId(data.lane.campaignId, data.lane.publisherId), storedLane(data.lane)),
    routingKeys: state.routingKeys.set(data.key.id, newRoutingKey(data.key)),
  }),
  LaneTermsChanged: (state, { data, meta }) => ({
    ...state,
    lanes: state.lanes.update(
      laneId(data.campaignId, data.publisherId),
      (old) => old && applyPatch({ ...old, termsFrozenAt: meta.at }, data.after),
    ),
  }),
  LaneClosed: (state, { data, meta }) => ({
    ...state,
    lanes: state.lanes.delete(laneId(data.campaignId, data.publisherId)),
    routingKeys: revokeKeys(state.routingKeys, data.revokedKeys, meta.at),
  }),
  RoutingKeyChanged: (state, event) =>
    updateKey(state, event.data.keyId, (key) => routingKeyReducers.RoutingKeyChanged(key, event)),
  RoutingKeyRotated: (state, event) =>
    updateKey(state, event.data.keyId, (key) => routingKeyReducers.RoutingKeyRotated(key, event)),
  SigningSecretRotated: (state, event) =>
    updateKey(state, event.data.keyId, (key) => routingKeyReducers.SigningSecretRotated(key, event)),
  CompatEnabled: (state, event) =>
    updateKey(state, event.data.keyId, (key) => routingKeyReducers.CompatEnabled(key, event)),
  CompatDisabled: (state, event) => updateKey(state, event.data.keyId, routingKeyReducers.CompatDisabled),
  CompatTokenRotated: (state, event) =>
    updateKey(state, event.data.keyId, (key) => routingKeyReducers.CompatTokenRotated(key, event)),
  PublisherStatusChanged: (state, { data, meta }) => ({
    ...state,
    publishers: state.publishers.update(
      data.publisherId,
      (old) => old && withPublisherStatus(old, data.to, data.note, meta.at),
    ),
    routingKeys: revokeKeys(
      state.routingKeys,
      data.revoked.map(({ keyId }) => keyId),
      meta.at,
    ),
  }),
}

/** The terms of a new lane (Supplement §4). */
export const DEFAULT_TERMS: LaneTerms = {
  active: true,
  payoutMode: 'inherit',
  payoutCents: null,
  revsharePct: null,
  minPayoutCents: null,
  maxPayoutCents: null,
  bufferSeconds: null,
  dedupeWindowSeconds: 0,
  hourlyCap: 0,
  dailyCap: 0,
  monthlyCap: 0,
  concurrencyCap: 0,
  dailyPayoutCapCents: 0,
  blockWhenCapped: true,
  states: null,
  hoursSchedule: null,
  timezone: null,
  notesPublic: null,
  notesInternal: null,
}

/** The terms after a request. A schedule without a zone takes the lane's, else the workspace's. */
export function applyLaneInput(
  terms: LaneTerms,
  { hoursSchedule, ...input }: LaneInput,
  workspaceZone: string,
): LaneTerms {
  const next = applyPatch(terms, { ...input, states: input.states && normalizeStates(input.states) })
  const zones = { input: undefined, record: next.timezone ?? workspaceZone }
  return { ...next, hoursSchedule: patchSchedule(terms.hoursSchedule, hoursSchedule, zones) }
}

/** What is wrong with a lane's terms after a request, and with the request; null when they are valid. */
export function laneProblems(terms: LaneTerms, input: LaneInput): Readonly<Record<string, string>> | null {
  const rules: readonly Problem[] = [
    ...Object.entries(payoutProblems(terms.payoutMode, terms)),
    ['timezone', input.timezone ? zoneProblem(input.timezone) : null],
    ['hoursSchedule', input.hoursSchedule ? scheduleProblem(input.hoursSchedule) : null],
    ['states', terms.states && statesProblem(terms.states)],
  ]
  return problemsOf(rules)
}
