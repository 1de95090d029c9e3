/**
 * The state of the model of the call engine: plain mutable records, written from the documents and not from the code.
 * Records are identified by name; instants are milliseconds since the epoch in UTC.
 */

import type { createCapNotices } from '../oracle/cap-notices.ts'
import type { OfferModel, PingModel } from './auction-state.ts'
import type { PayoutModel, PlannedModel, TermsModel } from './terms-state.ts'

export type CountsOn = 'claimed' | 'connected' | 'converted'
export type DialEnd = 'no_answer' | 'busy' | 'rejected' | 'failed'

export interface ScheduleModel {
  readonly tz: string
  readonly days: Readonly<Record<string, readonly (readonly [string, string])[]>>
}

interface CapsModel {
  concurrencyCap: number
  hourlyCap: number
  dailyCap: number
  monthlyCap: number
  dailyRevenueCapCents: number
}

export interface BuyerModel extends CapsModel {
  readonly name: string
  status: 'active' | 'paused'
}

export interface TagFilterModel {
  readonly key: string
  readonly op: 'eq' | 'neq' | 'in' | 'nin' | 'exists' | 'missing' | 'prefix'
  readonly value: string | readonly string[] | null
}

export interface TargetModel extends CapsModel {
  readonly name: string
  readonly buyer: string
  status: 'active' | 'paused'
  revenueCents: number
  durationThresholdSeconds: number
  totalCap: number
  capCountsOn: CountsOn
  states: readonly string[]
  hoursSchedule: ScheduleModel | null
  ringTimeoutSeconds: number | null
  dedupeWindowSeconds: number
  tagFilters: readonly TagFilterModel[]
}

export interface CampaignModel {
  readonly name: string
  status: 'live' | 'paused'
  routingMode: 'priority' | 'weighted' | 'highest_bid'
  repeatCallerPolicy: 'allow' | 'block' | 'same_target'
  anonymousPolicy: 'allow' | 'block'
  unroutedAction: 'hangup' | 'message' | 'forward'
  bufferSeconds: number
  dialTimeoutSeconds: number
  failoverBudgetSeconds: number
  dedupeWindowSeconds: number
  dailyCap: number
  concurrencyCap: number
  hoursSchedule: ScheduleModel | null
  states: readonly string[]
  payout: PayoutModel
}

export interface LaneModel extends Omit<PayoutModel, 'mode'> {
  readonly campaign: string
  readonly publisher: string
  active: boolean
  payoutMode: 'inherit' | 'fixed' | 'revshare'
  bufferSeconds: number | null
  hourlyCap: number
  dailyCap: number
  monthlyCap: number
  concurrencyCap: number
  dailyPayoutCapCents: number
  blockWhenCapped: boolean
  dedupeWindowSeconds: number
  states: readonly string[] | null
  hoursSchedule: ScheduleModel | null
}

export interface RouteModel {
  readonly campaign: string
  readonly target: string
  priority: number
  weight: number
  active: boolean
  revenueOverrideCents: number | null
  /** Routes are numbered in the order of their creation. */
  readonly made: number
}

/** One dial. */
export interface ClaimModel extends PlannedModel {
  readonly attempt: number
  readonly buyer: string
  readonly at: number
  readonly ringSeconds: number
  readonly countsOn: CountsOn
  outcome: 'ringing' | 'answered' | 'abandoned' | DialEnd
  rangSeconds: number
  /** Its place among all answers; null before an answer. */
  answerNo: number | null
  /** Whether the target's caps were reset after the dial. */
  capsReset: boolean
}

export interface CorrectionsModel {
  readonly converted?: boolean
  readonly revenueCents?: number
  readonly payoutCents?: number
}

/** The failed dials of a target since a call last connected, and its suppression. */
export interface HealthModel {
  failures: number
  suppression: { readonly from: number; readonly until: number } | null
}

