import { expect } from 'vitest'
import { countAnswer } from '../../commands/count-answer.ts'
import { countSettlement } from '../../commands/count-settlement.ts'
import { endCall } from '../../commands/end-call.ts'
import { failOver } from '../../commands/fail-over.ts'
import { recordAnswer } from '../../commands/record-answer.ts'
import { recordArrival } from '../../commands/record-arrival.ts'
import { recordDial } from '../../commands/record-dial.ts'
import { recordFailure } from '../../commands/record-failure.ts'
import { recordPlanSpent } from '../../commands/record-plan-spent.ts'
import { recordUsage } from '../../commands/record-usage.ts'
import { releaseCall } from '../../commands/release-call.ts'
import { routeCall } from '../../commands/route-call.ts'
import { settleCall } from '../../commands/settle-call.ts'
import { call, callEvents } from '../../src/domain/call.ts'
import type { DialOutcome } from '../../src/domain/call-facts.ts'
import { ledger } from '../../src/domain/ledger.ts'
import type { NewEvent } from '../../src/kernel/event.ts'
import { after, CALLER, type CallWorld, callOf, DIALED } from './call-world.ts'
import { given, NOW } from './spec.ts'

/** How one call goes. What is left out: a call from now, answered after three seconds, talked for a minute, all settled. */
export interface Script {
  readonly caller?: string | null
  readonly at?: string
  /** What becomes of each dial in turn, and how many seconds it rings. */
  readonly dials?: readonly (readonly ['answer' | Exclude<DialOutcome, 'abandoned'>, number])[]
  /** Seconds after the last dial's end, or after the answer, at which the call is over; null while it goes on. */
  readonly overAfter?: number | null
  readonly hungUpBy?: 'caller' | 'agent'
  /** The end's buffer and the delay of usage have passed. */
  readonly settled?: boolean
}

/** What was written while calls were played, in order. */
export interface Played {
  readonly calls: readonly NewEvent[]
  readonly ledger: readonly NewEvent[]
}

function typed(events: readonly NewEvent[], type: string): readonly unknown[] {
  return events.filter((event) => event.type === type).map(({ data }) => data)
}

/** One call after the other, the n-th with the id `callOf(n)` from 1, through the very commands that calls go through. */
export function played(world: Pick<CallWorld, 'reads'>, ...scripts: readonly Script[]): Played {
  let entries: readonly NewEvent[] = []
  const calls = scripts.map((script, index) => {
    let events: readonly NewEvent[] = []
    const callId = callOf(index + 1)
    let at = script.at ?? NOW

    const count = (taken: { readonly events: readonly NewEvent[] }) => {
      const added = taken.events.slice(entries.length)
      entries = taken.events
      for (const claimed of typed(added, 'TargetClaimed')) tell(given(call, events).when(recordDial, claimed))
      for (const spent of typed(added, 'PlanSpent')) tell(given(call, events).when(recordPlanSpent, spent))
      return added
    }
    const tell = (taken: { readonly events: readonly NewEvent[] }) => {
      const added = taken.events.slice(events.length)
      events = taken.events
      for (const booked of typed(added, 'CallSettled')) count(given(ledger, entries).when(countSettlement, booked))
      return added
    }

    const caller = script.caller === undefined ? CALLER : script.caller
    const arriving = { callId, carrierCallId: `carrier-${callId}`, to: DIALED, caller, occurredAt: at }
    const [decided] = count(given(ledger, entries).when(routeCall, arriving, { reads: world.reads }))
    tell(given(call).when(recordArrival, decided?.data))

    for (const [dial, [result, ring]] of (script.dials ?? [['answer', 3] as const]).entries()) {
      at = after(ring, at)
      const told = { callId, attempt: dial + 1, whisperAccepted: null, occurredAt: at }
      if (result === 'answer') {
        expect(tell(given(call, events).when(recordAnswer, told))).toHaveLength(1)
        count(given(ledger, entries).when(countAnswer, told))
        continue
      }
      const failed = { ...told, outcome: result, sipCode: result === 'busy' ? 486 : null, retryAfterSeconds: null }
      expect(tell(given(call, events).when(recordFailure, failed))).toHaveLength(1)
      count(given(ledger, entries).when(failOver, failed, { reads: { workspace: world.reads.workspace } }))
    }

    const { overAfter = 60, hungUpBy = 'caller', settled = true } = script
    if (overAfter === null) return events
    const over = { callId, hungUpBy, recorded: false, occurredAt: after(overAfter, at) }
    for (const data of typed(tell(given(call, events).when(endCall, over)), 'CallEnded')) {
      const ended = callEvents.CallEnded.parse(data)
      count(given(ledger, entries).when(releaseCall, ended))
      if (settled) tell(given(call, events).when(settleCall, { callId }))
      if (settled && ended.usageDueAt)
        tell(given(call, events).when(recordUsage, { ...ended, occurredAt: ended.usageDueAt }))
    }
    return events
  })
  return { calls: calls.flat(), ledger: entries }
}
