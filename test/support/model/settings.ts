import fc from 'fast-check'
import type { BuyerModel, CampaignModel, LaneModel, RouteModel, TagFilterModel, TargetModel } from './state.ts'
import { ZONE } from './world.ts'

/** Random settings: small caps, so that they are reached, and rules that apply sometimes. */

const WEEK = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
const every = (...windows: readonly (readonly [string, string])[]) =>
  Object.fromEntries(WEEK.map((day) => [day, windows]))

const schedule = fc.constantFrom(
  null,
  null,
  null,
  null,
  null,
  null,
  { tz: 'UTC', days: every(['09:00', '17:00']) },
  { tz: ZONE, days: every(['00:00', '24:00']) },
  { tz: ZONE, days: { ...every(['01:30', '03:00'], ['12:00', '24:00']), sat: [] } },
)
const states = fc.constantFrom([], [], [], [], [], [], [], ['CA'], ['CA', 'NY'])
const cap = fc.constantFrom(0, 0, 0, 1, 2, 3)
const cents = fc.constantFrom(0, 0, 1_000, 2_500, 4_000)
const buffer = fc.constantFrom(0, 0, 30, 3_600)

const window = fc.constantFrom(0, 0, 60, 3_600, 604_800)
const tagFilters: fc.Arbitrary<readonly TagFilterModel[]> = fc.constantFrom<readonly TagFilterModel[]>(
  [],
  [],
  [],
  [],
  [],
  [],
  [{ key: 'callerState', op: 'in', value: ['CA', 'NY'] }],
  [{ key: 'callerState', op: 'nin', value: ['CA', 'IL'] }],
  [{ key: 'publisher', op: 'missing', value: null }],
  [
    { key: 'publisher', op: 'exists', value: null },
    { key: 'publisher', op: 'neq', value: 'P1' },
  ],
  [{ key: 'callerAreaCode', op: 'prefix', value: '4' }],
  [{ key: 'dialedNumber', op: 'eq', value: '+14155550101' }],
)

const caps = {
  concurrencyCap: fc.constantFrom(0, 0, 0, 1, 2),
  hourlyCap: cap,
  dailyCap: cap,
  monthlyCap: cap,
  dailyRevenueCapCents: cents,
}

const payoutFigures = fc.oneof(
  fc.record({
    mode: fc.constant('fixed' as const),
    payoutCents: fc.constantFrom(0, 700, 1_250),
    revsharePct: fc.constant(null),
    minPayoutCents: fc.constant(null),
    maxPayoutCents: fc.constant(null),
  }),
  fc.record({
    mode: fc.constant('revshare' as const),
    payoutCents: fc.constant(null),
    revsharePct: fc.constantFrom(0, 12.5, 33.33, 100),
    minPayoutCents: fc.constantFrom(null, 400),
    maxPayoutCents: fc.constantFrom(null, 400, 900),
  }),
)
const lanePayout = payoutFigures.chain(({ mode, ...figures }) =>
  fc.constantFrom(mode, 'inherit' as const).map((payoutMode) => ({ payoutMode, ...figures })),
)

export const targetSettings = {
  revenueCents: fc.constantFrom(0, 1_000, 2_500, 3_333),
  durationThresholdSeconds: fc.constantFrom(0, 30, 60),
  ...caps,
  totalCap: fc.constantFrom(0, 0, 2, 4),
  capCountsOn: fc.constantFrom('claimed' as const, 'connected' as const, 'converted' as const),
  states,
  hoursSchedule: schedule,
  ringTimeoutSeconds: fc.constantFrom(null, 5, 30),
  dedupeWindowSeconds: window,
  tagFilters,
}
export const buyerSettings = caps
export const campaignSettings = {
  routingMode: fc.constantFrom('priority' as const, 'weighted' as const, 'highest_bid' as const),
  repeatCallerPolicy: fc.constantFrom('allow' as const, 'block' as const, 'same_target' as const),
  anonymousPolicy: fc.constantFrom('allow' as const, 'block' as const),
  unroutedAction: fc.constantFrom('hangup' as const, 'message' as const, 'forward' as const),
  bufferSeconds: buffer,
  dialTimeoutSeconds: fc.constantFrom(5, 10, 25),
  failoverBudgetSeconds: fc.constantFrom(25, 40, 90),
  dedupeWindowSeconds: window,
  dailyCap: fc.constantFrom(0, 0, 2, 4),
  concurrencyCap: fc.constantFrom(0, 0, 0, 1, 2),
  hoursSchedule: schedule,
  states,
  payout: payoutFigures,
}
export const laneSettings = {
  active: fc.constantFrom(true, true, true, true, true, true, true, false),
  bufferSeconds: fc.oneof(fc.constant(null), buffer),
  hourlyCap: cap,
  dailyCap: cap,
  monthlyCap: cap,
  concurrencyCap: fc.constantFrom(0, 0, 1),
  dailyPayoutCapCents: cents,
  blockWhenCapped: fc.boolean(),
  dedupeWindowSeconds: window,
  states: fc.oneof(fc.constant(null), states),
  hoursSchedule: schedule,
}
export const routeSettings = {
  priority: fc.constantFrom(1, 100, 100, 200),
  weight: fc.constantFrom(0, 1, 100),
  active: fc.constantFrom(true, true, false),
  revenueOverrideCents: fc.constantFrom(null, 0, 1_800),
}

type Some<Settings> = Partial<Settings>

/** Any subset of the settings. */
function someOf<Settings>(arbitraries: { readonly [K in keyof Settings]: fc.Arbitrary<Settings[K]> }) {
  return fc.record<Settings, never>(arbitraries, { requiredKeys: [] })
}

/** Random settings of each kind of record. */
export const someTarget: fc.Arbitrary<Some<TargetModel>> = someOf(targetSettings)
export const someBuyer: fc.Arbitrary<Some<BuyerModel>> = someOf(buyerSettings)
export const someCampaign: fc.Arbitrary<Some<CampaignModel>> = someOf(campaignSettings)
export const someLane: fc.Arbitrary<Some<LaneModel>> = fc
  .tuple(someOf(laneSettings), fc.option(lanePayout, { nil: {} }))
  .map(([terms, payout]) => ({ ...terms, ...payout }))
export const someRoute: fc.Arbitrary<Some<RouteModel>> = someOf(routeSettings)
