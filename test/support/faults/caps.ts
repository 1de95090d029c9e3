import { ledgerEvents } from '../../../src/domain/routing/ledger.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import type { CapLimits } from './world.ts'

const day = (instant: string) => instant.slice(0, 10)

type Claimed = {
  readonly target: { readonly id: string }
  readonly buyer: { readonly id: string }
  readonly occurredAt: string
  readonly capCountsOn: string
}

/** Follows the ledger in its order, without its own counters, and tells of every moment that a cap was passed. */
export function capsPassed(events: readonly RecordedEvent[], caps: readonly CapLimits[]): readonly string[] {
  const capOf = new Map(caps.map((one) => [`${one.kind}:${one.id}`, one]))
  const live = new Map<string, Set<string>>()
  const days = new Map<string, Set<string>>()
  const held = new Map<string, Claimed>()
  const passed: string[] = []
  const add = (key: string, callId: string, at: string | null) => {
    const now = live.get(key) ?? new Set()
    live.set(key, now.add(callId))
    const cap = capOf.get(key)
    if (cap?.concurrency && now.size > cap.concurrency) passed.push(`${key} had ${now.size} calls at once`)
    if (at === null || !cap?.daily) return
    const today = days.get(`${key} ${day(at)}`) ?? new Set()
    days.set(`${key} ${day(at)}`, today.add(callId))
    if (today.size > cap.daily) passed.push(`${key} took ${today.size} calls on ${day(at)}`)
  }
  const remove = (key: string, callId: string) => live.get(key)?.delete(callId)
  const claims = (callId: string, claim: Claimed) => {
    held.set(callId, claim)
    add(`target:${claim.target.id}`, callId, claim.occurredAt)
    add(`buyer:${claim.buyer.id}`, callId, null)
  }
  /** A dial that got no answer gives its slot back, unless the claim itself counts. */
  const gives = (callId: string, counted: boolean) => {
    const claim = held.get(callId)
    if (!claim) return
    held.delete(callId)
    remove(`target:${claim.target.id}`, callId)
    remove(`buyer:${claim.buyer.id}`, callId)
    if (!counted && claim.capCountsOn !== 'claimed')
      days.get(`target:${claim.target.id} ${day(claim.occurredAt)}`)?.delete(callId)
  }
  /** Where conversions count, a call's slot is what its books say: no cap holds up one that is counted by hand. */
  const counts = (callId: string, { target, occurredAt, capCountsOn }: Claimed, converted: boolean) => {
    if (capCountsOn !== 'converted') return
    const today = days.get(`target:${target.id} ${day(occurredAt)}`)
    if (converted) today?.add(callId)
    else today?.delete(callId)
  }
  const connected = new Map<string, Claimed>()
  const campaignOf = new Map<string, string>()
  for (const { type, data } of events) {
    if (type === 'CallAdmitted') {
      const { arrival, claim } = ledgerEvents.CallAdmitted.parse(data)
      const campaign = `campaign:${arrival.campaign?.id}`
      campaignOf.set(arrival.callId, campaign)
      add(campaign, arrival.callId, arrival.occurredAt)
      if (claim) claims(arrival.callId, claim)
    } else if (type === 'TargetClaimed') {
      const { callId, claim } = ledgerEvents.TargetClaimed.parse(data)
      claims(callId, claim)
    } else if (type === 'ClaimReleased') {
      gives(ledgerEvents.ClaimReleased.parse(data).callId, false)
    } else if (type === 'ClaimConnected') {
      const { callId } = ledgerEvents.ClaimConnected.parse(data)
      const claim = held.get(callId)
      if (claim) connected.set(callId, claim)
    } else if (type === 'CallReleased') {
      const { callId } = ledgerEvents.CallReleased.parse(data)
      remove(campaignOf.get(callId) ?? '', callId)
      gives(callId, connected.has(callId))
    } else if (type === 'CallCounted') {
      const { callId, converted } = ledgerEvents.CallCounted.parse(data)
      const claim = connected.get(callId)
      if (claim && !converted) counts(callId, claim, false)
    } else if (type === 'CallRecounted') {
      const { callId, before, after } = ledgerEvents.CallRecounted.parse(data)
      const claim = connected.get(callId)
      if (claim && before.converted !== after.converted) counts(callId, claim, after.converted)
    }
  }
  return passed
}

/** A cap is told to be reached once in its window; after a reset, or when it has become another one, it is told again. */
export function cappedTwice(events: readonly RecordedEvent[]): readonly string[] {
  const told = new Map<string, number>()
  const resets = new Map<string, number>()
  return events.flatMap(({ type, data }) => {
    if (type === 'TargetCapsReset') {
      const { targetId } = ledgerEvents.TargetCapsReset.parse(data)
      resets.set(targetId, (resets.get(targetId) ?? 0) + 1)
    }
    if (type !== 'TargetCapped') return []
    const { scope, window, countedAt, figures, target, buyer } = ledgerEvents.TargetCapped.parse(data)
    const id = scope === 'target' ? target.id : buyer.id
    const length = { hourly: 13, daily: 10, monthly: 7, lifetime: 0, 'daily revenue': 10 }[window]
    const cap = 'cap' in figures ? figures.cap : figures.capCents
    const key = [id, window, countedAt.slice(0, length), resets.get(id) ?? 0].join(' ')
    if (told.get(key) === cap) return [`${scope} ${id} was told twice to have reached its ${window} cap of ${cap}`]
    told.set(key, cap)
    return []
  })
}
