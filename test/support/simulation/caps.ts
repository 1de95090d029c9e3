import { callEvents } from '../../../src/domain/calls/call.ts'
import { type WorkspaceState, workspace } from '../../../src/domain/configuration/workspace.ts'
import type { Claim } from '../../../src/domain/routing/decision.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { emptyFold, foldEvents } from '../../../src/runtime/write/fold.ts'
import { WORKSPACE } from '../fixtures/spec.ts'

/** Follows events as they are written, and says at once what must not be. */
export interface Observer {
  readonly see: (event: RecordedEvent) => readonly string[]
}

interface CallCaps {
  readonly hourlyCap?: number
  readonly dailyCap: number
  readonly monthlyCap?: number
  readonly totalCap?: number
  readonly concurrencyCap: number
}

/** What of the events is followed. */
const admitted = ledgerEvents.CallAdmitted.pick({ arrival: true, claim: true })
const claimOnly = ledgerEvents.TargetClaimed.pick({ callId: true, claim: true })
const ofCall = ledgerEvents.CallReleased.pick({ callId: true })
const countedCall = ledgerEvents.CallCounted.pick({ callId: true, converted: true })
const recounted = ledgerEvents.CallRecounted.pick({ callId: true, before: true, after: true })
const reset = ledgerEvents.TargetCapsReset.pick({ targetId: true })
const dialed = callEvents.TargetDialed.pick({ claim: true })

/** Lengths of what an instant begins with in its window, by the cap that counts there. */
const WINDOWS = [
  ['hourlyCap', 13],
  ['dailyCap', 10],
  ['monthlyCap', 7],
  ['totalCap', 0],
] as const

/** What is on something now, and what has been counted there: each with the instant that it counts in. */
function createPlaces() {
  const live = new Map<string, Set<string>>()
  const counted = new Map<string, Map<string, string>>()
  const at = <Value>(map: Map<string, Value>, key: string, empty: () => Value): Value => {
    const known = map.get(key) ?? empty()
    map.set(key, known)
    return known
  }
  return {
    take(key: string, id: string, instant: string) {
      at(live, key, () => new Set()).add(id)
      at(counted, key, () => new Map()).set(id, instant)
    },
    leave: (key: string, id: string) => void live.get(key)?.delete(id),
    /** Counts what was counted by hand: no cap holds that up. */
    count: (key: string, id: string, instant: string) => void at(counted, key, () => new Map()).set(id, instant),
    uncount: (key: string, id: string) => void counted.get(key)?.delete(id),
    reset: (key: string) => void counted.delete(key),
    /** What has come to pass a cap with the newest one. */
    passed(key: string, caps: CallCaps, instant: string): readonly string[] {
      const now = live.get(key)?.size ?? 0
      const counts = [...(counted.get(key)?.values() ?? [])]
      const full = WINDOWS.flatMap(([name, length]) => {
        const cap = caps[name] ?? 0
        const window = instant.slice(0, length)
        const count = counts.filter((one) => one.startsWith(window)).length
        return cap > 0 && count > cap
          ? [`${key} took ${count} calls in ${window || 'all'}, over its ${name} ${cap}`]
          : []
      })
      const crowded = caps.concurrencyCap > 0 && now > caps.concurrencyCap
      return crowded ? [...full, `${key} had ${now} calls at once, over ${caps.concurrencyCap}`] : full
    },
  }
}

/**
 * Follows claims, answers, ends and settlements without the ledger's own counters, and says where one of them passed a
 * cap that was set when it was decided. A slot is held from the claim on, and given back by what its caps count.
 */
