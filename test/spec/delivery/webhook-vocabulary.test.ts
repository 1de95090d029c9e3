import { describe, expect, it } from 'vitest'
import { webhookVocabulary } from '../../../queries/delivery/webhook-vocabulary.ts'
import { payloadCore, WEBHOOK_EVENT_NAMES } from '../../../src/domain/delivery/webhook-events.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import { queryPorts } from '../../support/fixtures/query-ports.ts'
import { NOW, WORKSPACE } from '../../support/fixtures/spec.ts'
import { createMemoryReadStore } from '../../support/memory/read-store.ts'

async function ask() {
  const answer = await webhookVocabulary.run(queryPorts(createMemoryReadStore()), {
    params: {},
    query: {},
    tenant: { workspaceId: WORKSPACE, timezone: 'UTC' },
    surface: 'rest',
    now: NOW,
  })
  if (isRefusal(answer)) throw new Error('It was refused.')
  return answer
}

describe('the vocabulary of webhooks', () => {
  it('is served to any key and on the console', () => {
    expect(webhookVocabulary.mounts).toEqual([
      { surface: 'console', path: '/api/tracking/webhooks/events' },
      { surface: 'rest', path: '/api/v1/webhooks/events', scope: null },
    ])
  })

  it('fits its schema', async () => {
    const answer = await ask()
    expect(webhookVocabulary.response.parse(answer)).toEqual(answer)
  })

  it('lists the ten events, the four headers, the retries and every macro', async () => {
    const { events, headers, retries, macros } = await ask()
    expect(events.map(({ event }) => event)).toEqual(WEBHOOK_EVENT_NAMES)
    expect(events).toHaveLength(10)
    expect(headers).toEqual(['svc-event', 'svc-request-id', 'svc-attempt', 'svc-signature'])
    expect(retries).toEqual({ maxAttempts: 4, backoffSeconds: [1, 5, 25] })
    expect(macros).toHaveLength(35)
    expect(macros[0]).toEqual({
      group: 'event',
      token: '{{event.name}}',
      description: expect.any(String),
      example: 'call.completed',
      inUrl: 'plain',
    })
  })

  it('shows a sample with a value in each of the 26 fields, as it is sent to a webhook and to a pixel', async () => {
    const { event, envelope, payload, pixel } = (await ask()).sample
    expect([event, envelope.event, envelope.data]).toEqual(['call.completed', event, payload])
    expect(Object.keys(payload)).toEqual(expect.arrayContaining(Object.keys(payloadCore.shape)))
    expect(Object.values(payload)).not.toContain(null)
    expect(pixel.expanded).toMatch(
      /^https:\/\/example\.com\/calls\?ref=CA-\d+&revenue=50\.00&caller=[0-9a-f]{32}&source=radio$/,
    )
    expect(pixel.template).toContain('{{caller.e164}}')
  })
})
