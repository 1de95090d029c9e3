import { describe, expect, it } from 'vitest'
import { failOver } from '../../../commands/routing/fail-over.ts'
import { routeCall } from '../../../commands/routing/route-call.ts'
import { callerMemory } from '../../../projections/routing/caller-memory.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { diffDecision, ledgerDecisionInput } from '../../../src/explain/decision-diff.ts'
import { streamOf } from '../../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { upcasts } from '../../../src/main/registry.ts'
import { applyPending } from '../../../src/runtime/projections/apply-pending.ts'
import { createFoldReader, readDecisions } from '../../../src/runtime/write/decision-replay.ts'
import { anotherTarget, changeSteps, instantAfter, nthCallId } from '../../support/fixtures/call-world.ts'
import { mismatches, replayDecisions } from '../../support/fixtures/decision-replay.ts'
import { NOW, WORKSPACE } from '../../support/fixtures/spec.ts'
import {
  acceptedOutcome,
  arrival,
  createWriterFixture,
  eventsOfType,
  execute,
  seedLiveCampaign,
} from '../../support/fixtures/writer-fixture.ts'
import { createMemoryLog } from '../../support/memory/event-log.ts'

const HOUR = 3_600_000

/** A log that holds the same, but for what is done to its ledger's events. */
function tampered(log: { readonly events: readonly RecordedEvent[] }, change: (event: RecordedEvent) => RecordedEvent) {
  const events = log.events.map((event) => (event.stream.startsWith('ledger-') ? change(event) : event))
  const read = async (stream: string, from: number) =>
    events.filter((event) => event.stream === stream && event.revision >= from)
  return { ...createMemoryLog(), events, read }
}

/** Two calls of one caller, three hours apart, on a campaign that remembers callers for a day; the first fails over. */
async function played() {
  const { log, clock, lookUp, writer } = createWriterFixture()
  await seedLiveCampaign(
    log,
    changeSteps.campaign({ repeatCallerPolicy: 'block', dedupeWindowSeconds: 86_400 }),
    ...anotherTarget(1),
    changeSteps.targetStatus('paused', 1),
    ...anotherTarget(2),
  )
  lookUp.mockImplementation(async ({ name }, id) =>
    name === callerMemory.name ? (applyPending(callerMemory, id, null, log.events, upcasts)?.doc ?? null) : null,
  )
  const one = writer()
  await acceptedOutcome(execute(one, routeCall, arrival(1)))
  const failure = { sipCode: 486, retryAfterSeconds: null, occurredAt: instantAfter(5) }
  await acceptedOutcome(execute(one, failOver, { callId: nthCallId(1), attempt: 1, outcome: 'busy', ...failure }))
  for (const hour of [1, 2, 3]) {
    await clock.advance(HOUR)
    const others = { caller: `+1310555010${hour}`, occurredAt: instantAfter(hour * 3_600) }
    await acceptedOutcome(execute(one, routeCall, arrival(1 + hour, others)))
  }
  await acceptedOutcome(execute(one, routeCall, arrival(9, { occurredAt: instantAfter(3 * 3_600) })))
  return log
}

describe('a decision taken again', () => {
  it('comes out the same from the log alone, what memories answered too', async () => {
    const log = await played()
    const refused = eventsOfType(log.events, 'CallRefused')
    expect(refused).toMatchObject([{ data: { unrouted: { reason: 'repeat_blocked' } }, meta: { recalled: {} } }])
    expect(Object.values(refused[0]?.meta.recalled ?? {})).toMatchObject([null, { at: NOW }])
    const rulings = await replayDecisions(log)
    expect(rulings.map(({ received }) => received.command.name).filter((name) => name === 'fail-over')).toHaveLength(1)
    expect(rulings).toHaveLength(6)
    expect(mismatches(rulings)).toEqual([])
    const [repeated] = rulings.filter(({ decided }) => decided.events[0].type === 'CallRefused')
    expect(Object.values(repeated?.retaken.lookups ?? {})).toEqual(['none', 'found'])
    const [first] = rulings
    expect(Object.values(first?.retaken.lookups ?? {})).toEqual(['none'])
  })

  it('reads other streams as they were then', async () => {
    const log = await played()
    const revisions = eventsOfType(log.events, 'CallAdmitted')[0]?.meta.reads
    const [last] = log.events.filter(({ stream }) => stream === streamOf(workspace, WORKSPACE)).slice(-1)
    if (!last) throw new Error('There is no configuration.')
    const data = { workspaceId: WORKSPACE, from: 'active', to: 'canceled' }
    const later = { ...last, type: 'SubscriptionChanged', data }
    await log.append(last.stream, last.revision, [later])
    expect(revisions).toMatchObject({ [last.stream]: last.revision })
    expect(mismatches(await replayDecisions(log))).toEqual([])
  })

  it.each([
    [
      'a skip that was never there',
      (event: RecordedEvent) => JSON.parse(JSON.stringify(event).replaceAll('"reason":"paused"', '"reason":"closed"')),
      /fail-over at \d+: TargetClaimed\.skipped\.0\.reason: \["closed","paused"\]|route-call at \d+: CallAdmitted\.skipped/,
    ],
    [
      'another seed',
      (event: RecordedEvent) => JSON.parse(JSON.stringify(event).replace(/"seed":\d+/, '"seed":1')),
      /route-call at \d+: /,
    ],
    [
      'a memory that is gone',
      ({ meta: { recalled: _gone, ...meta }, ...event }: RecordedEvent) => ({ ...event, meta }),
      /route-call at \d+: What caller-memory\/\S+ held was not recorded\./,
    ],
    [
      'a memory that is said to have been empty',
      ({ meta: { recalled = {}, ...meta }, ...event }: RecordedEvent) => ({
        ...event,
        meta: { ...meta, recalled: Object.fromEntries(Object.keys(recalled).map((key) => [key, null])) },
      }),
      /route-call at \d+: events: \["CallRefused","CallAdmitted"\]/,
    ],
    [
      'a price',
      (event: RecordedEvent) => JSON.parse(JSON.stringify(event).replaceAll('"revenueCents":3000', '"revenueCents":1')),
      /revenueCents: \[1,3000\]/,
    ],
  ])('shows %s', async (_what, change, shown) => {
    const log = await played()
    const found = mismatches(await replayDecisions(tampered(log, change)))
    expect(found.join('\n')).toMatch(shown)
  })

  it('reports what was not recorded', async () => {
    const log = await played()
    for await (const decided of readDecisions(log, ledger, streamOf(ledger, WORKSPACE))) {
      const received = ledgerDecisionInput(decided.events)
      const [first] = decided.events
      const bare = { ...decided, events: [{ ...first, meta: { ...first.meta, reads: {} } }] as const }
      if (!received) continue
      const { problem } = await diffDecision(createFoldReader(log), { ...bare, events: [...bare.events] }, received)
      expect(problem).toBe(`At which revision ${streamOf(workspace, WORKSPACE)} was read was not recorded.`)
      return
    }
  })
})
