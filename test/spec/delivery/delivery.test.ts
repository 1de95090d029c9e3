import { describe, expect, it } from 'vitest'
import { changePlan } from '../../../commands/access/change-plan.ts'
import { changeWebhook } from '../../../commands/delivery/change-webhook.ts'
import { deleteWebhook } from '../../../commands/delivery/delete-webhook.ts'
import { queueDelivery } from '../../../commands/delivery/queue-delivery.ts'
import { queueTestDelivery } from '../../../commands/delivery/queue-test-delivery.ts'
import { recordAttempt } from '../../../commands/delivery/record-attempt.ts'
import { removeDelivery } from '../../../commands/delivery/remove-delivery.ts'
import { replayDelivery } from '../../../commands/delivery/replay-delivery.ts'
import { stopDelivery } from '../../../commands/delivery/stop-delivery.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { delivery } from '../../../src/domain/delivery/delivery.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import {
  ACCEPTED,
  attempted,
  attemptInput,
  deliveryId,
  endpoint,
  failedTimes,
  later,
  queuedDelivery,
  queuedInput,
  webhookId,
} from '../../support/fixtures/delivery-fixture.ts'
import { given, idOf, NOW, stateOf } from '../../support/fixtures/spec.ts'
import { emptyWorkspace, type SetupStep } from '../../support/fixtures/workspace-fixture.ts'

const workspaceAfter = (...steps: readonly SetupStep[]) => stateOf(workspace, emptyWorkspace('scale', ...steps))
const pause: SetupStep = [changeWebhook, () => ({ webhookId, changes: {}, status: 'paused' })]
const active = workspaceAfter(endpoint())
const paused = workspaceAfter(endpoint(), pause)
const deleted = workspaceAfter(endpoint(), [deleteWebhook, () => ({ webhookId })])
const downgraded = workspaceAfter(endpoint(), [changePlan, () => ({ planId: 'starter' })])

const record = (events: readonly NewEvent[], n: number, more: object = {}) =>
  given(delivery, events).when(recordAttempt, attemptInput(n, more))
const replay = (events: readonly NewEvent[], { at = NOW, reads = active } = {}) =>
  given(delivery, events).when(replayDelivery, { deliveryId }, { at, reads: { workspace: reads } })
const stop = (events: readonly NewEvent[]) =>
  given(delivery, events).when(stopDelivery, { deliveryId, occurredAt: later(60), sentence: 'No longer wanted.' })
const remove = (events: readonly NewEvent[]) =>
  given(delivery, events).when(removeDelivery, { deliveryId, occurredAt: later(90) })

const delivered = attempted(queuedDelivery, ACCEPTED)
const failed = failedTimes(4)

describe('queue-delivery', () => {
  it('queues an event for an endpoint once, and its first attempt is due at once', () => {
    const queued = given(delivery).when(queueDelivery, queuedInput)
    queued.gives([{ type: 'DeliveryQueued', data: queuedInput }])
    expect(queued.state).toMatchObject({ attempts: 0, accepted: false, next: { n: 1, at: NOW }, removed: false })
    given(delivery, queued.events).when(queueDelivery, queuedInput).gives([])
    given(delivery, failed).when(queueDelivery, queuedInput).gives([])
  })
})

describe('record-attempt', () => {
  it.each([
    [1, 1],
    [2, 5],
    [3, 25],
  ])('has a failed attempt %d tried again no sooner than %d s after it failed', (n, seconds) => {
    const nextAttemptAt = later(100 + 0.25 + seconds)
    const failure = record(failedTimes(n - 1), n, { occurredAt: later(100), ms: 250 })
    failure.gives([{ type: 'DeliveryAttempted', data: { n, accepted: false, nextAttemptAt } }])
    expect(failure.state).toMatchObject({ attempts: n, next: { n: n + 1, at: nextAttemptAt } })
  })

  it('has a failed attempt 4 not tried again', () => {
    const last = record(failedTimes(3), 4)
    last.gives([{ type: 'DeliveryAttempted', data: { n: 4, nextAttemptAt: null } }])
    expect(last.state).toMatchObject({ attempts: 4, next: null, accepted: false })
  })

  it.each([1, 2, 3, 4])('has an accepted attempt %d not tried again', (n) => {
    const last = record(failedTimes(n - 1), n, ACCEPTED)
    last.gives([{ type: 'DeliveryAttempted', data: { n, ...ACCEPTED, nextAttemptAt: null } }])
    expect(last.state).toMatchObject({ attempts: n, next: null, accepted: true })
  })

  it('records an attempt that reached no server with the status 0', () => {
    const unreached = { status: 0, ms: 10_000, error: 'No answer within 10 seconds.' }
    record(queuedDelivery, 1, unreached).gives([
      { type: 'DeliveryAttempted', data: { ...unreached, nextAttemptAt: later(11) } },
    ])
  })

  it.each([
    ['that is recorded already', failedTimes(1), 1],
    ['that is recorded already and was accepted', delivered, 1],
    ['beyond the one that waits', failedTimes(1), 3],
    ['after the last', failed, 5],
    ['of a delivery that is not queued', [], 1],
    ['of a delivery that is stopped', stop(queuedDelivery).events, 1],
    ['of a delivery that is removed', remove(queuedDelivery).events, 1],
  ])('changes nothing for an attempt %s', (_what, events, n) => {
    record(events, n).gives([])
  })
})

