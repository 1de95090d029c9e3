import { describe, expect, it } from 'vitest'
import { chargeUsage } from '../../../../commands/money/charge-usage.ts'
import { routeCall } from '../../../../commands/routing/route-call.ts'
import { createPublisher } from '../../../../commands/supply/create-publisher.ts'
import { walletEntries } from '../../../../projections/money/wallet-entries.ts'
import { workspace } from '../../../../src/domain/configuration/workspace.ts'
import { callerKey } from '../../../../src/domain/routing/callers.ts'
import { ledger } from '../../../../src/domain/routing/ledger.ts'
import { streamOf } from '../../../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../../../src/kernel/event.ts'
import { upcasts } from '../../../../src/main/registry.ts'
import { applyPending } from '../../../../src/runtime/projections/apply-pending.ts'
import { requestRebuild, switchBuild, syncAliases } from '../../../../src/runtime/projections/build-lifecycle.ts'
import { type BuildNames, buildNames } from '../../../../src/runtime/projections/build-names.ts'
import { headsOf } from '../../../../src/runtime/write/snapshots/head.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import { CALLER, changeSteps, nthCallId } from '../../../support/fixtures/call-world.ts'
import { lookUpIn } from '../../../support/fixtures/look-up-in.ts'
import { addToTally, beginTally } from '../../../support/fixtures/sample.ts'
import { NOW, WORKSPACE } from '../../../support/fixtures/spec.ts'
import {
  acceptedOutcome,
  arrival,
  createWriterFixture,
  eventsOfType,
  execute,
  seedLiveCampaign,
  tallyAddition,
} from '../../../support/fixtures/writer-fixture.ts'
import { createMemoryOperationalStore } from '../../../support/memory/operational-store.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describe('a command id', () => {
  const publisher = { name: 'Red Leads' }
  const created = (log: { readonly events: readonly RecordedEvent[] }) =>
    eventsOfType(log.events, 'PublisherCreated').length - 1

  it('is handled once even when it is given twice at once', async () => {
    const { log, writer } = createWriterFixture()
    const one = writer()
    await execute(one, beginTally, { tallyId: tallyAddition.tallyId, name: 'All' })
    const both = await Promise.all([0, 1, 2].map(() => acceptedOutcome(execute(one, addToTally, tallyAddition, 'key'))))
    expect(both.map(({ replayed }) => replayed)).toEqual([false, true, true])
    expect(both.map(({ events }) => events[0]?.meta.eventId)).toEqual(
      both.map(() => eventsOfType(log.events, 'TallyAdded')[0]?.meta.eventId),
    )
    expect(eventsOfType(log.events, 'TallyAdded')).toHaveLength(1)
  })

  it('is remembered for 24 hours, and no longer', async () => {
    const { log, clock, writer } = createWriterFixture()
    const one = writer()
    await execute(one, beginTally, { tallyId: tallyAddition.tallyId, name: 'All' })
    await execute(one, addToTally, tallyAddition, 'key')
    await clock.advance(DAY - 1)
    expect(await acceptedOutcome(execute(one, addToTally, tallyAddition, 'key'))).toMatchObject({ replayed: true })
    await clock.advance(1)
    expect(await acceptedOutcome(execute(one, addToTally, tallyAddition, 'key'))).toMatchObject({ replayed: false })
    expect(eventsOfType(log.events, 'TallyAdded')).toHaveLength(2)
  })

  it.each([
    ['with its fold cached', true],
    ['with no fold cached', false],
  ])('survives a restart %s', async (_how, cached) => {
    const { log, ops, clock, writer } = createWriterFixture()
    await seedLiveCampaign(log)
    const first = writer({ markEvery: 1 })
    const outcome = await acceptedOutcome(execute(first, createPublisher, publisher, 'key'))
    await first.close()
    expect(await ops.list(headsOf(streamOf(workspace, WORKSPACE)), clock.now())).toHaveLength(1)
    const restarted = writer(cached ? {} : { ops: createMemoryOperationalStore() })
    await clock.advance(DAY - 1)
    const again = await acceptedOutcome(execute(restarted, createPublisher, publisher, 'key'))
    expect(again).toMatchObject({ replayed: true, position: outcome.position })
    expect(again.events.map(({ meta }) => meta.eventId)).toEqual(outcome.events.map(({ meta }) => meta.eventId))
    await clock.advance(1)
    expect(await acceptedOutcome(execute(restarted, createPublisher, publisher, 'key'))).toMatchObject({
      replayed: false,
    })
    expect(created(log)).toBe(2)
  })

  it('repeated a day later resolves to its own events alone, from a cached fold too', async () => {
    const { log, clock, writer } = createWriterFixture()
    await seedLiveCampaign(log)
    const first = writer({ markEvery: 1 })
    await clock.advance(DAY - HOUR)
    await execute(first, createPublisher, publisher, 'key')
    await clock.advance(HOUR)
    await execute(first, createPublisher, publisher)
    await first.close()
    const restarted = writer()
    await clock.advance(DAY - HOUR)
    const again = await acceptedOutcome(execute(restarted, createPublisher, publisher, 'key'))
    expect(again.replayed).toBe(false)
    const replayed = await acceptedOutcome(execute(restarted, createPublisher, publisher, 'key'))
    expect(replayed).toMatchObject({ replayed: true, position: again.position })
    expect(replayed.events).toHaveLength(1)
  })

  it('means nothing on a stream that is known by other keys', async () => {
    const { log, writer } = createWriterFixture()
    await seedLiveCampaign(log)
    const one = writer()
    await execute(one, routeCall, arrival(1), 'key')
    expect(await acceptedOutcome(execute(one, routeCall, arrival(2), 'key'))).toMatchObject({
      replayed: false,
      events: [{}],
    })
  })
})

