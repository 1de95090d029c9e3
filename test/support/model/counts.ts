import { type CallModel, type ClaimModel, dayOf, hourOf, type Model, monthOf } from './state.ts'

/** Nothing is counted beforehand: every figure is looked up among all calls, whenever it is asked for. */

/** What is counted: a target's or a buyer's dials, a campaign's or a lane's admissions. */
export interface Subject {
  readonly kind: 'target' | 'buyer' | 'campaign' | 'lane'
  readonly name: string
}

interface Slot {
  readonly at: number
}

const isOn = ({ kind, name }: Subject, call: CallModel) =>
  kind === 'campaign' ? call.campaign === name : `${call.campaign}/${call.publisher}` === name

const isFor = ({ kind, name }: Subject, claim: ClaimModel) => (kind === 'target' ? claim.target : claim.buyer) === name

/** Dials that a target or buyer may count. A reset of a target's caps forgives it what was dialled before. */
function dialsOf({ calls }: Model, subject: Subject) {
  return calls.flatMap((call) =>
    call.claims
      .filter((claim) => isFor(subject, claim) && !(subject.kind === 'target' && claim.capsReset))
      .map((claim) => ({ call, claim })),
  )
}

/** Whether a dial counts against call caps (Document 1, `capCountsOn`). */
function isCounted(call: CallModel, { countsOn, outcome }: ClaimModel): boolean {
  if (countsOn === 'claimed') return true
  if (outcome !== 'answered') return false
  return countsOn === 'connected' || (call.settledAt !== null && call.converted)
}

/** Whether it is still open if a dial will count: until then it holds its slot (Supplement §6, Call caps). */
function isOpen(call: CallModel, { outcome }: ClaimModel): boolean {
  return outcome === 'ringing' || (outcome === 'answered' && call.settledAt === null)
}

const admittedCalls = ({ calls }: Model, subject: Subject) =>
  calls.filter((call) => call.admitted && isOn(subject, call))

/** Slots that are counted for good: what `usage` shows. */
export function countedSlots(model: Model, subject: Subject): readonly Slot[] {
  if (subject.kind === 'campaign' || subject.kind === 'lane') return admittedCalls(model, subject)
  return dialsOf(model, subject).flatMap(({ call, claim }) => (isCounted(call, claim) ? [claim] : []))
}

/** Slots that are taken: counted for good, or held until it is known. Caps are judged by these. */
export function takenSlots(model: Model, subject: Subject): readonly Slot[] {
  if (subject.kind === 'campaign' || subject.kind === 'lane') return admittedCalls(model, subject)
  return dialsOf(model, subject).flatMap(({ call, claim }) =>
    isCounted(call, claim) || isOpen(call, claim) ? [claim] : [],
  )
}

/** Calls on it now. */
export function liveCalls({ calls }: Model, subject: Subject): number {
  return calls.filter((call) => {
    if (!call.admitted || call.end) return false
    if (subject.kind === 'campaign' || subject.kind === 'lane') return isOn(subject, call)
    return call.claims.some((claim) => isFor(subject, claim) && ['ringing', 'answered'].includes(claim.outcome))
  }).length
}

/** Revenue of a target or buyer, payout of a lane, by the UTC day of the settlement. */
export function centsByDay(model: Model, subject: Subject): ReadonlyMap<string, number> {
  const days = new Map<string, number>()
  const add = (call: CallModel, cents: number) => {
    if (call.settledAt === null) return
    const day = dayOf(call.settledAt)
    days.set(day, (days.get(day) ?? 0) + cents)
  }
  if (subject.kind === 'lane') {
    for (const call of model.calls.filter((each) => isOn(subject, each))) add(call, call.payoutCents)
  } else if (subject.kind !== 'campaign') {
    for (const { call, claim } of dialsOf(model, subject))
      if (claim.outcome === 'answered') add(call, call.revenueCents)
  }
  return days
}

/** How many slots lie in the hour, day and month of an instant, and in all. */
export function inWindows(slots: readonly Slot[], at: number) {
  return {
    hour: slots.filter((slot) => hourOf(slot.at) === hourOf(at)).length,
    day: slots.filter((slot) => dayOf(slot.at) === dayOf(at)).length,
    month: slots.filter((slot) => monthOf(slot.at) === monthOf(at)).length,
    total: slots.length,
  }
}

/** How many slots lie in each window that there is, by its name: `2026-11-21T07`, `2026-11-21`, `2026-11`. */
export function byWindow(slots: readonly Slot[]): ReadonlyMap<string, number> {
  const windows = new Map<string, number>()
  for (const { at } of slots) {
    for (const window of [hourOf(at), dayOf(at), monthOf(at)]) windows.set(window, (windows.get(window) ?? 0) + 1)
  }
  return windows
}