describe('replay-delivery', () => {
  it.each([
    ['failed after 4 attempts', failed, 5],
    ['delivered by the first', delivered, 5],
    ['delivered by the fourth', attempted(failedTimes(3), ACCEPTED), 5],
    ['stopped before the second', stop(failedTimes(1)).events, 5],
    ['delivered by a replay', attempted(replay(failed).events, ACCEPTED), 6],
    ['failed in a replay', attempted(replay(failed).events, {}), 6],
    ['failed in two replays', attempted(replay(attempted(replay(delivered).events, {})).events, {}), 7],
  ])('makes one that is %s due at once, as a new attempt', (_state, events, n) => {
    const replayed = replay(events, { at: later(500) })
    const data = { deliveryId, webhookId, name: 'CRM', n, occurredAt: later(500), revived: true }
    replayed.gives([{ type: 'DeliveryReplayed', data }])
    expect(replayed.state?.next).toEqual({ n, at: later(500) })
    expect(replayed.state?.requestId).toBe(queuedInput.requestId)
  })

  it.each([5, 6])('gives no retries to its attempt %d', (n) => {
    const replayed = n === 5 ? replay(failed).events : replay(attempted(replay(failed).events, {})).events
    record(replayed, n).gives([{ type: 'DeliveryAttempted', data: { n, nextAttemptAt: null } }])
  })

  it('leaves one delivered that a replay fails to deliver again', () => {
    expect(stateOf(delivery, attempted(replay(delivered).events, {}))).toMatchObject({ accepted: true, attempts: 5 })
  })

  it('makes a waiting attempt due at once under its number, which keeps its retries', () => {
    const replayed = replay(failedTimes(2), { at: later(2) })
    replayed.gives([{ type: 'DeliveryReplayed', data: { n: 3, occurredAt: later(2), revived: false } }])
    expect(replayed.state?.next).toEqual({ n: 3, at: later(2) })
    record(replayed.events, 3).gives([{ type: 'DeliveryAttempted', data: { n: 3, nextAttemptAt: later(25.04) } }])
  })

  it.each([
    ['has just been queued', queuedDelivery, NOW],
    ['has a retry that is due', failedTimes(1), later(1.04)],
    ['has been replayed', replay(failed).events, NOW],
    ['waits for an endpoint that is degraded', failedTimes(2), later(60)],
  ])('changes nothing for one that %s', (_what, events, at) => {
    replay(events, { at }).gives([])
  })

  it.each([
    ['is not there', [], active, 'delivery-not-found'],
    ['is removed', remove(failed).events, active, 'delivery-not-found'],
    ['is of a deleted endpoint', failed, deleted, 'delivery-not-found'],
    ['is of a paused endpoint', failed, paused, 'conflict'],
    ['waits for a paused endpoint', failedTimes(1), paused, 'conflict'],
  ])('refuses one that %s', (_what, events, reads, refused) => {
    replay(events, { reads }).gives({ refused })
  })
})

describe('stop-delivery', () => {
  it('ends one that waits, with the sentence why, and counts the attempt that is not made', () => {
    const stopped = stop(failedTimes(1))
    const data = { deliveryId, webhookId, occurredAt: later(60), n: 2, sentence: 'No longer wanted.' }
    stopped.gives([{ type: 'DeliveryStopped', data }])
    expect(stopped.state).toMatchObject({ attempts: 2, next: null, accepted: false })
  })

  it.each([
    ['is not queued', []],
    ['is delivered', delivered],
    ['has failed', failed],
    ['is stopped', stop(queuedDelivery).events],
    ['is removed', remove(queuedDelivery).events],
  ])('changes nothing for one that %s', (_what, events) => {
    stop(events).gives([])
  })
})

describe('remove-delivery', () => {
  it.each([
    ['waits', failedTimes(1), true],
    ['is delivered', delivered, false],
    ['has failed', failed, false],
  ])('removes one that %s, with what waits of it', (_what, events, waiting) => {
    const removed = remove(events)
    removed.gives([{ type: 'DeliveryRemoved', data: { deliveryId, webhookId, occurredAt: later(90), waiting } }])
    expect(removed.state).toMatchObject({ removed: true, next: null })
  })

  it('changes nothing for one that is removed or was never queued', () => {
    remove(remove(failed).events).gives([])
    remove([]).gives([])
  })
})

describe('queue-test-delivery', () => {
  const { test: _test, occurredAt: _at, ...input } = queuedInput
  const queueTest = (reads: typeof active, events: readonly NewEvent[] = [], more: object = {}) =>
    given(delivery, events).when(
      queueTestDelivery,
      { ...input, ...more },
      { at: later(3), reads: { workspace: reads } },
    )

  it('queues a test once, whatever its endpoint hears', () => {
    const other = workspaceAfter(endpoint({ eventPattern: ['call.incoming'] }))
    const queued = queueTest(other)
    queued.gives([
      { type: 'DeliveryQueued', data: { ...queuedInput, occurredAt: later(3), test: true } },
      { type: 'WebhookTested', data: { deliveryId, webhookId, occurredAt: later(3), name: 'CRM', event: input.event } },
    ])
    queueTest(other, queued.events).gives([])
  })

  it.each([
    ['without a workspace', workspace.initial, {}, 'workspace-not-found'],
    ['on a plan without webhooks', downgraded, {}, 'plan-upgrade-required'],
    ['to an unknown endpoint', active, { webhookId: idOf(9) }, 'webhook-not-found'],
    ['to a deleted endpoint', deleted, {}, 'webhook-not-found'],
    ['to a paused endpoint', paused, {}, 'conflict'],
  ])('is refused %s', (_what, reads, more, refused) => {
    queueTest(reads, [], more).gives({ refused })
  })
})
