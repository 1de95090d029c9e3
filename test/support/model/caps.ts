import { centsByDay, countedSlots, inWindows, type Subject } from './counts.ts'
import { type ClaimModel, dayOf, hourOf, type Model, monthOf, need } from './state.ts'

/** Caps that a target or its buyer has, by the window that they are for. */
function capsOf(model: Model, { kind, name }: Subject) {
  const { hourlyCap, dailyCap, monthlyCap, dailyRevenueCapCents } = need<{
    readonly hourlyCap: number
    readonly dailyCap: number
    readonly monthlyCap: number
    readonly dailyRevenueCapCents: number
  }>(kind === 'target' ? model.targets : model.buyers, name)
  const totalCap = kind === 'target' ? need(model.targets, name).totalCap : 0
  return { hourlyCap, dailyCap, monthlyCap, totalCap, dailyRevenueCapCents }
}

/** Tells of a cap once for its window, and again only when the cap has become another one. */
function notify(model: Model, subject: Subject, window: string, cap: number, count: number): void {
  const name = `${subject.kind} ${subject.name} ${window}`
  if (cap === 0 || count < cap || model.notifiedCaps.get(name) === cap) return
  model.notifiedCaps.set(name, cap)
  model.notices.push(`${name}: ${count} of ${cap}`)
}

const subjectsOf = ({ target, buyer, capsReset }: ClaimModel): readonly Subject[] => [
  ...(capsReset ? [] : [{ kind: 'target', name: target } as const]),
  { kind: 'buyer', name: buyer },
]

/** A dial has just come to count: caps that it reaches are told of (Document 2, `target.capped`). */
export function notifyCallCaps(model: Model, claim: ClaimModel): void {
  for (const subject of subjectsOf(claim)) {
    const { hour, day, month, total } = inWindows(countedSlots(model, subject), claim.at)
    const { hourlyCap, dailyCap, monthlyCap, totalCap } = capsOf(model, subject)
    notify(model, subject, `hourly ${hourOf(claim.at)}`, hourlyCap, hour)
    notify(model, subject, `daily ${dayOf(claim.at)}`, dailyCap, day)
    notify(model, subject, `monthly ${monthOf(claim.at)}`, monthlyCap, month)
    notify(model, subject, 'lifetime', totalCap, total)
  }
}

/** Revenue has just been added in the day of a settlement. */
export function notifyRevenueCap(model: Model, claim: ClaimModel, settledAt: number): void {
  for (const subject of subjectsOf(claim)) {
    const day = dayOf(settledAt)
    const { dailyRevenueCapCents } = capsOf(model, subject)
    notify(model, subject, `daily revenue ${day}`, dailyRevenueCapCents, centsByDay(model, subject).get(day) ?? 0)
  }
}

/** A target's caps were reset: its windows start anew. */
export function clearNotified(model: Model, target: string): void {
  for (const name of model.notifiedCaps.keys())
    if (name.startsWith(`target ${target} `)) model.notifiedCaps.delete(name)
}
