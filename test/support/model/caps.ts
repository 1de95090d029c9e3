import type { CapNotice, CappedSubject } from '../oracle/cap-notices.ts'
import { slotsOf } from './counts.ts'
import { type ClaimModel, iso, type Model, need } from './state.ts'

/** The subjects that count a dial: its buyer, and its target unless the target's caps were reset since. */
function subjectsOf(model: Model, { target, buyer, capsReset }: ClaimModel): readonly CappedSubject[] {
  const subject = (scope: 'target' | 'buyer', id: string): CappedSubject => {
    const slots = slotsOf(model, { kind: scope, name: id })
    return { scope, id, slots, limits: scope === 'target' ? need(model.targets, id) : need(model.buyers, id) }
  }
  return [...(capsReset ? [] : [subject('target', target)]), subject('buyer', buyer)]
}

function addNotices(model: Model, notices: readonly CapNotice[]): void {
  const worded = notices.map(
    ({ scope, id, window, name, used, limit }) => `${scope} ${id} ${`${window} ${name}`.trim()}: ${used} of ${limit}`,
  )
  model.notices.push(...worded)
}

/** A dial has just come to count: adds the notices of the caps that it reaches (Document 2, `target.capped`). */
export function notifyCallCaps(model: Model, claim: ClaimModel): void {
  for (const subject of subjectsOf(model, claim)) addNotices(model, model.capNotices.ofCall(subject, iso(claim.at)))
}

/** Revenue was just added in the day of a settlement: adds the notices of the caps that it reaches. */
export function notifyRevenueCap(model: Model, claim: ClaimModel, settledAt: number): void {
  for (const subject of subjectsOf(model, claim)) addNotices(model, model.capNotices.ofRevenue(subject, iso(settledAt)))
}
