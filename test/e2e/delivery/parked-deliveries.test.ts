import { afterAll, expect, test, vi } from 'vitest'
import type { AnyReaction } from '../../../src/kernel/reaction.ts'
import type { NumberTools } from '../../../src/reactions/number-orders.ts'
import { createApiClient, type Json } from '../../support/e2e/api-client.ts'
import { openInProcessPlatform } from '../../support/e2e/in-process-platform.ts'
import { embeddedStores, freshEnvironment, waitUntil } from '../../support/e2e/server.ts'
import { OPERATOR_TOKEN } from '../../support/e2e/suite.ts'
import { answerScript, createTenantClient, minutesAgo } from '../../support/e2e/tenant-client.ts'
import { createWebhookClient } from '../../support/e2e/webhook-client.ts'
import { envelopeOf, startWebhookReceiver } from '../../support/e2e/webhook-receiver.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

/** The caller whose calls cannot be told of, until that is cured. */
const { POISON, cure } = vi.hoisted(() => ({ POISON: '+13105550131', cure: { isCured: false } }))

// Steps with a bug: they fail on the whole history of a call.
vi.mock('../../../src/reactions/webhook-outbox.ts', async (original) => {
  const actual = await original<typeof import('../../../src/reactions/webhook-outbox.ts')>()
  const { on }: AnyReaction<NumberTools> = actual.webhookOutbox
  const poisoned = new Set<unknown>()
  const withPoison =
    (step: (typeof on)[string]) =>
    async (...[tools, event]: Parameters<NonNullable<typeof step>>) => {
      if (Object(event.data).arrival?.caller === POISON && event.type === 'CallArrived') poisoned.add(event.stream)
      if (poisoned.has(event.stream) && !cure.isCured) throw new RangeError('an unlucky payload')
      return step?.(tools, event)
    }
  const steps = Object.fromEntries(Object.entries(on).map(([type, step]) => [type, withPoison(step)]))
  return { ...actual, webhookOutbox: { ...actual.webhookOutbox, on: steps } }
})

/** Longer than it takes until a step that fails is parked. */
const PARKED_MS = 30_000
const TOLD = ['call.incoming', 'call.routed', 'call.connected', 'call.completed', 'call.converted']

const platform = await openInProcessPlatform({ ...freshEnvironment(embeddedStores), OPERATOR_TOKEN })
const receiver = await startWebhookReceiver()
afterAll(async () => {
  await platform.close()
  receiver.close()
})

const operator = createApiClient(() => platform.baseUrl, OPERATOR_TOKEN)
const parked = async (): Promise<readonly Json[]> => (await operator('/api/operator/parked')).body.parked

test('a call whose events cannot be queued parks its own stream: others are told of, and it is once it is tried again', async () => {
  const { tenant, e164, target } = await platform.createWorld(async (writer) => {
    const tenant = await createTenantWorkspace(writer)
    const target = await tenant.target(await tenant.buyer({ name: 'Acme' }))
    const line = await tenant.line({ name: 'Roofing' }, [target])
    return { tenant, target, e164: line.e164 }
  })
  const client = createTenantClient(platform, tenant)
  await createWebhookClient(client).created({ url: receiver.url('all') })
  const play = async (from: string) => {
    const placed = { to: e164, from, mode: 'instant', at: minutesAgo(5), script: { [target]: answerScript(120) } }
    return (await client.playCall(placed)).call
  }
  const toldOf = ({ id }: Json) =>
    receiver
      .got('all')
      .map(envelopeOf)
      .filter(({ data }) => data.callId === id)
  const told = (call: Json) =>
    waitUntil('The call is told of', async () => toldOf(call).length >= TOLD.length && toldOf(call), PARKED_MS)
  const namesOf = (envelopes: readonly Json[]) => envelopes.map(({ event }) => event).toSorted()

  const before = await play('+13105550132')
  const unlucky = await play(POISON)
  // Only telling of it fails.
  expect(unlucky.outcome).toBe('converted')
  const rows = await waitUntil(
    'Its stream is parked',
    async () => {
      const found = await parked()
      return found.length > 0 && found
    },
    PARKED_MS,
  )
  expect(rows).toMatchObject([
    {
      reaction: 'webhook-outbox',
      stream: expect.stringContaining(unlucky.id),
      workspaceId: tenant.workspaceId,
      type: 'CallArrived',
      problem: 'RangeError: an unlucky payload',
    },
  ])
  const after = await play('+13105550133')
  for (const call of [before, after]) expect(namesOf(await told(call))).toEqual(TOLD.toSorted())
  expect(await parked()).toHaveLength(1)
  expect(toldOf(unlucky)).toEqual([])

  cure.isCured = true
  expect((await operator(`/api/operator/parked/${rows[0]?.id}/retry`, { method: 'POST', body: {} })).status).toBe(202)
  const late = await told(unlucky)
  expect(namesOf(late)).toEqual(TOLD.toSorted())
  expect(new Set(late.map(({ id }) => id)).size).toBe(TOLD.length)
  await waitUntil('Nothing is parked', async () => (await parked()).length === 0)
}, 120_000)
