import { createCapNotices } from '../oracle/cap-notices.ts'
import type { BuyerModel, CampaignModel, LaneModel, Model, RouteModel, TargetModel } from './state.ts'
import { laneName, routeName } from './state.ts'

/** The records of every history, identified by name. */
export const BUYERS = ['B1', 'B2'] as const
export const TARGETS = [
  { name: 'T1', buyer: 'B1', type: 'number' },
  { name: 'T2', buyer: 'B1', type: 'number' },
  { name: 'T3', buyer: 'B2', type: 'sip' },
  { name: 'T4', buyer: 'B2', type: 'number' },
] as const
export const CAMPAIGNS = ['C1', 'C2'] as const
export const PUBLISHERS = ['P1', 'P2'] as const
export const LANES = [
  { campaign: 'C1', publisher: 'P1' },
  { campaign: 'C1', publisher: 'P2' },
  { campaign: 'C2', publisher: 'P1' },
] as const
export const ROUTES = [
  { campaign: 'C1', target: 'T1' },
  { campaign: 'C1', target: 'T2' },
  { campaign: 'C1', target: 'T3' },
  { campaign: 'C2', target: 'T4' },
  { campaign: 'C2', target: 'T1' },
] as const
export const NUMBERS = [
  { e164: '+14155550101', campaign: 'C1', publisher: null },
  { e164: '+14155550102', campaign: 'C1', publisher: 'P1' },
  { e164: '+14155550103', campaign: 'C1', publisher: 'P2' },
  { e164: '+14155550104', campaign: 'C2', publisher: 'P1' },
  { e164: '+14155550105', campaign: null, publisher: null },
] as const
/** From California, New York, Illinois and abroad, and one that is anonymous. */
export const CALLERS = ['+14155550199', '+12125550198', '+13125550197', '+442071234567', null] as const
export const ZONE = 'America/New_York'
export const FUNDS = 400

/** The number of a lane. */
export function numberOf(lane: { readonly campaign: string; readonly publisher: string }): string {
  const number = NUMBERS.find(({ campaign, publisher }) => campaign === lane.campaign && publisher === lane.publisher)
  if (!number) throw new Error(`The lane of ${lane.publisher} on ${lane.campaign} has no number.`)
  return number.e164
}

const CAPS = { concurrencyCap: 0, hourlyCap: 0, dailyCap: 0, monthlyCap: 0, dailyRevenueCapCents: 0 }

const buyerOf = (name: string): BuyerModel => ({ name, status: 'active', ...CAPS })

const targetOf = ({ name, buyer }: (typeof TARGETS)[number]): TargetModel => ({
  name,
  buyer,
  status: 'active',
  ...CAPS,
  totalCap: 0,
  revenueCents: 0,
  durationThresholdSeconds: 0,
  capCountsOn: 'connected',
  states: [],
  hoursSchedule: null,
  ringTimeoutSeconds: null,
  dedupeWindowSeconds: 0,
  tagFilters: [],
})

const campaignOf = (name: string): CampaignModel => ({
  name,
  status: 'live',
  routingMode: 'priority',
  repeatCallerPolicy: 'allow',
  anonymousPolicy: 'allow',
  unroutedAction: 'hangup',
  bufferSeconds: 0,
  dialTimeoutSeconds: 25,
  failoverBudgetSeconds: 90,
  dedupeWindowSeconds: 0,
  dailyCap: 0,
  concurrencyCap: 0,
  hoursSchedule: null,
  states: [],
  payout: { mode: 'revshare', payoutCents: null, revsharePct: 0, minPayoutCents: null, maxPayoutCents: null },
})

const laneOf = (lane: (typeof LANES)[number]): LaneModel => ({
  ...lane,
  active: true,
  payoutMode: 'inherit',
  payoutCents: null,
  revsharePct: null,
  minPayoutCents: null,
  maxPayoutCents: null,
  bufferSeconds: null,
  hourlyCap: 0,
  dailyCap: 0,
  monthlyCap: 0,
  concurrencyCap: 0,
  dailyPayoutCapCents: 0,
  blockWhenCapped: true,
  dedupeWindowSeconds: 0,
  states: null,
  hoursSchedule: null,
})

/** A route with its default settings (Supplement §5). */
export const newRoute = (campaign: string, target: string, made: number): RouteModel => ({
  campaign,
  target,
  priority: 100,
  weight: 100,
  active: true,
  revenueOverrideCents: null,
  made,
})

const byName = <Value extends { readonly name: string }>(values: readonly Value[]) =>
  new Map(values.map((value) => [value.name, value]))

/** Creates the model of a workspace without calls. */
export function createModel(now: number): Model {
  return {
    now,
    subscription: 'active',
    plan: 'scale',
    balanceCents: FUNDS,
    buyers: byName(BUYERS.map(buyerOf)),
    targets: byName(TARGETS.map(targetOf)),
    campaigns: byName(CAMPAIGNS.map(campaignOf)),
    publishers: new Map(PUBLISHERS.map((name) => [name, { status: 'live' }])),
    lanes: new Map(LANES.map((lane) => [laneName(lane.campaign, lane.publisher), laneOf(lane)])),
    routes: new Map(
      ROUTES.map(({ campaign, target }, made) => [routeName(campaign, target), newRoute(campaign, target, made)]),
    ),
    routesMade: ROUTES.length,
    numbers: new Map(NUMBERS.map(({ e164, campaign, publisher }) => [e164, { campaign, publisher }])),
    blocked: new Set(),
    calls: [],
    pings: [],
    offers: [],
    posts: [],
    health: new Map(),
    capNotices: createCapNotices(),
    notices: [],
    ticks: 0,
  }
}
