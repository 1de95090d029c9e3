import { afterAll, expect, test, vi } from 'vitest'
import { createApiClient, type Json, statusAndCode, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { openInProcessPlatform } from '../../support/e2e/in-process-platform.ts'
import { embeddedStores, freshEnvironment, waitUntil } from '../../support/e2e/server.ts'
import { OPERATOR_TOKEN } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const { poison, cure } = vi.hoisted(() => ({ poison: 1_313, cure: { isCured: false } }))

// A step with a bug: it fails on credits of one amount.
vi.mock('../../../src/reactions/renewals.ts', async (original) => {
  const actual = await original<typeof import('../../../src/reactions/renewals.ts')>()
  const { renewals } = actual
  return {
    ...actual,
    renewals: {
      ...renewals,
      on: {
        ...renewals.on,
        WalletCredited: async (...[tools, event]: Parameters<NonNullable<typeof renewals.on.WalletCredited>>) => {
          if (event.data.amountCents === poison && !cure.isCured) throw new RangeError('an unlucky credit')
          return renewals.on.WalletCredited?.(tools, event)
        },
      },
    },
  }
})

const { baseUrl, createWorld, close } = await openInProcessPlatform({
  ...freshEnvironment(embeddedStores),
  OPERATOR_TOKEN,
})
afterAll(close)

const operator = createApiClient(() => baseUrl, OPERATOR_TOKEN)
const parked = async (): Promise<readonly Json[]> => (await operator('/api/operator/parked')).body.parked
const ask = (id: string, action: string, body: Json = {}) =>
  operator(`/api/operator/parked/${id}/${action}`, { method: 'POST', body })

test('an operator lists parked streams, resumes one, passes an event of another over, and both are logged', async () => {
  const { one, other } = await createWorld(async (writer) => ({
    one: await createTenantWorkspace(writer, { planId: 'growth', fundCents: 0 }),
    other: await createTenantWorkspace(writer, { planId: 'growth', fundCents: 0 }),
  }))
  expect(await parked()).toEqual([])
  const credit = ({ workspaceId }: Json, amountCents: number, reference: string) =>
    operator(`/api/operator/workspaces/${workspaceId}/credits`, { method: 'POST', body: { amountCents, reference } })
  for (const tenant of [one, other]) expect((await credit(tenant, poison, 'unlucky')).status).toBe(200)
  await waitUntil('Both streams are parked', async () => (await parked()).length === 2, 30_000)
  expect((await credit(one, 500, 'behind it')).status).toBe(200)
  await waitUntil('The next event waits', async () => (await parked()).some(({ waiting }) => waiting === 1))

  const rowOf = async ({ workspaceId }: Json) => (await parked()).find((row) => row.workspaceId === workspaceId)
  expect(await rowOf(one)).toEqual({
    id: expect.any(String),
    reaction: 'renewals',
    stream: expect.stringContaining(one.workspaceId),
    workspaceId: one.workspaceId,
    type: 'WalletCredited',
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    attempts: 6,
    problem: 'RangeError: an unlucky credit',
    waiting: 1,
  })
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text()
  expect(metrics).toContain('reaction_parked_streams{reaction="renewals"} 2')
  const ready = await fetch(`${baseUrl}/readyz`)
  expect(ready.status).toBe(200)
  expect(await ready.json()).toMatchObject({ ready: true, warnings: ['Reaction renewals has parked 2 streams.'] })

  const id = String((await rowOf(other))?.id)
  expect(statusAndCode(await ask(UNKNOWN_ID, 'retry'))).toEqual([404, 'not_found'])
  expect(statusAndCode(await ask(id, 'skip'))).toEqual([400, 'validation_error'])
  expect(statusAndCode(await ask(id, 'skip', { note: ' ' }))).toEqual([400, 'validation_error'])
  const skipped = await ask(id, 'skip', { note: 'Agreed with the owner.' })
  expect([skipped.status, skipped.body.parked.id]).toEqual([202, id])
  await waitUntil('The event is passed over', async () => (await rowOf(other)) === undefined)
  cure.isCured = true
  const retried = await ask(String((await rowOf(one))?.id), 'retry')
  expect([retried.status, retried.body.parked.type]).toEqual([202, 'WalletCredited'])
  await waitUntil('The stream is resumed', async () => (await parked()).length === 0)
  expect(statusAndCode(await ask(id, 'retry'))).toEqual([404, 'not_found'])

  const logged = async ({ session }: Json) =>
    (await createApiClient(() => baseUrl, session)('/api/tracking/activity?kind=parked_stream')).body.data
  await waitUntil('The acts are logged', async () => (await logged(one)).length === 1)
  expect(await logged(one)).toMatchObject([
    {
      actor: { type: 'operator' },
      kind: 'parked_stream',
      action: 'retried',
      severity: 'medium',
      entity: { kind: 'parked_stream', name: 'of renewals at WalletCredited' },
      summary: 'Parked stream of renewals at WalletCredited was tried again.',
    },
  ])
  expect(await logged(other)).toMatchObject([
    {
      action: 'skipped',
      severity: 'high',
      entity: { id },
      summary: 'Parked stream of renewals at WalletCredited was passed over: Agreed with the owner.',
      changes: [{ field: 'note', before: null, after: 'Agreed with the owner.' }],
    },
  ])
}, 60_000)
