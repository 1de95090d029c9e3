import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { refuse } from '../../kernel/refusal.ts'
import { cap, id, instant } from '../../kernel/wire.ts'
import { price } from '../money/money.ts'
import { dialOutcome } from '../shared/call-codes.ts'
import { nameSchema, nullableText, statusNote, timezone } from '../shared/fields.ts'
import { CALL_CAP, CENTS, NAME, SECONDS, TARGET, TEXT } from '../shared/limits.ts'
import { applyPatch } from '../shared/patch.ts'
import { patchSchedule, schedule, scheduleInput } from '../shared/schedule.ts'
import { createRecordUpdate, type SliceOf } from '../shared/slice.ts'
import { normalizeStates, states } from '../shared/states.ts'
import { zoneOrUtc } from '../shared/zones.ts'
import { bidResult } from './bid-answer.ts'
import { DEFAULT_RTB, defaultEndpoint, endpoint, endpointSettings, storedRtb, tagFilter } from './endpoint.ts'

export const targetType = z.enum(['number', 'sip', 'rtb'])
export const targetStatus = z.enum(['draft', 'active', 'paused', 'archived'])
export const targetKind = z.enum(['static', 'delivery', 'external_rtb'])
export type TargetStatus = z.infer<typeof targetStatus>
export type TargetKind = z.infer<typeof targetKind>

/** Who changes a target's status: a user in the console, or an API key. */
export const targetMover = z.enum(['console', 'key'])

/** Allowed transitions: of the console (Supplement §5), and of a key (Document 1, Target). */
export const TARGET_TRANSITIONS: Readonly<
  Record<z.infer<typeof targetMover>, Readonly<Record<TargetStatus, readonly TargetStatus[]>>>
> = {
  console: {
    draft: ['active', 'archived'],
    active: ['paused', 'archived'],
    paused: ['active', 'archived'],
    archived: ['draft'],
  },
  key: { draft: [], active: ['paused'], paused: ['active'], archived: [] },
}

/** The result of a target's test: of the dial, or of the ping. */
export const targetTestResult = z.enum(['answered', ...dialOutcome.options, ...bidResult.options])
export type TargetTestResult = z.infer<typeof targetTestResult>

/** The settings of a target (Document 1, Target). */
export const targetSettings = z.object({
  name: nameSchema(NAME.target),
  externalRef: nullableText(TEXT.reference),
  buyerId: id,
  revenueCents: price.nullable(),
  durationThresholdSeconds: cap(SECONDS.durationThreshold),
  concurrencyCap: cap(CALL_CAP.concurrency),
  hourlyCap: cap(CALL_CAP.hourly),
  dailyCap: cap(CALL_CAP.daily),
  monthlyCap: cap(CALL_CAP.monthly),
  totalCap: cap(CALL_CAP.total),
  dailyRevenueCapCents: cap(CENTS.dailyRevenueCap),
  capCountsOn: z.enum(['claimed', 'connected', 'converted']),
  states,
  timezone,
  hoursSchedule: schedule.nullable(),
  dedupeWindowSeconds: cap(SECONDS.dedupe),
  tagFilters: z.array(tagFilter).max(TARGET.tagFilters).readonly(),
  endpoint: endpoint.nullable(),
  rtb: storedRtb.nullable(),
})
export type TargetSettings = Readonly<z.infer<typeof targetSettings>>
export const targetChanges = targetSettings.partial()

/** Settings in a request: any of them; dial and bidding settings in part. */
export const targetInput = targetSettings
  .extend({
    states: states.nullable(),
    hoursSchedule: scheduleInput.nullable(),
    endpoint: endpointSettings.partial(),
    rtb: storedRtb.partial(),
  })
  .partial()
export type TargetInput = Readonly<z.infer<typeof targetInput>>

/** The input of a new target. */
export const newTargetInput = targetInput.required({ name: true, buyerId: true }).extend({ type: targetType })

export const target = targetSettings.extend({
  id,
  type: targetType,
  status: targetStatus,
  createdAt: instant,
  updatedAt: instant,
})
export type Target = Readonly<z.infer<typeof target>>

