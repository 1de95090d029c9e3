import { describe, expect, it } from 'vitest'
import { changeWebhook } from '../../../commands/delivery/change-webhook.ts'
import { deleteWebhook } from '../../../commands/delivery/delete-webhook.ts'
import { finishWebhookRemoval } from '../../../commands/delivery/finish-webhook-removal.ts'
import { removeDelivery } from '../../../commands/delivery/remove-delivery.ts'
import { replayDelivery } from '../../../commands/delivery/replay-delivery.ts'
import { reportWebhookHealth } from '../../../commands/delivery/report-webhook-health.ts'
import { rotateWebhookSecret } from '../../../commands/delivery/rotate-webhook-secret.ts'
import { stopDelivery } from '../../../commands/delivery/stop-delivery.ts'
import { webhookCounters } from '../../../projections/delivery/webhook-counters.ts'
import { webhookJobs } from '../../../projections/delivery/webhook-jobs.ts'
import { webhooks } from '../../../projections/delivery/webhooks.ts'
import { timersOf } from '../../../projections/shared/timers.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { delivery } from '../../../src/domain/delivery/delivery.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { partitionOf } from '../../../src/kernel/partition.ts'
import {
  ACCEPTED,
  attempted,
  deliveryId,
  endpoint,
  failedTimes,
  type LogPart,
  later,
  logged,
  queuedDelivery,
  secretOf,
  webhookId,
} from '../../support/fixtures/delivery-fixture.ts'
import { project } from '../../support/fixtures/project.ts'
import { given, NOW, stateOf, WORKSPACE } from '../../support/fixtures/spec.ts'
import { emptyWorkspace } from '../../support/fixtures/workspace-fixture.ts'

const configured = emptyWorkspace('scale', endpoint())
const reads = { workspace: stateOf(workspace, configured) }
const replayed = (events: readonly NewEvent[], at = later(100)) =>
  given(delivery, events).when(replayDelivery, { deliveryId }, { at, reads }).events
const stopped = (events: readonly NewEvent[]) =>
  given(delivery, events).when(stopDelivery, { deliveryId, occurredAt: later(60), sentence: 'Narrowed.' }).events
const removed = (events: readonly NewEvent[]) =>
  given(delivery, events).when(removeDelivery, { deliveryId, occurredAt: later(90) }).events
/** Further events of the workspace, by a command on the endpoint. */
const after = (command: AnyCommand, input: object, from = configured) =>
  given(workspace, from)
    .when(command, { webhookId, ...input })
    .events.slice(from.length)
const pause = after(changeWebhook, { changes: {}, status: 'paused' })
const resume = after(changeWebhook, { changes: {}, status: 'active' }, [...configured, ...pause])
const deletion = after(deleteWebhook, {})
const deletionDone = after(finishWebhookRemoval, {}, [...configured, ...deletion])

const delivered = attempted(queuedDelivery, ACCEPTED)
const none = { delivered: 0, failed: 0, consecutiveFailures: 0, waiting: 0 }

const countersAfter = async (...parts: LogPart[]) =>
  (await project(webhookCounters, logged([workspace, configured], ...parts)))[webhookId]

