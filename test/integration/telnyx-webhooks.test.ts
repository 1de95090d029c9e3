import { generateKeyPairSync, sign } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { dialOutcomeOf, sipCodeOf } from '../../src/adapters/telnyx/causes.ts'
import { clientState, clientStateOf } from '../../src/adapters/telnyx/client-state.ts'
import { publicKeyOf, TOLERANCE_SECONDS } from '../../src/adapters/telnyx/webhook.ts'
import type { Json } from '../support/e2e/api-client.ts'
import { openTelnyxRig, type TelnyxRig } from '../support/fixtures/telnyx-rig.ts'

const open: TelnyxRig[] = []
afterEach(async () => {
  for (const rig of open.splice(0)) await rig.close()
})

async function opened(): Promise<TelnyxRig> {
  const rig = await openTelnyxRig()
  open.push(rig)
  return rig
}

const initiated = (more: Json = {}, payload: Json = {}) => ({
  data: {
    record_type: 'event',
    event_type: 'call.initiated',
    id: '0ccc7b54-4df3-4bca-a65a-3da1ecc777f0',
    occurred_at: '2026-06-01T12:00:00.521992Z',
    payload: {
      call_control_id: 'v3:MdI91X4lWFEs7IgbBEOT9M4AigoY08M0WWZFISt1Yw2axZ_IiE4pqg',
      call_leg_id: '428c31b6-7af4-4bcb-b7f5-5013ef9657c1',
      call_session_id: '428c31b6-abf3-3bc1-b7f4-5013ef9657c1',
      client_state: null,
      connection_id: '7267',
      direction: 'incoming',
      from: '+14155550199',
      to: '+13105550100',
      ...payload,
    },
    ...more,
  },
})

const taken = ({ engine }: TelnyxRig) => engine.log.events.filter(({ stream }) => stream.startsWith('telnyx-'))

/** Sends a body as Telnyx would, changed on the way where `change` says so. */
async function sent(rig: TelnyxRig, body: unknown, change: (request: Json) => Json = (request) => request) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const { headers } = rig.calls.signed('any', text)
  const answer = await rig.carrier.receiveWebhook(change({ headers, bytes: Buffer.from(text) }))
  await rig.pass(1)
  return typeof answer === 'boolean' ? answer : answer.refused
}

