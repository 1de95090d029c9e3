import { describe, expect, it, test } from 'vitest'
import { requestId } from '../../../src/domain/delivery/delivery.ts'
import { sampleData, sampleEnvelope } from '../../../src/domain/delivery/sample.ts'
import { payloadCore, WEBHOOK_EVENT_NAMES, webhookEvents } from '../../../src/domain/delivery/webhook-events.ts'

const CORE = Object.keys(payloadCore.shape)

describe('a sample', () => {
  test.each(WEBHOOK_EVENT_NAMES)('of %s fits its schema, with no other key', (name) => {
    const data = sampleData(name)
    expect(webhookEvents[name].data.parse(data)).toEqual(data)
  })

  test.each(WEBHOOK_EVENT_NAMES.filter((name) => name !== 'wallet.low'))(
    'of %s has all 26 fields of the core',
    (name) => {
      expect(CORE).toHaveLength(26)
      expect(Object.keys(sampleData(name))).toEqual(expect.arrayContaining(CORE))
    },
  )

  test.each(['call.completed', 'call.converted'] as const)('of %s has a value in every field', (name) => {
    expect(Object.values(sampleData(name))).not.toContain(null)
  })

  test.each([
    ['call.incoming', { buyerId: null, targetId: null, answeredAt: null, revenueCents: 0 }],
    ['call.connected', { talkSeconds: 0, answeredAt: expect.any(String) }],
    ['call.unrouted', { status: 'rejected', buyerId: null, buyerName: null }],
    ['target.down', { consecutiveFailures: 3 }],
    ['wallet.low', { balanceCents: 0, reason: 'workspace_unfunded' }],
  ] as const)('of %s says what Document 2 says of it', (name, facts) => {
    expect(sampleData(name)).toMatchObject(facts)
  })

  it('is wrapped as it is delivered, and marked as a test on demand', () => {
    const envelope = sampleEnvelope('call.routed')
    expect(envelope).toMatchObject({ event: 'call.routed', data: sampleData('call.routed') })
    expect(requestId.safeParse(envelope.id).success).toBe(true)
    expect([envelope.test, sampleEnvelope('call.routed', true).test]).toEqual([undefined, true])
  })
})
