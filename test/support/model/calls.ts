import { usageCentsOf } from '../oracle/money.ts'
import { answeredClaim, writeBooks } from './books.ts'
import { notifyCallCaps } from './caps.ts'
import { skipReason } from './eligibility.ts'
import { addFailure, type FailureCode, resetHealth } from './health.ts'
import { expireOffers } from './offers.ts'
import { type CallModel, type ClaimModel, type DialEnd, type Model, need } from './state.ts'

/** The result of a search for a target. */
export interface SearchModel {
  readonly skipped: readonly (readonly [string, string])[]
  readonly unrouted: string | null
}

const SECOND = 1_000
const HOUR = 3_600_000
/** Seconds after its end at which the usage of a call is charged. */
const USAGE_AFTER = 120
/** Hours after which a call without an end is ended by the platform. */
const LONGEST_CALL = 4

/** Takes the first target of the plan that is eligible. Skipped targets leave the plan. */
function search(model: Model, call: CallModel, at: number): SearchModel {
  const skipped: (readonly [string, string])[] = []
  const left = Math.floor((call.routing.deadline - at) / SECOND)
  const dialled = call.claims.length
  if (dialled > 0 && left < 1) return endSearch(call, skipped)
  while (call.plan[0]) {
    const [planned, ...rest] = call.plan
    call.plan = rest
    const reason = skipReason(model, planned.target, { call, at })
    if (reason !== null) {
      skipped.push([planned.target, reason])
      call.skips.push(reason)
      continue
    }
    const { buyer, capCountsOn, ringTimeoutSeconds } = need(model.targets, planned.target)
    const claim: ClaimModel = {
      ...planned,
      attempt: dialled + 1,
      buyer,
      at,
      ringSeconds: Math.min(ringTimeoutSeconds ?? call.routing.dialTimeoutSeconds, left),
      countsOn: capCountsOn,
      outcome: 'ringing',
      rangSeconds: 0,
      answerNo: null,
      capsReset: false,
    }
    call.claims.push(claim)
    if (capCountsOn === 'claimed') notifyCallCaps(model, claim)
    return { skipped, unrouted: null }
  }
  return endSearch(call, skipped)
}

/**
 * The first search checks the whole plan: ineligible targets leave it, even those behind the claimed one. Those at their
 * concurrency limit come once more after all others (Supplement §6, Dial).
 */
export function planAndSearch(model: Model, call: CallModel, at: number): SearchModel {
  const whole = call.plan
  const reasons = new Map(call.plan.map(({ target }) => [target, skipReason(model, target, { call, at })]))
  const found = search(model, call, at)
  const out = call.plan.flatMap(({ target }) => {
    const reason = reasons.get(target) ?? null
    return reason === null ? [] : [[target, reason] as const]
  })
  const busy = whole.filter(({ target }) => reasons.get(target) === 'concurrency')
  call.busyAtFirst = busy.map(({ target }) => target)
  call.plan = [...call.plan.filter(({ target }) => (reasons.get(target) ?? null) === null), ...busy]
  call.skips.push(...out.map(([, reason]) => reason))
  return { ...found, skipped: [...found.skipped, ...out] }
}

function endSearch(call: CallModel, skipped: SearchModel['skipped']): SearchModel {
  const none = skipped.every(([, reason]) => reason === 'paused') ? 'no_targets' : 'no_eligible_target'
  call.unrouted = call.claims.length > 0 ? 'all_targets_failed' : none
  return { skipped, unrouted: call.unrouted }
}

const roundedSeconds = (ms: number) => Math.max(0, Math.round(ms / SECOND))

/** The ringing dial. */
export function ringingClaim(call: CallModel) {
  return call.claims.find(({ outcome }) => outcome === 'ringing') ?? null
}

/** How a dial failed. */
export interface FailureModel extends FailureCode {
  readonly outcome: DialEnd
}

/** The ringing dial fails: its slot is freed before the search goes on. */
export function fail(model: Model, call: CallModel, failure: FailureModel, at: number): SearchModel {
  const claim = ringingClaim(call)
  if (!claim) throw new Error('Nothing rings.')
  claim.outcome = failure.outcome
  claim.rangSeconds = roundedSeconds(at - claim.at)
  addFailure(model, claim.target, failure, at)
  return search(model, call, at)
}

/** A buyer answers the call. */
export function answer(model: Model, call: CallModel, at: number): void {
  const claim = ringingClaim(call)
  if (!claim) throw new Error('Nothing rings.')
  claim.outcome = 'answered'
  claim.rangSeconds = roundedSeconds(at - claim.at)
  claim.answerNo = model.ticks++
  call.answeredAt = at
  resetHealth(model, claim.target)
  if (claim.countsOn === 'connected') notifyCallCaps(model, claim)
}

function statusAtEnd(call: CallModel, killed: boolean): string {
  if (killed) return 'terminated'
  if (answeredClaim(call)) return 'completed'
  if (call.unrouted === null) return 'abandoned'
  if (call.unrouted !== 'all_targets_failed' || call.routing.unroutedAction === 'forward') return 'rejected'
  return call.claims.at(-1)?.outcome ?? 'failed'
}

/** The call ends. `catchUp` does what is due afterwards. */
export function hangUp(model: Model, call: CallModel, by: string, at: number, killed = false): void {
  const claim = ringingClaim(call)
  if (claim) {
    claim.outcome = 'abandoned'
    claim.rangSeconds = roundedSeconds(at - claim.at)
  }
  const talkSeconds = call.answeredAt === null ? 0 : roundedSeconds(at - call.answeredAt)
  call.end = { at, by, status: statusAtEnd(call, killed), talkSeconds, no: model.ticks++ }
  call.usageCents = usageCentsOf(talkSeconds, call.terms.usageRateCents)
}

/** When the books of a call are settled: after the buffer, or at once if nobody answered. */
export function settlesAt(call: CallModel): number | null {
  if (!call.end) return null
  return call.end.at + (answeredClaim(call) ? call.terms.bufferSeconds * SECOND : 0)
}

/** Does what is due: ends posted offers and stuck calls, settles ended ones once, and charges their usage once. */
export function catchUp(model: Model): void {
  expireOffers(model)
  const stuckAt = (call: CallModel) => Math.max(call.at, call.heardAt) + LONGEST_CALL * HOUR
  const stuck = model.calls.filter((call) => !call.end && stuckAt(call) <= model.now)
  for (const call of stuck.toSorted((one, other) => stuckAt(one) - stuckAt(other))) {
    hangUp(model, call, 'platform', stuckAt(call), true)
  }
  const open = model.calls.filter((call) => call.settledAt === null && (settlesAt(call) ?? model.now + 1) <= model.now)
  const dueAt = (call: CallModel) => settlesAt(call) ?? 0
  for (const call of open.toSorted((one, other) => dueAt(one) - dueAt(other) || endNo(one) - endNo(other))) {
    call.settledAt = dueAt(call)
    writeBooks(model, call, call.settledAt)
  }
  for (const call of model.calls) {
    const chargedAt = call.end && answeredClaim(call) ? call.end.at + USAGE_AFTER * SECOND : null
    if (chargedAt === null || chargedAt > model.now || call.usageChargedAt !== null || call.usageCents === 0) continue
    call.usageChargedAt = chargedAt
    model.balanceCents -= call.usageCents
  }
}

const endNo = ({ end }: CallModel) => end?.no ?? 0