export interface CallModel {
  readonly id: string
  readonly ref: string
  readonly dialed: string
  readonly caller: string | null
  readonly callerState: string | null
  readonly campaign: string | null
  readonly publisher: string | null
  readonly attribution: string
  /** The offer that it claimed. */
  readonly offer: OfferModel | null
  readonly at: number
  /** When the platform received the arrival. */
  readonly heardAt: number
  readonly admitted: boolean
  readonly terms: TermsModel
  readonly routing: Pick<CampaignModel, 'dialTimeoutSeconds' | 'states' | 'unroutedAction'> & {
    readonly deadline: number
  }
  /** The rest of the plan. */
  plan: readonly PlannedModel[]
  /** Targets that were at their concurrency limit when the plan was made. */
  busyAtFirst: readonly string[]
  readonly claims: ClaimModel[]
  /** The reasons for skipped targets. */
  readonly skips: string[]
  unrouted: string | null
  answeredAt: number | null
  end: {
    readonly at: number
    readonly by: string
    readonly status: string
    readonly talkSeconds: number
    /** Its place among all ends. */
    readonly no: number
  } | null
  /** Tags at the arrival, which filters use, and present tags. */
  readonly arrivalTags: Readonly<Record<string, string>>
  tags: Readonly<Record<string, string>>
  /** The posted conversions, oldest first. */
  readonly posts: {
    readonly source: string
    readonly revenueCents: number | null
    readonly externalId: string | null
  }[]
  /** Figures corrected by a user or a key. */
  corrections: CorrectionsModel
  settledAt: number | null
  convertedAt: number | null
  source: string | null
  converted: boolean
  revenueCents: number
  payoutCents: number
  usageCents: number
  usageChargedAt: number | null
}

export interface Model {
  now: number
  subscription: 'active' | 'past_due' | 'canceled'
  plan: 'starter' | 'growth' | 'scale'
  balanceCents: number
  readonly buyers: Map<string, BuyerModel>
  readonly targets: Map<string, TargetModel>
  readonly campaigns: Map<string, CampaignModel>
  readonly publishers: Map<string, { status: 'live' | 'paused' }>
  readonly lanes: Map<string, LaneModel>
  readonly routes: Map<string, RouteModel>
  routesMade: number
  /** Tracking numbers with their campaign and publisher. */
  readonly numbers: ReadonlyMap<string, { readonly campaign: string | null; readonly publisher: string | null }>
  /** Blocked callers, as `caller` or `caller on campaign`. */
  readonly blocked: Set<string>
  readonly calls: CallModel[]
  readonly pings: PingModel[]
  readonly offers: OfferModel[]
  /** What posts came to, as text. */
  readonly posts: string[]
  /** Health of each target that was dialled. */
  readonly health: Map<string, HealthModel>
  /** The cap notices that have fallen due. */
  readonly capNotices: ReturnType<typeof createCapNotices>
  /** Every notice of a reached cap or of a target that went down, as text. */
  readonly notices: string[]
  /** Counts answers and ends, to order those of one instant. */
  ticks: number
}

/** A value that must exist. @throws Error when it does not */
export function need<Value>(values: ReadonlyMap<string, Value>, name: string): Value {
  const value = values.get(name)
  if (value === undefined) throw new Error(`The model has no ${name}.`)
  return value
}

export const laneName = (campaign: string, publisher: string) => `${campaign}/${publisher}`
export const routeName = (campaign: string, target: string) => `${campaign}>${target}`
export const blockName = (caller: string, campaign: string | null) => (campaign ? `${caller} on ${campaign}` : caller)

const instants = new Map<number, string>()
const INSTANTS_KEPT = 10_000

/** An instant as ISO 8601 text. The latest ones are cached, since every figure is counted over them. */
export function iso(ms: number): string {
  const known = instants.get(ms)
  if (known !== undefined) return known
  if (instants.size >= INSTANTS_KEPT) instants.clear()
  const instant = new Date(ms).toISOString()
  instants.set(ms, instant)
  return instant
}
export const hourOf = (ms: number) => iso(ms).slice(0, 'YYYY-MM-DDTHH'.length)
export const dayOf = (ms: number) => iso(ms).slice(0, 'YYYY-MM-DD'.length)
export const monthOf = (ms: number) => iso(ms).slice(0, 'YYYY-MM'.length)