/** These names are the storage format. */
export const targetEvents = {
  TargetCreated: z.object({ target, buyerName: z.string() }),
  TargetChanged: z.object({ targetId: id, name: z.string(), before: targetChanges, after: targetChanges }),
  TargetStatusChanged: z.object({
    targetId: id,
    name: z.string(),
    from: targetStatus,
    to: targetStatus,
    note: statusNote.nullable(),
    /** Campaigns whose routing plan an archived target left. */
    removedFrom: z.array(id).readonly(),
  }),
  /** The result of a test. It books and counts nothing. */
  TargetTested: z.object({
    targetId: id,
    name: z.string(),
    occurredAt: instant,
    ok: z.boolean(),
    result: targetTestResult,
    latencyMs: z.int().min(0),
  }),
}

export interface Targets {
  readonly targets: PersistentMap<string, Target>
}

/** The kind that follows from type and price; `delivery` has no price and books no revenue. */
export function targetKindOf({ type, revenueCents }: Pick<Target, 'type' | 'revenueCents'>): TargetKind {
  if (type === 'rtb') return 'external_rtb'
  return revenueCents ? 'static' : 'delivery'
}

/** Where a target's calls or pings go: E.164, SIP address or bid URL; null while it has none. */
export function destinationOf({ endpoint, rtb }: Pick<Target, 'endpoint' | 'rtb'>): string | null {
  return endpoint?.destinationE164 ?? endpoint?.sipUri ?? rtb?.bidUrl ?? null
}

/** A target with the time of its last test. Its configuration does not change. */
export function withHealthCheck<T extends Pick<Target, 'endpoint'>>(target: T, at: string): T {
  return { ...target, endpoint: target.endpoint && { ...target.endpoint, lastHealthCheckAt: at } }
}

/** 409: the target has no destination. */
export function refuseNoDestination() {
  return refuse(
    'conflict',
    { destination: 'Required before the target can take calls.' },
    'The target has no destination. Set one before it takes calls.',
  )
}

const updateTarget = createRecordUpdate<Target, 'targets'>('targets')

export const evolveTargets: SliceOf<Targets, Omit<typeof targetEvents, 'TargetStatusChanged'>> = {
  TargetTested: (state, { data }) => updateTarget(state, data.targetId, (old) => withHealthCheck(old, data.occurredAt)),
  TargetCreated: (state, { data }) => ({ ...state, targets: state.targets.set(data.target.id, data.target) }),
  TargetChanged: (state, { data, meta }) =>
    updateTarget(state, data.targetId, (old) => applyPatch({ ...old, updatedAt: meta.at }, data.after)),
}

/** The settings of a new target (Supplement §5), in the workspace's time zone. */
export function defaultTarget(
  type: Target['type'],
  name: string,
  { buyerId, endpointId, zone }: { readonly buyerId: string; readonly endpointId: string; readonly zone: string },
): TargetSettings {
  return {
    name,
    externalRef: null,
    buyerId,
    revenueCents: type === 'rtb' ? null : 0,
    durationThresholdSeconds: 0,
    concurrencyCap: 0,
    hourlyCap: 0,
    dailyCap: 0,
    monthlyCap: 0,
    totalCap: 0,
    dailyRevenueCapCents: 0,
    capCountsOn: 'connected',
    states: [],
    timezone: zoneOrUtc(zone),
    hoursSchedule: null,
    dedupeWindowSeconds: 0,
    tagFilters: [],
    endpoint: type === 'rtb' ? null : defaultEndpoint(endpointId, type === 'sip' ? 'sip' : 'pstn'),
    rtb: type === 'rtb' ? DEFAULT_RTB : null,
  }
}

/** The settings after a request. Dial settings for an rtb target, and bidding settings for any other, are ignored. */
export function applyTargetInput(
  settings: TargetSettings,
  { hoursSchedule, endpoint, rtb, states, ...input }: TargetInput,
): TargetSettings {
  const next = applyPatch(settings, {
    ...input,
    states: states === undefined ? undefined : normalizeStates(states ?? []),
    endpoint: settings.endpoint && endpoint && applyPatch(settings.endpoint, endpoint),
    rtb: settings.rtb && rtb && applyPatch(settings.rtb, rtb),
  })
  const zones = { input: undefined, record: next.timezone }
  return { ...next, hoursSchedule: patchSchedule(settings.hoursSchedule, hoursSchedule, zones) }
}

/** Number of targets that count against the plan's limit. */
export function targetCount({ targets }: Targets): number {
  return targets.count(({ status }) => status !== 'archived')
}

/** Ids of the campaigns whose routing plan contains a target. */
export function campaignsRoutingTo(
  { routes }: { readonly routes: PersistentMap<string, PersistentMap<string, unknown>> },
  targetId: string,
): readonly string[] {
  return [...routes.filter((plan) => plan.has(targetId)).keys()]
}
