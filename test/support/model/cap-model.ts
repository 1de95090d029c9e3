import type { z } from 'zod'
import type { WorkspaceState } from '../../../src/domain/configuration/workspace.ts'
import type { Claim } from '../../../src/domain/routing/decision.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger.ts'
import type { CapWindow, capScope, targetCapped } from '../../../src/domain/routing/notified-caps.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'

type Scope = z.infer<typeof capScope>
type Capped = Pick<z.infer<typeof targetCapped>, 'scope' | 'window' | 'figures'> & { readonly id: string }

/** A call that may count, as the documents tell of it. */
interface Open {
  readonly claim: Pick<Claim, 'capCountsOn' | 'occurredAt'> & { readonly target: string; readonly buyer: string }
  /** The target's caps were reset since the dial. */
  reset: boolean
}

const LENGTHS: Readonly<Record<Exclude<CapWindow, 'daily revenue'>, number>> = {
  hourly: 13,
  daily: 10,
  monthly: 7,
  lifetime: 0,
}

/**
 * What a ledger's events count, written from the documents: nothing is held here, a call counts when it counts. `tell`
 * answers the caps that the events of one append reach, with the caps as they stand.
 */
export function capModel() {
  const open = new Map<string, Open>()
  const counts = new Map<string, number>()
  const told = new Map<string, number>()

  function add(key: string, by: number): number {
    const sum = (counts.get(key) ?? 0) + by
    counts.set(key, sum)
    return sum
  }

  function capOf(workspace: WorkspaceState, scope: Scope, id: string, window: CapWindow): number {
    const target = scope === 'target' ? workspace.targets.get(id) : undefined
    const caps = target ?? workspace.buyers.get(id)
    if (!caps) throw new Error(`Nobody is called ${id}.`)
    return {
      hourly: caps.hourlyCap,
      daily: caps.dailyCap,
      monthly: caps.monthlyCap,
      lifetime: target?.totalCap ?? 0,
      'daily revenue': caps.dailyRevenueCapCents,
    }[window]
  }

  function tell(workspace: WorkspaceState, events: readonly NewEvent[]): readonly Capped[] {
    const reached: Capped[] = []
    const judge = (scope: Scope, id: string, window: CapWindow, key: string, count: number) => {
      const cap = capOf(workspace, scope, id, window)
      if (cap === 0 || count < cap || told.get(key) === cap) return
      told.set(key, cap)
      const figures = window === 'daily revenue' ? { capCents: cap, cents: count } : { cap, count }
      reached.push({ scope, id, window, figures })
    }
    const each = ({ claim, reset }: Open, step: (scope: Scope, id: string) => void) => {
      if (!reset) step('target', claim.target)
      step('buyer', claim.buyer)
    }
    const count = (call: Open, by = 1) =>
      each(call, (scope, id) => {
        for (const [window, length] of Object.entries(LENGTHS)) {
          const key = `${scope} ${id} ${window} ${call.claim.occurredAt.slice(0, length)}`
          const sum = add(key, by)
          if (by > 0) judge(scope, id, window as keyof typeof LENGTHS, key, sum)
        }
      })
    const book = (call: Open, day: string, cents: number) =>
      each(call, (scope, id) => {
        const key = `${scope} ${id} revenue ${day}`
        const sum = add(key, cents)
        if (cents > 0) judge(scope, id, 'daily revenue', key, sum)
      })
    const claims = (callId: string, claim: Claim | null) => {
      if (!claim) return
      const call = { claim: { ...claim, target: claim.target.id, buyer: claim.buyer.id }, reset: false }
      open.set(callId, call)
      if (claim.capCountsOn === 'claimed') count(call)
    }
    for (const { type, data } of events) {
      if (type === 'CallAdmitted') {
        const { arrival, claim } = ledgerEvents.CallAdmitted.parse(data)
        claims(arrival.callId, claim)
      } else if (type === 'TargetClaimed') {
        const { callId, claim } = ledgerEvents.TargetClaimed.parse(data)
        claims(callId, claim)
      } else if (type === 'ClaimConnected') {
        const call = open.get(ledgerEvents.ClaimConnected.parse(data).callId)
        if (call?.claim.capCountsOn === 'connected') count(call)
      } else if (type === 'CallCounted') {
        const { callId, converted, revenueCents, occurredAt } = ledgerEvents.CallCounted.parse(data)
        const call = open.get(callId)
        if (!call) throw new Error(`${callId} is counted without a claim.`)
        if (converted && call.claim.capCountsOn === 'converted') count(call)
        book(call, occurredAt.slice(0, 10), revenueCents)
      } else if (type === 'CallRecounted') {
        const { callId, before, after, occurredAt } = ledgerEvents.CallRecounted.parse(data)
        const call = open.get(callId)
        if (!call) throw new Error(`${callId} is counted without a claim.`)
        const slots = Number(after.converted) - Number(before.converted)
        if (slots !== 0 && call.claim.capCountsOn === 'converted') count(call, slots)
        book(call, occurredAt.slice(0, 10), after.revenueCents - before.revenueCents)
      } else if (type === 'TargetCapsReset') {
        const { targetId } = ledgerEvents.TargetCapsReset.parse(data)
        for (const call of open.values()) if (call.claim.target === targetId) call.reset = true
        for (const known of [counts, told])
          for (const key of known.keys()) if (key.startsWith(`target ${targetId} `)) known.delete(key)
      }
    }
    return reached
  }

  return { tell }
}
