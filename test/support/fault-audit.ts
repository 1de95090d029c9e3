import { simulatedCallEvents } from '../../src/adapters/simulator/simulated-call.ts'
import { callEvents } from '../../src/domain/call.ts'
import { type LedgerState, ledger, ledgerEvents } from '../../src/domain/ledger.ts'
import { walletEvents } from '../../src/domain/wallet.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { type EventLog, START } from '../../src/ports/event-log.ts'
import { emptyFold, foldEvents } from '../../src/runtime/fold.ts'
import type { Caps } from './fault-world.ts'

/** What a workspace's log shows after faults. */
export interface Audit {
  readonly calls: number
  /** One sentence for each rule that was broken. */
  readonly broken: readonly string[]
  /** What is still to come, by call: empty once everything that was due has been done. */
  readonly open: readonly string[]
}

/** Every event of a workspace, in log order. */
export async function eventsOf(log: EventLog, workspaceId: string): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = []
  for (let after = START, end = false; !end; ) {
    const page = await log.readAll(after, 5_000)
    events.push(...page.events.filter(({ meta }) => meta.workspaceId === workspaceId))
    after = page.position
    end = page.end
  }
  return events
}

/** Counts by name, and the names that were counted more than once. */
function tally() {
  const counts = new Map<string, number>()
  return {
    add: (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1),
    has: (name: string) => counts.has(name),
    get: (name: string) => counts.get(name) ?? 0,
    twice: () => [...counts].filter(([, count]) => count > 1).map(([name, count]) => `${name}: ${count} times`),
  }
}

const day = (instant: string) => instant.slice(0, 10)

type Claimed = {
  readonly target: { readonly id: string }
  readonly buyer: { readonly id: string }
  readonly occurredAt: string
  readonly capCountsOn: string
}

/** Follows the ledger in its order, without its own counters, and tells of every moment that a cap was passed. */
function capsPassed(events: readonly RecordedEvent[], caps: readonly Caps[]): readonly string[] {
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
      if (claim?.capCountsOn === 'converted' && !converted) {
        days.get(`target:${claim.target.id} ${day(claim.occurredAt)}`)?.delete(callId)
      }
    }
  }
  return passed
}

/** What the ledger's own fold still holds. */
function heldBy({ counters, calls }: LedgerState): readonly string[] {
  const live = [...counters]
    .filter(([, { live }]) => live !== 0)
    .map(([key, { live }]) => `ledger ${key} has ${live} live`)
  return [...live, ...[...calls.keys()].map((callId) => `${callId} is open in the ledger`)]
}

/** Judges a workspace's events: everything once, nothing over a cap, and nothing left behind. `now` in ms. */
export function audit(
  events: readonly RecordedEvent[],
  caps: readonly Caps[],
  acknowledged: Iterable<string>,
  now: number,
): Audit {
  const seen = tally()
  const due: string[] = []
  const known: string[] = []
  const placed: string[] = []
  let balance = 0
  const broken: string[] = []
  for (const { type, data, stream } of events) {
    if (type === 'CallAdmitted' || type === 'CallRefused') {
      const { callId } = ledgerEvents[type].parse(data).arrival
      known.push(callId)
      seen.add(`known ${callId}`)
    } else if (type === 'CallArrived' || type === 'CallSettled' || type === 'UsageCharged' || type === 'CallUnrouted') {
      seen.add(`${type} ${stream}`)
    } else if (type === 'CallEnded') {
      seen.add(`CallEnded ${stream}`)
      const { callId, usageDueAt } = callEvents.CallEnded.parse(data)
      if (usageDueAt && Date.parse(usageDueAt) <= now) due.push(callId)
    } else if (type === 'TargetDialed') {
      const { callId, claim } = callEvents.TargetDialed.parse(data)
      seen.add(`dial ${callId}#${claim.attempt}`)
    } else if (type === 'SimulatedDialTaken') {
      const { commandId, attempt } = simulatedCallEvents.SimulatedDialTaken.parse(data)
      seen.add(`taken ${stream}#${attempt}`)
      seen.add(`command ${commandId}`)
    } else if (type === 'SimulatedReleaseTaken' || type === 'SimulatedCallEnded') {
      seen.add(`${type} ${stream}`)
    } else if (type === 'SimulatedCallPlaced') {
      placed.push(stream)
    } else if (type === 'WalletCharged') {
      const { reference, amountCents, balanceCents } = walletEvents.WalletCharged.parse(data)
      seen.add(`charge ${reference}`)
      balance -= amountCents
      if (balanceCents !== balance) broken.push(`The wallet shows ${balanceCents} after ${reference}, not ${balance}`)
    } else if (type === 'WalletCredited') {
      balance += walletEvents.WalletCredited.parse(data).amountCents
    }
  }
  const lost = [...acknowledged]
    .filter((callId) => !seen.has(`known ${callId}`))
    .map((callId) => `${callId} was acknowledged and is lost`)
  const undone = known.flatMap((callId) =>
    ['CallArrived', 'CallEnded', 'CallSettled']
      .filter((type) => !seen.has(`${type} call-${callId}`))
      .map((type) => `${callId} lacks ${type}`),
  )
  const unpaid = due
    .filter((callId) => !seen.has(`UsageCharged call-${callId}`))
    .map((callId) => `${callId} lacks UsageCharged`)
  const playing = placed
    .filter((stream) => !seen.has(`SimulatedCallEnded ${stream}`))
    .map((stream) => `${stream} is being played`)
  const ledgerOnly = events.filter(({ stream }) => stream.startsWith('ledger-'))
  const { state } = foldEvents(ledger, emptyFold(ledger), ledgerOnly)
  return {
    calls: known.length,
    broken: [...broken, ...seen.twice(), ...lost, ...capsPassed(ledgerOnly, caps)],
    open: [...undone, ...unpaid, ...playing, ...heldBy(state)],
  }
}
