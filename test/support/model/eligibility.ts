import { CALL_CAPS, type Cap, isUsedUp, usedCaps } from '../oracle/slots.ts'
import { isInside, latest } from './callers.ts'
import { slotsOf } from './counts.ts'
import { isSuppressed } from './health.ts'
import { opensAt } from './hours.ts'
import {
  type BuyerModel,
  type CallModel,
  iso,
  type Model,
  need,
  type TagFilterModel,
  type TargetModel,
} from './state.ts'

/** A call that is offered to a target at an instant. */
interface EligibilityInputModel {
  readonly call: Pick<CallModel, 'callerState' | 'caller' | 'arrivalTags'> & {
    readonly routing: Pick<CallModel['routing'], 'states'>
  }
  readonly at: number
}

/** Whether the target was connected to the caller within its window. */
function hasReachedBefore(
  { calls }: Model,
  target: TargetModel,
  { call: { caller }, at }: EligibilityInputModel,
): boolean {
  if (caller === null) return false
  const reached = calls.flatMap((call) =>
    call.caller === caller && call.claims.some((claim) => claim.target === target.name && claim.outcome === 'answered')
      ? [call.answeredAt ?? 0]
      : [],
  )
  return isInside(latest(reached), target.dedupeWindowSeconds, at)
}

/** Whether a tag matches a filter. A missing tag equals nothing. */
function matchesFilter(tag: string | undefined, { op, value }: TagFilterModel): boolean {
  const values = value === null ? [] : typeof value === 'string' ? [value] : value
  if (op === 'exists') return tag !== undefined
  if (op === 'missing') return tag === undefined
  if (op === 'prefix') return tag !== undefined && values.some((begin) => tag.startsWith(begin))
  const listed = tag !== undefined && values.includes(tag)
  return op === 'eq' || op === 'in' ? listed : !listed
}

/**
 * Why a target cannot take a call at an instant: the first reason in the documented order, or null (Document 2, Skip
 * reasons).
 */
export function skipReason(model: Model, name: string, { call, at }: EligibilityInputModel): string | null {
  const target = need(model.targets, name)
  const buyer = need(model.buyers, target.buyer)
  const usedUp = (of: TargetModel | BuyerModel, caps?: readonly Cap[]) => {
    const slots = slotsOf(model, { kind: of === target ? 'target' : 'buyer', name: of.name })
    return usedCaps(slots, of, iso(at), caps ? { caps } : {}).some(isUsedUp)
  }
  const lists = [call.routing.states, target.states].filter((states) => states.length > 0)
  const reasons: readonly (readonly [string, boolean])[] = [
    ['paused', target.status === 'paused'],
    ['buyer_paused', buyer.status === 'paused'],
    ['suppressed', isSuppressed(model, name, at)],
    ['closed', !opensAt(target.hoursSchedule, at)],
    ['state', !lists.every((states) => call.callerState !== null && states.includes(call.callerState))],
    ['concurrency', usedUp(target, ['concurrencyCap'])],
    ['capped', usedUp(target, CALL_CAPS)],
    ['buyer_capped', usedUp(buyer)],
    ['spend_capped', usedUp(target, ['dailyRevenueCapCents'])],
    ['duplicate', hasReachedBefore(model, target, { call, at })],
    ['tag_filter', !target.tagFilters.every((filter) => matchesFilter(call.arrivalTags[filter.key], filter))],
  ]
  return reasons.find(([, applies]) => applies)?.[0] ?? null
}
