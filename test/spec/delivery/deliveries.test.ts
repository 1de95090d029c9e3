import { describe, expect, it } from 'vitest'
import { queueTestDelivery } from '../../../commands/delivery/queue-test-delivery.ts'
import { removeDelivery } from '../../../commands/delivery/remove-delivery.ts'
import { replayDelivery } from '../../../commands/delivery/replay-delivery.ts'
import { stopDelivery } from '../../../commands/delivery/stop-delivery.ts'
import { deliveries } from '../../../projections/delivery/deliveries.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { delivery } from '../../../src/domain/delivery/delivery.ts'
import { DELIVERY } from '../../../src/domain/shared/limits.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import {
  ACCEPTED,
  attempted,
  deliveryId,
  endpoint,
  failedTimes,
  later,
  logged,
  queuedDelivery,
  queuedInput,
} from '../../support/fixtures/delivery-fixture.ts'
import { project } from '../../support/fixtures/project.ts'
import { given, NOW, stateOf, WORKSPACE } from '../../support/fixtures/spec.ts'
import { emptyWorkspace } from '../../support/fixtures/workspace-fixture.ts'

const reads = { workspace: stateOf(workspace, emptyWorkspace('scale', endpoint())) }
const replayed = (events: readonly NewEvent[], at = later(100)) =>
  given(delivery, events).when(replayDelivery, { deliveryId }, { at, reads }).events
const stopped = (events: readonly NewEvent[]) =>
  given(delivery, events).when(stopDelivery, { deliveryId, occurredAt: later(60), sentence: 'Narrowed.' }).events
const removed = (events: readonly NewEvent[]) =>
  given(delivery, events).when(removeDelivery, { deliveryId, occurredAt: later(90) }).events

const rowOf = async (events: readonly NewEvent[]) => (await project(deliveries, logged([delivery, events])))[deliveryId]
const delivered = attempted(queuedDelivery, ACCEPTED)
const ms = (seconds: number) => Date.parse(later(seconds))

describe('a row of the delivery log', () => {
  it('is an event for an endpoint without its payload, due when it was recorded', async () => {
    const { deliveryId: id, occurredAt: _at, data: _data, ...queued } = queuedInput
    const rows = await project(deliveries, logged([workspace, emptyWorkspace()], [delivery, queuedDelivery, 2]))
    expect(rows[id]).toEqual({
      ...queued,
      workspaceId: WORKSPACE,
      state: 'queued',
      createdAt: NOW,
      createdMs: ms(0),
      order: emptyWorkspace().length,
      dueMs: ms(2),
      nextN: 1,
      accepted: false,
      attempts: [],
    })
  })

  it('says whether it is a test', async () => {
    const { test: _test, occurredAt: _at, ...input } = queuedInput
    const tested = given(delivery).when(queueTestDelivery, input, { reads }).events
    expect(await rowOf(tested)).toMatchObject({ test: true, state: 'queued' })
  })

  it.each([
    ['queued after a failure, until its retry', failedTimes(1), 'queued', 2, 1.04],
    ['queued after three failures', failedTimes(3), 'queued', 4, 25.04],
    ['failed after four', failedTimes(4), 'failed', null, null],
    ['delivered once one is accepted', delivered, 'delivered', null, null],
    ['delivered by a retry', attempted(failedTimes(2), ACCEPTED), 'delivered', null, null],
    ['queued while a replay of a failed one waits', replayed(failedTimes(4)), 'queued', 5, 100],
    ['failed when the replay of a failed one fails', attempted(replayed(failedTimes(4)), {}), 'failed', null, null],
    ['delivered when a replay is accepted', attempted(replayed(failedTimes(4)), ACCEPTED), 'delivered', null, null],
    ['delivered while its replay waits', replayed(delivered), 'delivered', 5, 100],
    ['delivered when its replay fails', attempted(replayed(delivered), {}), 'delivered', null, null],
    ['queued, due at once, when it is replayed while it waits', replayed(failedTimes(2), later(1)), 'queued', 3, 1],
    ['failed when it is stopped', stopped(failedTimes(1)), 'failed', null, null],
  ])('is %s', async (_state, events, state, nextN, seconds) => {
    expect(await rowOf(events)).toMatchObject({ state, nextN, dueMs: seconds === null ? null : ms(seconds) })
  })

  it('lists its attempts in order, with what came of each', async () => {
    const events = attempted(queuedDelivery, { occurredAt: later(1) }, { occurredAt: later(9), ms: 7, ...ACCEPTED })
    expect(await rowOf(events)).toMatchObject({
      attempts: [
        { n: 1, at: later(1), status: 500, ms: 40, error: 'The receiver answered with status 500.' },
        { n: 2, at: later(9), status: 200, ms: 7, error: null },
      ],
    })
  })

  it('lists the attempt that was not made, with the sentence why', async () => {
    expect(await rowOf(stopped(failedTimes(1)))).toMatchObject({
      attempts: [{ n: 1 }, { n: 2, at: later(60), status: 0, ms: 0, error: 'Narrowed.' }],
    })
  })

  it('lists the newest attempts of one that is replayed again and again', async () => {
    let events = failedTimes(4)
    for (let n = 0; n < DELIVERY.listed; n++) events = attempted(replayed(events), {})
    const row = await rowOf(events)
    const attempts = deliveries.doc.parse(row).attempts.map(({ n }) => n)
    expect(attempts).toEqual(Array.from({ length: DELIVERY.listed }, (_, n) => n + 5))
  })

  it.each([
    ['waits', failedTimes(1)],
    ['is delivered', delivered],
    ['has failed', failedTimes(4)],
  ])('goes when its endpoint is deleted, if it %s', async (_state, events) => {
    expect(await rowOf(removed(events))).toBeUndefined()
  })
})
