import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countAnswer } from '../../../commands/routing/count-answer.ts'
import { releaseCall } from '../../../commands/routing/release-call.ts'
import { routeCall } from '../../../commands/routing/route-call.ts'
import { callerMemory } from '../../../projections/routing/caller-memory.ts'
import { type LedgerState, ledger } from '../../../src/domain/routing/ledger.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { NewEvent, RecordedEvent } from '../../../src/kernel/event.ts'
import { upcasts } from '../../../src/main/registry.ts'
import { applyPending } from '../../../src/runtime/projections/apply-pending.ts'
import { emptyFold, type Fold, foldEvents } from '../../../src/runtime/write/fold.ts'
import {
  anotherTarget,
  callWorld,
  changeSteps,
  DIALED,
  instantAfter,
  nthCallId,
} from '../../support/fixtures/call-world.ts'
import { idOf, recordedEvents, WORKSPACE } from '../../support/fixtures/spec.ts'

const HOUR = 3_600
/** Maximum lag of the projection, by recorded time: the fold covers an hour. */
const LAG = 50 * 60

/** A ledger whose fold drops old entries, with a projection that lags. */
function ledgerOver(world: ReturnType<typeof callWorld>) {
  let fold: Fold<LedgerState> = emptyFold(ledger)
  const events: RecordedEvent[] = []

  function give(command: AnyCommand, input: unknown, seconds: number): readonly RecordedEvent[] {
    const now = instantAfter(seconds)
    const passed = events.filter(({ meta }) => meta.at <= instantAfter(seconds - LAG))
    const outcome = command.decide(command.input.parse(input), fold.state, {
      now,
      workspaceId: WORKSPACE,
      actor: { type: 'system', id: null, name: 'Law' },
      commandId: 'command',
      newId: () => idOf(1),
      seed: 1,
      reads: world.reads,
      revisions: {},
      lookUp: (memory, id) =>
        memory.name === callerMemory.name
          ? memory.doc.nullable().parse(applyPending(callerMemory, id, null, passed, upcasts)?.doc ?? null)
          : null,
    }) as readonly NewEvent[]
    const written = recordedEvents(ledger, outcome, { from: fold.revision + 1, at: now })
    fold = foldEvents(ledger, fold, written)
    events.push(...written)
    return written
  }
  return give
}

const visit = fc.record({
  /** Since the previous visit. */
  seconds: fc.constantFrom(0, 60, HOUR - 1, HOUR, 2 * HOUR, 3 * HOUR, 30 * HOUR, 40 * 24 * HOUR),
  caller: fc.constantFrom('+14155550199', '+12125550100', null),
  answered: fc.boolean(),
})
const window = fc.constantFrom(0, 61, HOUR, 2 * HOUR - 1, 24 * HOUR, 90 * 24 * HOUR)

describe('repeat and duplicate callers', () => {
  it('are recognized exactly at any age, though the ledger drops entries and the projection lags', () =>
    fc.assert(
      fc.property(
        fc.array(visit, { minLength: 1, maxLength: 12 }),
        fc.record({ campaign: window, lane: window, target: window }),
        (visits, windows) => {
          const world = callWorld(
            changeSteps.campaign({ repeatCallerPolicy: 'block', dedupeWindowSeconds: windows.campaign }),
            changeSteps.lane({ dedupeWindowSeconds: windows.lane }),
            changeSteps.target({ dedupeWindowSeconds: windows.target }),
            ...anotherTarget(1, {}, { priority: 200 }),
          )
          const give = ledgerOver(world)
          const admitted: [string, number][] = []
          const connected: [string, number][] = []
          const within = (seen: readonly [string, number][], caller: string | null, now: number, seconds: number) =>
            seen.some(([who, at]) => who === caller && now - at < seconds)
          let now = 0
          visits.forEach(({ seconds, caller, answered }, n) => {
            now += seconds
            const [callId, occurredAt] = [nthCallId(n), instantAfter(now)]
            const [event] = give(
              routeCall,
              { callId, carrierCallId: `carrier-${n}`, to: DIALED, caller, occurredAt },
              now,
            )
            const repeat = within(admitted, caller, now, windows.campaign)
            expect(event?.type).toBe(repeat ? 'CallRefused' : 'CallAdmitted')
            if (repeat) return
            const { terms, skipped, claim } = ledgerEvents.CallAdmitted.parse(event?.data)
            expect(terms.payoutWithheld).toBe(within(admitted, caller, now, windows.lane) ? 'duplicate' : null)
            const reasons = within(connected, caller, now, windows.target) ? ['duplicate'] : []
            expect(skipped.map(({ reason }) => reason)).toEqual(reasons)
            if (caller) admitted.push([caller, now])
            if (answered) give(countAnswer, { callId, attempt: 1, occurredAt }, now)
            if (answered && caller && claim?.target.id === world.targetId()) connected.push([caller, now])
            give(releaseCall, { callId, connected: answered, occurredAt }, now)
          })
        },
      ),
      { numRuns: 60 },
    ))
})