export function followCaps(): Observer {
  const places = createPlaces()
  const states: WorkspaceState[] = []
  let fold = emptyFold(workspace)
  const claims = new Map<string, { readonly claim: Claim; connected: boolean; reset: boolean }>()
  const campaigns = new Map<string, string>()
  const keysOf = ({ target, buyer }: Claim) => [`target ${target.id}`, `buyer ${buyer.id}`]
  const idOf = (callId: string, { attempt }: Claim) => `${callId}#${attempt}`

  /** The configuration that a decision went by. */
  const configured = ({ meta }: RecordedEvent) => states[meta.reads?.[`workspace-${WORKSPACE}`] ?? -1]

  function claimed(callId: string, claim: Claim, event: RecordedEvent): readonly string[] {
    claims.set(callId, { claim, connected: false, reset: false })
    for (const key of keysOf(claim)) places.take(key, idOf(callId, claim), claim.occurredAt)
    const state = configured(event)
    const [target, buyer] = [state?.targets.get(claim.target.id), state?.buyers.get(claim.buyer.id)]
    if (!target || !buyer) return [`${callId} claimed a target that was not there`]
    const [ofTarget = '', ofBuyer = ''] = keysOf(claim)
    const paused = target.status !== 'active' || buyer.status !== 'active'
    return [
      ...(paused ? [`${callId} claimed ${ofTarget} though it or its buyer was paused`] : []),
      ...places.passed(ofTarget, target, claim.occurredAt),
      ...places.passed(ofBuyer, buyer, claim.occurredAt),
    ]
  }

  function freed(callId: string): void {
    const held = claims.get(callId)
    if (!held) return
    for (const key of keysOf(held.claim)) {
      places.leave(key, idOf(callId, held.claim))
      if (!held.connected && held.claim.capCountsOn !== 'claimed') places.uncount(key, idOf(callId, held.claim))
    }
  }

  const on: Readonly<Record<string, (event: RecordedEvent) => readonly string[] | undefined>> = {
    CallAdmitted(event) {
      const { arrival, claim } = admitted.parse(event.data)
      const { callId, campaign, occurredAt } = arrival
      const key = `campaign ${campaign?.id}`
      campaigns.set(callId, key)
      places.take(key, callId, occurredAt)
      const settings = configured(event)?.campaigns.get(campaign?.id ?? '')
      if (!settings) return [`${callId} was admitted by a campaign that was not there`]
      const passed = places.passed(key, settings, occurredAt)
      return claim ? [...passed, ...claimed(callId, claim, event)] : passed
    },
    TargetClaimed(event) {
      const { callId, claim } = claimOnly.parse(event.data)
      return claimed(callId, claim, event)
    },
    ClaimReleased: ({ data }) => void freed(ofCall.parse(data).callId),
    ClaimConnected({ data }) {
      const held = claims.get(ofCall.parse(data).callId)
      if (held) held.connected = true
    },
    CallReleased({ data }) {
      const { callId } = ofCall.parse(data)
      places.leave(campaigns.get(callId) ?? '', callId)
      freed(callId)
    },
    CallCounted({ data }) {
      const { callId, converted } = countedCall.parse(data)
      const claim = claims.get(callId)?.claim
      if (claim?.capCountsOn !== 'converted' || converted) return
      for (const key of keysOf(claim)) places.uncount(key, idOf(callId, claim))
    },
    CallRecounted({ data }) {
      const { callId, before, after } = recounted.parse(data)
      const held = claims.get(callId)
      if (held?.claim.capCountsOn !== 'converted' || before.converted === after.converted) return
      for (const key of keysOf(held.claim).slice(held.reset ? 1 : 0)) {
        if (after.converted) places.count(key, idOf(callId, held.claim), held.claim.occurredAt)
        else places.uncount(key, idOf(callId, held.claim))
      }
    },
    TargetCapsReset({ data }) {
      const { targetId } = reset.parse(data)
      places.reset(`target ${targetId}`)
      for (const held of claims.values()) if (held.claim.target.id === targetId) held.reset = true
    },
  }

  return {
    see(event) {
      if (event.type in workspace.events) {
        fold = foldEvents(workspace, fold, [event])
        states[event.revision] = fold.state
      }
      return on[event.type]?.(event) ?? []
    },
  }
}

/** Follows the calls themselves: each has one target at a time, one that answers, one end, and one settlement of its own. */
export function followCalls(): Observer {
  const once = new Set<string>()
  const ended = new Set<string>()
  const first = (what: string) => {
    if (once.has(what)) return [`${what} twice`]
    once.add(what)
    return []
  }
  const ONCE: ReadonlySet<string> = new Set([
    'CallArrived',
    'TargetAnswered',
    'CallUnrouted',
    'CallEnded',
    'CallSettled',
    'UsageCharged',
  ])
  return {
    see({ type, stream, data }) {
      if (!stream.startsWith('call-')) return []
      if (type === 'CallEnded') ended.add(stream)
      if (type === 'TargetDialed') {
        const { claim } = dialed.parse(data)
        const late = ended.has(stream) ? [`${stream} dialled after its end`] : []
        return [...late, ...first(`${stream} dialled attempt ${claim.attempt}`)]
      }
      return ONCE.has(type) ? first(`${stream} ${type}`) : []
    },
  }
}
