import { describe, expect, it } from 'vitest'
import { routeCall } from '../../../../commands/routing/route-call.ts'
import { LogUnavailable } from '../../../../src/ports/event-log.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import { addToTally, beginTally } from '../../../support/fixtures/sample.ts'
import {
  acceptedOutcome,
  addTexts,
  arrival,
  createWriterFixture,
  eventsOfType,
  execute,
  seedLiveCampaign,
  tallyAddition,
  withAppendFaults,
} from '../../../support/fixtures/writer-fixture.ts'

describe('an append that lands while its answer is lost', () => {
  it('makes one call of a retry, known by its own key', async () => {
    const { log, writer } = createWriterFixture()
    await seedLiveCampaign(log)
    const one = writer({ log: withAppendFaults(log, { 1: 'lose' }).log })
    await expect(execute(one, routeCall, arrival(1))).rejects.toThrow(LogUnavailable)
    expect(await acceptedOutcome(execute(one, routeCall, arrival(1)))).toMatchObject({ events: [] })
    const next = await acceptedOutcome(execute(one, routeCall, arrival(2)))
    expect(next.events).toMatchObject([{ revision: 1, data: { arrival: { seq: 2 } } }])
    expect(eventsOfType(log.events, 'CallAdmitted')).toHaveLength(2)
  })

  it('answers a retry of configuration with the events of the first', async () => {
    const { log, writer } = createWriterFixture()
    const one = writer({ log: withAppendFaults(log, { 2: 'lose' }).log })
    await execute(one, beginTally, { tallyId: tallyAddition.tallyId, name: 'All' })
    await expect(execute(one, addToTally, tallyAddition, 'key')).rejects.toThrow(LogUnavailable)
    const again = await acceptedOutcome(execute(one, addToTally, tallyAddition, 'key'))
    expect(again).toMatchObject({ replayed: true, events: [{ type: 'TallyAdded', revision: 1 }] })
    expect(again.position).toBe(await log.head())
    expect(eventsOfType(log.events, 'TallyAdded')).toHaveLength(1)
  })

  it('is known to another writer as well', async () => {
    const { log, writer } = createWriterFixture()
    const one = writer({ log: withAppendFaults(log, { 1: 'lose' }).log })
    await expect(execute(one, beginTally, { tallyId: tallyAddition.tallyId, name: 'All' }, 'key')).rejects.toThrow(
      LogUnavailable,
    )
    expect(
      await acceptedOutcome(execute(writer(), beginTally, { tallyId: tallyAddition.tallyId, name: 'All' }, 'key')),
    ).toMatchObject({
      replayed: true,
    })
  })
})

describe('an unavailable log', () => {
  it('rejects every append that it concerns, and leaves nothing half-written', async () => {
    const { log, writer } = createWriterFixture()
    const one = writer({ log: withAppendFaults(log, { 2: 'fail' }).log })
    await execute(one, beginTally, { tallyId: tallyAddition.tallyId, name: 'All' })
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => execute(one, addToTally, tallyAddition)))
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { name: 'LogUnavailable' } })
    expect(log.events.map(({ revision }) => revision)).toEqual([0])
    expect(await acceptedOutcome(execute(one, addToTally, tallyAddition))).toMatchObject({ events: [{ revision: 1 }] })
  })

  it('takes all of an append or none', async () => {
    const { log, writer } = createWriterFixture()
    const one = writer({ log: withAppendFaults(log, { 1: 'fail' }).log })
    await expect(execute(one, addTexts, { lengths: [1, 2, 3] })).rejects.toThrow(LogUnavailable)
    expect(log.events).toHaveLength(0)
    expect(await acceptedOutcome(execute(one, addTexts, { lengths: [1, 2, 3] }))).toMatchObject({
      events: [{}, {}, {}],
    })
    expect(log.events).toHaveLength(3)
  })

  it('rejects while the log cannot be read, and serves again afterwards', async () => {
    const { log, writer } = createWriterFixture()
    await seedLiveCampaign(log)
    let away = true
    const one = writer({
      log: withFaults(
        log,
        () => new LogUnavailable('The log is unavailable.'),
        (method) => (away && method === 'read' ? 'fail' : undefined),
      ),
    })
    await expect(execute(one, routeCall, arrival(1))).rejects.toThrow(LogUnavailable)
    expect(eventsOfType(log.events, 'CallAdmitted')).toHaveLength(0)
    away = false
    expect(await acceptedOutcome(execute(one, routeCall, arrival(1)))).toMatchObject({
      events: [{ type: 'CallAdmitted' }],
    })
  })
})