describe('the counters of an endpoint', () => {
  it('begin at nothing, in the partition of its workspace', async () => {
    expect(await countersAfter()).toEqual({ workspaceId: WORKSPACE, partition: partitionOf(WORKSPACE), ...none })
  })

  it.each([
    ['a queued delivery', queuedDelivery, { waiting: 1 }],
    ['a failure that is retried', failedTimes(1), { waiting: 1, failed: 1, consecutiveFailures: 1 }],
    ['four failures', failedTimes(4), { failed: 4, consecutiveFailures: 4 }],
    ['a request that is accepted', delivered, { delivered: 1 }],
    ['failures before a success', attempted(failedTimes(3), ACCEPTED), { delivered: 1, failed: 3 }],
    ['a replay of a failed one', replayed(failedTimes(4)), { waiting: 1, failed: 4, consecutiveFailures: 4 }],
    ['a replay of a delivered one', replayed(delivered), { waiting: 1, delivered: 1 }],
    [
      'a replay of a waiting one',
      replayed(failedTimes(1), later(1)),
      { waiting: 1, failed: 1, consecutiveFailures: 1 },
    ],
    ['a replay that is accepted', attempted(replayed(failedTimes(4)), ACCEPTED), { delivered: 1, failed: 4 }],
    ['a replay that fails', attempted(replayed(delivered), {}), { delivered: 1, failed: 1, consecutiveFailures: 1 }],
    ['a stopped one, which is no request', stopped(failedTimes(1)), { failed: 1, consecutiveFailures: 1 }],
    ['a removed one that waited', removed(failedTimes(1)), { failed: 1, consecutiveFailures: 1 }],
    ['a removed one that did not wait', removed(delivered), { delivered: 1 }],
  ])('count %s', async (_what, events, expected) => {
    expect(await countersAfter([delivery, events])).toMatchObject({ ...none, ...expected })
  })

  it('begin to count failures in a row anew when a person resumes the endpoint, and only then', async () => {
    const failures = [delivery, failedTimes(4)] as const
    expect(await countersAfter(failures, [workspace, pause])).toMatchObject({ consecutiveFailures: 4 })
    expect(await countersAfter(failures, [workspace, pause], [workspace, resume])).toMatchObject({
      consecutiveFailures: 0,
      failed: 4,
    })
  })

  it('go with the endpoint, and do not come back with what is left of its deliveries', async () => {
    const parts = [
      [delivery, queuedDelivery],
      [workspace, deletion],
      [delivery, removed(queuedDelivery).slice(queuedDelivery.length)],
    ] as const
    expect(await countersAfter(...parts)).toBeUndefined()
  })
})

describe('the row of an endpoint', () => {
  const rowAfter = async (events: readonly NewEvent[], seconds = 60) =>
    (await project(webhooks, logged([workspace, configured], [workspace, events, seconds])))[webhookId]

  it('is its whole record', async () => {
    const { webhook } = webhookOf(configured)
    expect(await rowAfter([])).toEqual({ ...webhook, workspaceId: WORKSPACE })
  })

  it.each([
    ['its changed fields', after(changeWebhook, { changes: { note: 'x' } }), { note: 'x', updatedAt: later(60) }],
    ['that it is paused', pause, { status: 'paused', updatedAt: later(60) }],
    ['that it is resumed', [...pause, ...resume], { status: 'active', updatedAt: later(60) }],
    ['that it is degraded', after(reportWebhookHealth, { failures: 2 }), { status: 'degraded', updatedAt: NOW }],
    [
      'that it has recovered',
      [...after(reportWebhookHealth, { failures: 2 }), { type: 'WebhookRecovered', data: { webhookId, name: 'CRM' } }],
      { status: 'active', updatedAt: NOW },
    ],
    [
      'its new secret',
      after(rotateWebhookSecret, { secret: secretOf(2) }),
      { secret: secretOf(2), updatedAt: later(60) },
    ],
  ])('shows %s', async (_what, events, expected) => {
    expect(await rowAfter(events)).toMatchObject(expected)
  })

  it('goes with the endpoint', async () => {
    expect(await rowAfter(deletion)).toBeUndefined()
  })
})

describe('the job that removes the deliveries of a deleted endpoint', () => {
  const jobsAfter = (...events: readonly NewEvent[]) =>
    project(timersOf([webhookJobs]), logged([workspace, configured], [workspace, events, 60]))

  it('is due when the endpoint is deleted, and done once they are removed', async () => {
    expect(await jobsAfter()).toEqual({})
    const jobs = Object.values(await jobsAfter(...deletion))
    expect(jobs).toMatchObject([
      { kind: 'webhook_removal', subjectId: webhookId, dueAt: Date.parse(later(62)), workspaceId: WORKSPACE },
    ])
    expect(await jobsAfter(...deletion, ...deletionDone)).toEqual({})
  })
})

/** The record with which an endpoint was created, without its id. */
function webhookOf(events: readonly NewEvent[]) {
  const created = workspace.events.WebhookCreated.parse(events.find(({ type }) => type === 'WebhookCreated')?.data)
  const { id: _id, ...webhook } = created.webhook
  return { webhook }
}
