import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { workspaces } from '../../../projections/access/workspaces.ts'
import { callLog } from '../../../projections/calls/call-log.ts'
import { bookColumns, bookRows } from '../../../projections/reporting/book-rows.ts'
import { poolNames } from '../../../projections/reporting/pool-names.ts'
import { callsReport } from '../../../queries/reporting/calls-report.ts'
import type { CallRecord } from '../../../src/domain/calls/call-record.ts'
import { tagsOf } from '../../../src/domain/calls/tags.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { DIMENSIONS } from '../../../src/domain/reporting/dimensions.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import type { ReadStore } from '../../../src/ports/read-store.ts'
import { withColumns } from '../../../src/runtime/columns/column-store.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { bookedCalls, bookedLog, bookedWorld } from '../../support/fixtures/booked-calls.ts'
import { instantAfter } from '../../support/fixtures/call-world.ts'
import { columnParts } from '../../support/fixtures/column-parts.ts'
import { SMALL_LIMITS } from '../../support/fixtures/column-world.ts'
import { project } from '../../support/fixtures/project.ts'
import { fillStore, runQuery } from '../../support/fixtures/query-fixture.ts'
import { recordedEvents } from '../../support/fixtures/spec.ts'
import { createMemoryReadStore } from '../../support/memory/read-store.ts'

const NOW = instantAfter(86_400)
const configured = recordedEvents(workspace, bookedWorld.events, { from: 100_000 })

/** A store with the read models of a log; reports read documents there. */
async function storeOf(events: readonly RecordedEvent[]): Promise<ReadStore> {
  const store = createMemoryReadStore()
  await fillStore(store, [bookRows, callLog, poolNames, workspaces], [...events, ...configured])
  return store
}

/** The same with columns in small segments. */
const columnsOver = (store: ReadStore) => withColumns(store, { ...columnParts([bookColumns]), limits: SMALL_LIMITS })

const report = (views: ReadStore, query: Readonly<Record<string, string>>) =>
  runQuery<Json>(callsReport, views, { query: { from: instantAfter(-90 * 86_400), to: NOW, ...query }, now: NOW })

const order = fc.array(fc.nat(7), { maxLength: 12 })
/** A series by hour takes a window of a month at most. */
const dimension = fc.constantFrom(...DIMENSIONS.filter((name) => name !== 'hour'), 'tag:tier')
const groupBy = fc.uniqueArray(dimension, { minLength: 1, maxLength: 2 }).map((names) => names.join(','))
const filter = fc.constantFrom<Readonly<Record<string, string>>>(
  {},
  {},
  { outcome: 'connected' },
  { outcome: 'unrouted' },
  { hasRecording: 'true' },
  { hasRecording: 'false' },
  { minTalk: '31' },
  { tagKey: 'tier', tagValue: 'gold' },
  { caller: '4155550199' },
  { ref: 'CA-0000000002' },
  { reason: 'all_targets_failed' },
)

/** Figures of ended calls, by the values that `keyOf` tells. */
function sumLog(calls: readonly CallRecord[], keyOf: (call: CallRecord) => unknown) {
  const groups = Map.groupBy(
    calls.filter(({ outcome }) => outcome !== 'live'),
    (call) => JSON.stringify(keyOf(call) ?? null),
  )
  const sum = (own: readonly CallRecord[], of: (call: CallRecord) => number) =>
    own.reduce((all, call) => all + of(call), 0)
  return Object.fromEntries(
    [...groups].map(([key, own]) => [
      key,
      {
        calls: own.length,
        connected: sum(own, (call) => call.connectedCount),
        converted: sum(own, (call) => call.convertedCount),
        unrouted: sum(own, (call) => call.unroutedCount),
        missed: sum(own, (call) => call.missedCount),
        revenueCents: sum(own, (call) => call.revenueCents),
        payoutCents: sum(own, (call) => call.payoutCents),
        profitCents: sum(own, (call) => call.profitCents),
        usageCents: sum(own, (call) => call.usageCents),
        totalTalkSeconds: sum(own, (call) => call.talkSeconds),
      },
    ]),
  )
}

const KEYS: Readonly<Record<string, (call: CallRecord) => unknown>> = {
  campaign: ({ campaign }) => campaign?.id,
  publisher: ({ publisher }) => publisher?.id,
  buyer: ({ buyer }) => buyer?.id,
  target: ({ target }) => target?.id,
  number: ({ numberId }) => numberId,
  pool: ({ numberPoolId }) => numberPoolId,
  reason: ({ reasonCode }) => reasonCode,
  status: ({ status }) => status,
  outcome: ({ outcome }) => outcome,
  state: ({ callerState }) => callerState,
  attribution: ({ attribution }) => attribution,
  conversionSource: ({ conversionSource }) => conversionSource,
  day: ({ startedAt }) => startedAt.slice(0, 10),
  month: ({ startedAt }) => startedAt.slice(0, 7),
  hourOfDay: ({ startedAt }) => startedAt.slice(11, 13),
  'tag:tier': ({ tags }) => tagsOf(tags).tier,
}

describe('a report on random calls with late changes', () => {
  it('says by each dimension what the call log sums to', async () => {
    await fc.assert(
      fc.asyncProperty(bookedCalls, order, async (calls, turns) => {
        const log = bookedLog(calls, turns)
        const views = columnsOver(await storeOf(log))
        const docs = Object.values(await project(callLog, log)) as unknown as readonly CallRecord[]
        for (const [name, keyOf] of Object.entries(KEYS)) {
          const { groups, truncated } = await report(views, { groupBy: name, tz: 'UTC' })
          const found = Object.fromEntries(
            (groups as Json[]).map(({ keys, ...figures }) => [JSON.stringify(keys[0]), figures]),
          )
          const expected = sumLog(docs, keyOf)
          expect(Object.keys(found).toSorted()).toEqual(Object.keys(expected).toSorted())
          expect(found).toMatchObject(expected)
          expect(truncated).toBe(false)
        }
        await views.settled()
      }),
      { numRuns: 25 },
    )
  })

  it('says the same from columns and from documents', async () => {
    await fc.assert(
      fc.asyncProperty(bookedCalls, order, groupBy, filter, async (calls, turns, by, only) => {
        const store = await storeOf(bookedLog(calls, turns))
        const views = columnsOver(store)
        const asOf = instantAfter(20)
        for (const query of [
          { groupBy: by, ...only, asOf },
          { groupBy: by, ...only, asOf: NOW },
        ])
          expect(await report(views, query)).toEqual(await report(store, query))
        await views.settled()
      }),
      { numRuns: 100 },
    )
  })

  it('says as of an instant, byte for byte, what it said then', async () => {
    await fc.assert(
      fc.asyncProperty(bookedCalls, order, groupBy, filter, fc.nat(200), async (calls, turns, by, only, cut) => {
        const log = bookedLog(calls, turns)
        const then = columnsOver(await storeOf(log.slice(0, 1 + (cut % log.length))))
        const now = columnsOver(await storeOf(log))
        const before = await report(then, { groupBy: by, ...only })
        if (isRefusal(before)) throw new Error('The report was refused.')
        const asOf = String(before.asOf)
        if (asOf === NOW) return
        expect(JSON.stringify(await report(now, { groupBy: by, ...only, asOf }))).toBe(JSON.stringify(before))
        await now.settled()
      }),
      { numRuns: 100 },
    )
  })
})