describe('a cached fold', () => {
  it('leaves only the tail to be read, and goes on from there', async () => {
    const { log, writer } = createWriterFixture()
    await seedLiveCampaign(log)
    const first = writer({ markEvery: 1 })
    await Promise.all([1, 2, 3].map((n) => execute(first, routeCall, arrival(n))))
    await first.close()
    const reads: (readonly [string, number])[] = []
    const restarted = writer({
      log: {
        ...log,
        read(stream, from, limit) {
          reads.push([stream, from])
          return log.read(stream, from, limit)
        },
      },
    })
    const next = await acceptedOutcome(execute(restarted, routeCall, arrival(4)))
    expect(next.events).toMatchObject([{ revision: 3, data: { arrival: { seq: 4 } } }])
    expect(reads).toContainEqual([streamOf(ledger, WORKSPACE), 3])
    expect(reads).not.toContainEqual([streamOf(ledger, WORKSPACE), 0])
  })

  it('is skipped while the store is unavailable', async () => {
    const { log, writer, ops } = createWriterFixture()
    await seedLiveCampaign(log)
    const away = withFaults(
      ops,
      () => new Error('The store is unavailable.'),
      () => 'fail',
    )
    const one = writer({ ops: away })
    expect(await acceptedOutcome(execute(one, routeCall, arrival(1)))).toMatchObject({
      events: [{ type: 'CallAdmitted' }],
    })
    await one.close()
  })
})

