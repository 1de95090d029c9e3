import { halfUp } from '../oracle/money.ts'
import { notifyCallCaps, notifyRevenueCap } from './caps.ts'
import type { CallModel, CorrectionsModel, Model } from './state.ts'
import type { TermsModel } from './terms-state.ts'

const HOUR = 3_600_000
/** Hours after its end within which a call accepts a conversion. */
const POSTBACK_HOURS = 72

/** The payout of a converted call with this revenue (Document 1, Payout rules). */
export function payoutOf(terms: TermsModel, revenueCents: number): number {
  const { payoutMode, payoutCents, revsharePct, minPayoutCents, maxPayoutCents, payoutWithheld } = terms
  if (payoutMode === 'none' || payoutWithheld !== null) return 0
  if (payoutMode === 'fixed') return payoutCents ?? 0
  let share = halfUp((revenueCents * (revsharePct ?? 0)) / 100)
  if (minPayoutCents !== null && share < minPayoutCents) share = minPayoutCents
  if (maxPayoutCents !== null && share > maxPayoutCents) share = maxPayoutCents
  return share
}

export const answeredClaim = (call: CallModel) => call.claims.find(({ outcome }) => outcome === 'answered') ?? null

/**
 * The figures that follow from a call's talk, conversions and corrections. A call won at auction earns what was offered once it
 * has talked as long as was offered, even when the buyer does not pay (Supplement §6, Settlement).
 */
function figuresOf(call: CallModel, corrections: CorrectionsModel = call.corrections) {
  const { posts, end, terms } = call
  const last = posts.at(-1)
  const posted = posts.findLast(({ revenueCents }) => revenueCents !== null)
  const sold = answeredClaim(call)
  let source: string | null = null
  if (sold && end && end.talkSeconds >= sold.thresholdSeconds) source = 'duration'
  else if (sold && last) source = last.source
  if (corrections.converted === false) source = null
  if (corrections.converted === true && source === null) source = 'manual'
  const converted = source !== null
  const earned = converted ? (posted?.revenueCents ?? sold?.revenueCents ?? 0) : 0
  const revenueCents = corrections.revenueCents ?? earned
  const { promise } = terms
  const isPromised = promise !== null && sold !== null && end !== null && end.talkSeconds >= promise.thresholdSeconds
  const owed = isPromised ? promise.payoutCents : converted ? payoutOf(terms, revenueCents) : 0
  const payoutCents = corrections.payoutCents ?? owed
  return { converted, source, revenueCents, payoutCents }
}
type Figures = ReturnType<typeof figuresOf>

const isSame = (one: Figures, other: Figures) =>
  one.converted === other.converted && one.revenueCents === other.revenueCents && one.payoutCents === other.payoutCents

/** Updates the books of a settled call, with the notices of the caps that this reaches. */
export function writeBooks(model: Model, call: CallModel, at: number): void {
  if (call.settledAt === null) return
  const { converted, revenueCents } = call
  const figures = figuresOf(call)
  Object.assign(call, figures)
  call.convertedAt = figures.converted ? (call.convertedAt ?? at) : null
  const sold = answeredClaim(call)
  if (!sold) return
  if (sold.countsOn === 'converted' && figures.converted && !converted) notifyCallCaps(model, sold)
  if (figures.revenueCents > revenueCents) notifyRevenueCap(model, sold, call.settledAt)
}

/** A posted conversion. */
export interface Conversion {
  readonly source: 'postback' | 'manual'
  readonly revenueCents: number | null
  readonly externalId: string | null
}

/** Posts a conversion; returns the refusal, or whether a figure changed (Supplement §6, `conversion`). */
export function post(model: Model, call: CallModel, conversion: Conversion): string | boolean {
  const { end, posts } = call
  if (!end || !answeredClaim(call)) return 'conflict'
  const known = conversion.source === 'postback' ? posts.filter(({ source }) => source === 'postback') : posts
  if (known.some(({ externalId }) => externalId !== null && externalId === conversion.externalId)) return false
  const sources = new Set(posts.map(({ source }) => source))
  if (sources.has('postback') || sources.has(conversion.source)) return 'already-converted'
  if (model.now > end.at + POSTBACK_HOURS * HOUR) return 'window-closed'
  const before = figuresOf(call)
  call.posts.push(conversion)
  writeBooks(model, call, model.now)
  return !isSame(before, figuresOf(call))
}

/**
 * Corrects figures; returns the refusal or null. A corrected figure stays until it is corrected again (Supplement §6,
 * `adjust`).
 */
export function adjust(model: Model, call: CallModel, changes: CorrectionsModel): string | null {
  if (Object.keys(changes).length === 0) return 'bad-request'
  if (!call.end || ('payoutCents' in changes && call.publisher === null)) return 'conflict'
  const corrections = { ...call.corrections, ...changes }
  const after = figuresOf(call, corrections)
  if (isSame(figuresOf(call), after)) return 'bad-request'
  if (after.converted && !answeredClaim(call)) return 'conflict'
  call.corrections = corrections
  writeBooks(model, call, model.now)
  return null
}