describe('a webhook', () => {
  test('that is genuine is taken', async () => {
    const rig = await opened()
    expect(await sent(rig, initiated())).toBe(true)
    expect(taken(rig)[0]).toMatchObject({
      type: 'TelnyxWebhookTaken',
      stream: 'telnyx-27-428c31b6-abf3-3bc1-b7f4-5013ef9657c1',
      data: { at: '2026-06-01T12:00:00.521Z', news: { incoming: true, to: '+13105550100', from: '+14155550199' } },
    })
  })

  const header = (name: string, value: string | string[] | undefined) => (request: Json) => ({
    ...request,
    headers: { ...request.headers, [name]: value },
  })
  const forged = (request: Json) => {
    const { privateKey } = generateKeyPairSync('ed25519')
    const message = Buffer.concat([Buffer.from(`${request.headers['telnyx-timestamp']}|`), request.bytes])
    return header('telnyx-signature-ed25519', sign(null, message, privateKey).toString('base64'))(request)
  }
  test.each<[string, (request: Json) => Json]>([
    ['without a signature', header('telnyx-signature-ed25519', undefined)],
    ['without a time', header('telnyx-timestamp', undefined)],
    ['signed by somebody else', forged],
    ['with another time', header('telnyx-timestamp', '1780315201')],
    ['with no time', header('telnyx-timestamp', 'now')],
    ['with a negative time', header('telnyx-timestamp', '-1')],
    ['with an endless time', header('telnyx-timestamp', '9'.repeat(400))],
    ['with two signatures', header('telnyx-signature-ed25519', ['a', 'b'])],
    ['with a short signature', header('telnyx-signature-ed25519', 'AAAA')],
    ['with an empty signature', header('telnyx-signature-ed25519', '')],
    ['that is cut off', (request) => ({ ...request, bytes: request.bytes.subarray(0, -1) })],
    [
      'that is changed by one byte',
      (request) => ({ ...request, bytes: Buffer.from(String(request.bytes).replace('+1415', '+1416')) }),
    ],
    ['that is empty', (request) => ({ ...request, bytes: Buffer.alloc(0) })],
  ])('%s is refused', async (_name, change) => {
    const rig = await opened()
    expect(await sent(rig, initiated(), change)).toBe('invalid-signature')
    expect(taken(rig)).toEqual([])
  })

  test.each([
    [-TOLERANCE_SECONDS - 1, 'invalid-signature'],
    [-TOLERANCE_SECONDS, true],
    [TOLERANCE_SECONDS, true],
    [TOLERANCE_SECONDS + 1, 'invalid-signature'],
  ])('%s seconds from now: %s', async (offset, expected) => {
    const rig = await opened()
    const text = JSON.stringify(initiated())
    const { headers } = rig.calls.signedAt(rig.engine.clock.now() + offset * 1_000, 'any', text)
    const answer = await rig.carrier.receiveWebhook({ headers, bytes: Buffer.from(text) })
    expect(typeof answer === 'boolean' ? answer : answer.refused).toBe(expected)
  })

  test('that comes again is taken once', async () => {
    const rig = await opened()
    expect(await sent(rig, initiated())).toBe(true)
    const before = taken(rig).length
    expect(await sent(rig, initiated())).toBe(true)
    expect(await sent(rig, initiated({}, { to: '+19995550100' }))).toBe(true)
    expect(taken(rig)).toHaveLength(before)
  })

  test.each([
    'call.machine.detection.ended',
    'call.cost',
    'message.received',
    'call.dtmf.received',
    'toString',
    '__proto__',
    '',
  ])('of the type "%s" is left alone', async (event_type) => {
    const rig = await opened()
    expect(await sent(rig, initiated({ event_type }))).toBe(false)
    expect(taken(rig)).toEqual([])
  })

  test.each<[string, unknown]>([
    ['no JSON', 'hello'],
    ['JSON that breaks off', '{"data":'],
    ['a list', []],
    ['null', null],
    ['another shape', { event: 'call.initiated' }],
    ['no id', initiated({ id: undefined })],
    ['an endless id', initiated({ id: 'x'.repeat(500) })],
    ['no instant', initiated({ occurred_at: 'yesterday' })],
    ['no payload', initiated({ payload: null })],
    ['no leg', initiated({}, { call_control_id: undefined })],
    ['no session', initiated({}, { call_session_id: undefined })],
    ['a session that is no id', initiated({}, { call_session_id: '../../x y' })],
    ['another direction', initiated({}, { direction: 'sideways' })],
    ['a number for a number', initiated({}, { to: 13105550100 })],
    ['headers that are none', initiated({}, { custom_headers: 'X: Y' })],
  ])('that is genuine and holds %s is refused, and not kept', async (_name, body) => {
    const rig = await opened()
    expect(await sent(rig, body)).toBe('validation-error')
    expect(taken(rig)).toEqual([])
  })

  test.each([
    ['anonymous', null],
    ['Restricted', null],
    ['', null],
    ['+266696687', null],
    ['sip:anonymous@anonymous.invalid', null],
    ['sip:+14155550199@carrier.example', '+14155550199'],
    ['14155550199', '+14155550199'],
    ['+14155550199', '+14155550199'],
    ['ＡＢＣ📞', null],
  ])('of a caller who is "%s" names %s', async (from, expected) => {
    const rig = await opened()
    expect(await sent(rig, initiated({}, { from }))).toBe(true)
    expect(taken(rig)[0]?.data).toMatchObject({ news: { from: expected } })
  })

  test('keeps the headers of a call sealed, and no more of them than make sense', async () => {
    const rig = await opened()
    const custom_headers = [
      { name: 'X-Svc-Routing-Key', value: 'rk_live_secret' },
      { name: '__proto__', value: 'x' },
      ...Array.from({ length: 200 }, (_, n) => ({ name: `X-${n}`, value: 'v'.repeat(5_000) })),
    ]
    expect(await sent(rig, initiated({}, { custom_headers }))).toBe(true)
    const [first] = taken(rig) as readonly Json[]
    const { sipHeaders } = first.data.news
    expect(sipHeaders['X-Svc-Routing-Key']).toBe('sealed rk_live_secret')
    expect(Object.keys(sipHeaders)).toHaveLength(50)
    expect(sipHeaders['X-7']).toHaveLength('sealed '.length + 1_000)
  })

  test('that cannot be kept is not taken, so that it is sent again', async () => {
    const rig = await opened()
    const text = JSON.stringify(initiated())
    const append = rig.engine.log.append
    rig.engine.log.append = async () => {
      throw new Error('away')
    }
    const { headers } = rig.calls.signed('any', text)
    await expect(rig.carrier.receiveWebhook({ headers, bytes: Buffer.from(text) })).rejects.toThrow('away')
    rig.engine.log.append = append
    expect(await sent(rig, initiated())).toBe(true)
  })
})

describe('how a dial ended', () => {
  test.each([
    ['user_busy', '486', 'busy', 486],
    ['user_busy', 'unspecified', 'busy', null],
    ['call_rejected', '603', 'rejected', 603],
    ['no_answer', '480', 'no_answer', 480],
    ['timeout', '487', 'no_answer', null],
    ['originator_cancel', '487', 'abandoned', null],
    ['not_found', '404', 'failed', 404],
    ['unspecified', '503', 'failed', 503],
    ['unspecified', '486', 'busy', 486],
    ['unspecified', '600', 'busy', 600],
    ['unspecified', '480', 'no_answer', 480],
    ['unspecified', '603', 'rejected', 603],
    ['call_rejected', '503', 'failed', 503],
    ['normal_clearing', '200', 'failed', null],
    ['something_new', 'x', 'failed', null],
    ['toString', '999', 'failed', null],
  ])('%s with %s is %s', (cause, sipCause, outcome, sipCode) => {
    const code = sipCodeOf(sipCause, cause)
    expect(code).toBe(sipCode)
    expect(dialOutcomeOf({ cause, sipCode: code })).toBe(outcome)
  })
})

describe('what travels with a leg', () => {
  test('comes back as it went', () => {
    const state = { session: '428c31b6-abf3-3bc1-b7f4-5013ef9657c1', purpose: { attempt: 3 } } as const
    expect(clientStateOf(clientState(state))).toEqual(state)
  })

  test.each([
    null,
    undefined,
    '',
    'not base64',
    'e30=',
    Buffer.from('{"session":"a b","purpose":{"attempt":1}}').toString('base64'),
  ])('%s is nothing of ours', (text) => {
    expect(clientStateOf(text)).toBeNull()
  })

  test('a public key that is none is refused', () => {
    expect(() => publicKeyOf('AAAA')).toThrow('32 bytes')
  })
})