describe('what is recalled', () => {
  const blocking = changeSteps.campaign({ repeatCallerPolicy: 'block', dedupeWindowSeconds: 90 * 24 * 3_600 })
  const other = '+12125550100'

  it('is asked for only where the fold does not know', async () => {
    const { log, lookUp, writer } = createWriterFixture()
    const { campaignId } = await seedLiveCampaign(log, blocking)
    const one = writer()
    await execute(one, routeCall, arrival(1))
    await execute(one, routeCall, arrival(2))
    await execute(one, routeCall, arrival(3, { caller: null }))
    expect(lookUp.mock.calls.map(([memory, id]) => [memory.name, id])).toEqual([
      ['caller-memory', callerKey(campaignId, CALLER)],
    ])
    expect(log.events.filter(({ stream }) => stream.startsWith('ledger')).map(({ type }) => type)).toEqual([
      'CallAdmitted',
      'CallRefused',
      'CallAdmitted',
    ])
  })

  it('is asked for as soon as an earlier command of the same turn made the fold forget', async () => {
    const { log, clock, lookUp, writer } = createWriterFixture()
    await seedLiveCampaign(log, blocking)
    const one = writer()
    const at = () => new Date(clock.now()).toISOString()
    const firstSeen = at()
    await execute(one, routeCall, arrival(1))
    await clock.advance(HOUR)
    await execute(one, routeCall, arrival(2, { caller: other, occurredAt: at() }))
    await clock.advance(HOUR)
    lookUp.mockClear()
    lookUp.mockImplementation(async (_memory, id) =>
      id.endsWith(CALLER) ? { workspaceId: WORKSPACE, at: firstSeen, targetId: null } : null,
    )
    const third = { caller: '+13105550100', occurredAt: at() }
    const outcomes = await Promise.all([
      acceptedOutcome(execute(one, routeCall, arrival(2, { caller: other }))),
      acceptedOutcome(execute(one, routeCall, arrival(3, third))),
      acceptedOutcome(execute(one, routeCall, arrival(4, { occurredAt: at() }))),
    ])
    expect(outcomes.map(({ events }) => events[0]?.type)).toEqual([undefined, 'CallAdmitted', 'CallRefused'])
    expect(lookUp.mock.calls.map(([memory, id]) => `${memory.name} ${id.slice(-12)}`)).toContain(
      `caller-memory ${CALLER}`,
    )
  })

  it('makes a call of an arrival once, however late the notice is repeated', async () => {
    const { log, clock, lookUp, writer } = createWriterFixture()
    await seedLiveCampaign(log)
    const one = writer()
    for (const n of [1, 2, 3]) {
      await execute(one, routeCall, arrival(n))
      if (n < 3) expect(lookUp).not.toHaveBeenCalled()
      await clock.advance(HOUR)
    }
    lookUp.mockImplementation(async ({ name }, id) =>
      name === 'call-log' && id === nthCallId(1) ? { workspaceId: WORKSPACE, seq: 1 } : null,
    )
    expect(await acceptedOutcome(execute(one, routeCall, arrival(1)))).toMatchObject({ events: [] })
    expect(await acceptedOutcome(execute(one, routeCall, arrival(4)))).toMatchObject({
      events: [{ type: 'CallAdmitted' }],
    })
  })

  it('makes a charge once, however late it falls due again', async () => {
    const { log, clock, lookUp, writer } = createWriterFixture()
    const one = writer()
    const charge = (n: number) =>
      acceptedOutcome(execute(one, chargeUsage, { callId: nthCallId(n), amountCents: 6, at: NOW }))
    for (const n of [1, 2, 3]) {
      expect(await charge(n)).toMatchObject({ events: [{ type: 'WalletCharged' }] })
      await clock.advance(HOUR)
    }
    lookUp.mockImplementation(
      async (_memory, id) => applyPending(walletEntries, id, null, log.events, upcasts)?.doc ?? null,
    )
    expect(await charge(1)).toMatchObject({ events: [] })
    expect(await charge(4)).toMatchObject({ events: [{ type: 'WalletCharged' }] })
  })

  it('is recorded, found or not, and only where it was asked', async () => {
    const { log, clock, lookUp, writer } = createWriterFixture()
    const { campaignId } = await seedLiveCampaign(log, blocking)
    const one = writer()
    const recalled = async (n: number, caller: string) => {
      const outcome = await acceptedOutcome(
        execute(one, routeCall, arrival(n, { caller, occurredAt: new Date(clock.now()).toISOString() })),
      )
      return outcome.events[0]?.meta.recalled
    }
    const key = (caller: string) => `caller-memory/${callerKey(campaignId, caller)}`
    const seen = { workspaceId: WORKSPACE, at: NOW, targetId: null }
    expect(await recalled(1, CALLER)).toEqual({ [key(CALLER)]: null })
    expect(await recalled(2, CALLER)).toBeUndefined()
    await clock.advance(HOUR)
    lookUp.mockImplementation(async () => seen)
    expect(await recalled(3, other)).toEqual({ [key(other)]: seen })
  })

  it('makes a charge once while a rebuild of the entries becomes the one that is read', async () => {
    const { log, clock, writer } = createWriterFixture()
    const store = createMemoryReadStore()
    const one = writer({ lookUp: lookUpIn(log, store, clock) })
    const charge = (n: number) =>
      acceptedOutcome(execute(one, chargeUsage, { callId: nthCallId(n), amountCents: 6, at: NOW }))
    const fold = async (build: BuildNames) => {
      const position = await log.head()
      const writes = log.events.flatMap((event) => {
        const stored = event.stream.startsWith('wallet-')
          ? applyPending(walletEntries, walletEntries.key(event as never) as string, null, [event], upcasts)
          : null
        return stored ? [{ collection: build.collection, ...stored }] : []
      })
      const expected = (await store.checkpoint(build.checkpoint))?.position ?? null
      const next = { position, at: new Date(clock.now()).toISOString() }
      await store.commit(writes, { name: build.checkpoint, expected, next })
    }
    await syncAliases(store, [walletEntries])
    await charge(1)
    await fold(buildNames(walletEntries))
    expect(await charge(1)).toMatchObject({ events: [] })
    expect(await charge(2)).toMatchObject({ events: [{ type: 'WalletCharged' }] })
    for (const n of [3, 4]) {
      await clock.advance(HOUR)
      await charge(n)
    }
    // The old build stands still; the other one has all charges, and becomes the active one.
    await requestRebuild(store, walletEntries)
    const names = buildNames(walletEntries, 2)
    await fold(names)
    await switchBuild(store, { projection: walletEntries, names })
    expect(await charge(2)).toMatchObject({ events: [] })
    expect(eventsOfType(log.events, 'WalletCharged')).toHaveLength(4)
  })
})
