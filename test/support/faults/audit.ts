import { simulatedCallEvents } from '../../../src/adapters/simulator/simulated-call.ts'
import { callEvents } from '../../../src/domain/calls/call.ts'
import { walletEvents } from '../../../src/domain/money/wallet.ts'
import { type LedgerState, ledger, ledgerEvents } from '../../../src/domain/routing/ledger.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { type EventLog, START } from '../../../src/ports/event-log.ts'
import { emptyFold, foldEvents } from '../../../src/runtime/write/fold.ts'
import { cappedTwice, capsPassed } from './caps.ts'
import type { CapLimits } from './world.ts'

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

/** What the ledger's own fold still holds. */
function heldBy({ counters, calls }: LedgerState): readonly string[] {
  const live = [...counters]
    .filter(([, { live }]) => live !== 0)
    .map(([key, { live }]) => `ledger ${key} has ${live} live`)
  return [...live, ...[...calls.keys()].map((callId) => `${callId} is open in the ledger`)]
}

const ONCE_A_CALL: ReadonlySet<string> = new Set([
  'CallArrived',
  'TargetAnswered',
  'CallUnrouted',
  'CallSettled',
  'ConversionPosted',
  'UsageCharged',
])

/** Judges a workspace's events: everything once, nothing over a cap, and nothing left behind. `now` in ms. */
export function audit(
  events: readonly RecordedEvent[],
  caps: readonly CapLimits[],
  acknowledged: Iterable<string>,
  now: number,
): Audit {
  const seen = tally()
  const due: string[] = []
  const known: string[] = []
  const placed: string[] = []
  /** How often a call's books have changed, and up to which change the ledger has followed. */
  const changed = new Map<string, number>()
  const recounted = new Map<string, number>()
  let balance = 0
  const broken: string[] = []
  for (const { type, data, stream, meta } of events) {
    if (type === 'CallAdmitted' || type === 'CallRefused') {
      const { callId } = ledgerEvents[type].parse(data).arrival
      known.push(callId)
      seen.add(`known ${callId}`)
    } else if (ONCE_A_CALL.has(type)) {
      seen.add(`${type} ${stream}`)
    } else if (type === 'CallAdjusted') {
      seen.add(`adjustment ${meta.commandId} of ${stream}`)
    } else if (type === 'RecordingSaved') {
      const { recording } = callEvents.RecordingSaved.parse(data)
      seen.add(`recording ${recording.carrierRecordingId} of ${stream}`)
    } else if (type === 'BooksChanged') {
      const { callId, change } = callEvents.BooksChanged.parse(data)
      seen.add(`change ${change} of ${callId}`)
      changed.set(callId, change)
    } else if (type === 'CallCounted') {
      seen.add(`counted ${ledgerEvents.CallCounted.parse(data).callId}`)
    } else if (type === 'CallRecounted') {
      const { callId, change } = ledgerEvents.CallRecounted.parse(data)
      seen.add(`recounted ${callId} at change ${change}`)
      recounted.set(callId, Math.max(change, recounted.get(callId) ?? 0))
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
    } else if (type === 'ClaimReleased' || type === 'TargetFailureCounted') {
      const { callId, attempt } = ledgerEvents[type].parse(data)
      seen.add(`failure ${callId}#${attempt}`)
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
  const uncounted = [...changed].flatMap(([callId, change]) =>
    (recounted.get(callId) ?? 0) < change ? [`${callId} lacks CallRecounted of change ${change}`] : [],
  )
  const playing = placed
    .filter((stream) => !seen.has(`SimulatedCallEnded ${stream}`))
    .map((stream) => `${stream} is being played`)
  const ledgerOnly = events.filter(({ stream }) => stream.startsWith('ledger-'))
  const { state } = foldEvents(ledger, emptyFold(ledger), ledgerOnly)
  return {
    calls: known.length,
    broken: [...broken, ...seen.twice(), ...lost, ...capsPassed(ledgerOnly, caps), ...cappedTwice(ledgerOnly)],
    open: [...undone, ...unpaid, ...uncounted, ...playing, ...heldBy(state)],
  }
}
