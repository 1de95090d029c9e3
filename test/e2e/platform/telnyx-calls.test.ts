import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { REQUEST } from '../../../src/domain/shared/limits.ts'
import { createApiClient, type Json } from '../../support/e2e/api-client.ts'
import { openInProcessPlatform } from '../../support/e2e/in-process-platform.ts'
import { listenLocally } from '../../support/e2e/listen.ts'
import { freshEnvironment, storeSetups, waitUntil } from '../../support/e2e/server.ts'
import { createTenantWorkspace, type Tenant } from '../../support/e2e/world.ts'
import { createTelnyxCalls } from '../../support/fixtures/telnyx-calls.ts'
import { startTelnyxDouble, type TelnyxDouble } from '../../support/fixtures/telnyx-double.ts'

const MINUTES = 5
const systemClock = {
  now: () => Date.now(),
  schedule: (instant: number, wake: () => void) => {
    const timer = setTimeout(wake, Math.max(0, instant - Date.now()))
    return () => clearTimeout(timer)
  },
}

describe.each(storeSetups)('a platform whose calls come from Telnyx, over $name', (setup) => {
  let baseUrl = ''
  let tenant: Tenant
  let ask: ReturnType<typeof createApiClient>
  let double: TelnyxDouble
  const answeredMs: number[] = []
  const ends: (() => Promise<void>)[] = []
  const calls = createTelnyxCalls({
    clock: systemClock,
    deliver: async ({ body, headers }) => {
      const since = performance.now()
      const { ok } = await fetch(`${baseUrl}/api/carrier/telnyx`, { method: 'POST', body, headers })
      answeredMs.push(performance.now() - since)
      return ok
    },
  })

  /** The double's answer for recordings. */
  let recorded: 'there' | 'deleted' | 'forbidden' | 'away' = 'there'
  const AUDIO = Buffer.from('ID3 this is a recording')
  /** Statuses of the next requests for the bytes; 206 when empty. */
  const stored: number[] = []
  let storePort = 0
  const store = createServer((request, response) => {
    const [, first = '0', last = '0'] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
    response
      .writeHead(stored.shift() ?? 206, { 'content-range': `bytes ${first}-${last}/${AUDIO.length}` })
      .end(AUDIO.subarray(Number(first), Number(last) + 1))
  })
  const recording = (id: string) => {
    const there = { data: { id, download_urls: { mp3: `http://127.0.0.1:${storePort}/${id}` } } }
    const answers = {
      there: { status: 200, body: there },
      deleted: { status: 404, body: { errors: [{ code: '10005', title: 'Resource not found' }] } },
      forbidden: { status: 403, body: { errors: [{ code: '10010', detail: 'That is not yours.' }] } },
      away: { status: 500, body: {} },
    }
    return answers[recorded]
  }

  beforeAll(async () => {
    storePort = await listenLocally(store)
    ends.push(async () => {
      store.closeAllConnections()
      store.close()
    })
    double = await startTelnyxDouble({ calls, recording })
    const platform = await openInProcessPlatform({
      ...freshEnvironment(setup),
      CARRIER_URL: 'telnyx:',
      TELNYX_API_KEY: double.apiKey,
      TELNYX_CONNECTION_ID: double.connectionId,
      TELNYX_API_BASE: double.apiBase,
      TELNYX_PUBLIC_KEY: calls.publicKey,
    })
    ends.push(platform.close, double.close)
    baseUrl = platform.baseUrl
    tenant = await platform.createWorld((writer) => createTenantWorkspace(writer, { name: 'Acme' }))
    ask = createApiClient(() => baseUrl, tenant.session)
  })
  afterAll(async () => {
    for (const end of ends) await end()
  })

  let numbers = 0
  /** A number that no other run over the same stores uses. */
  const newNumber = () => {
    numbers += 1
    return `+1310${String(Date.now() % 10_000_000)
      .padStart(7, '0')
      .slice(0, 6)}${numbers}`
  }

  async function lineOf(settings: Json, targets: readonly Json[]) {
    const buyer = await tenant.buyer({ name: `Buyer ${newNumber()}` })
    const plan: string[] = []
    for (const target of targets) plan.push(await tenant.target(buyer, { ...target, name: `Target ${newNumber()}` }))
    const line = await tenant.line({ name: `Line ${newNumber()}`, ...settings }, plan)
    // A call finds its workspace by the read model.
    await waitUntil('The number can be called', async () => {
      const { body } = await ask(`/api/tracking/numbers?q=${line.e164.slice(1)}`)
      return body.data?.[0]?.webhookStatus === 'ready'
    })
    return { ...line, plan }
  }

  const callOf = (to: string, status: string) =>
    waitUntil(`The call on ${to} is ${status}`, async () => {
      const { body } = await ask(`/api/tracking/calls?pageSize=200`)
      return body.data.find((call: Json) => call.dialedNumber === to && call.status === status)
    })

  const readOf = async (to: string, status: string) => {
    const { id } = await callOf(to, status)
    const { body } = await ask(`/api/tracking/calls/${id}`)
    return body
  }

  const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
    fetch(`${baseUrl}/api/carrier/telnyx`, { method: 'POST', body, headers })

  async function refusalOf(response: Response) {
    const body: Json = await response.json()
    return [response.status, body.error?.code, body.error?.details ?? null]
  }

  /** Path of the first call's recording. */
  let url = ''

  test('a call is failed over, connected, recorded and reported', async () => {
    const [busy, desk] = ['+13125550486', '+13125550200']
    const { e164: to } = await lineOf({}, [
      { endpoint: { destinationE164: busy } },
      { endpoint: { destinationE164: desk } },
    ])
    const script = {
      [busy]: [{ result: 'busy' as const, afterSeconds: 0 }],
      [desk]: [{ result: 'answer' as const, afterSeconds: 0.2, talkSeconds: 2, hungUpBy: 'buyer' as const }],
    }
    calls.place({ to, from: '+14155550199', script })
    const { call, story } = await readOf(to, 'completed')
    expect(call).toMatchObject({
      outcome: 'converted',
      callerNumber: '+14155550199',
      talkSeconds: 2,
      hungUpBy: 'agent',
    })
    expect(story.attempts).toMatchObject([{ outcome: 'busy', sipCode: 486 }, { outcome: 'answered' }])
    url = await waitUntil(
      'The recording is there',
      async () => (await ask(`/api/tracking/calls/${call.id}`)).body.call.recordings?.[0]?.url,
    )
  })

  test('a recording is played, and a failure of the carrier is reported', async () => {
    const listen = (method = 'GET', headers = {}) => ask(url, { method, headers })

    const whole = await listen()
    expect([whole.status, whole.text]).toEqual([200, AUDIO.toString()])
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'audio/mpeg',
      'content-length': String(AUDIO.length),
      'cache-control': 'private, max-age=3600',
    })
    const part = await listen('GET', { range: 'bytes=4-7' })
    expect([part.status, part.text]).toEqual([206, 'this'])
    expect((await listen('GET', { range: 'bytes=500-' })).status).toBe(416)
    const head = await listen('HEAD')
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', String(AUDIO.length)])

    const kept = (headers: Headers) =>
      ['cache-control', 'content-range', 'accept-ranges'].map((name) => headers.get(name))
    const refuses = async (status: number, code: string) => {
      const answer = await listen()
      expect([answer.status, answer.body?.error.code]).toEqual([status, code])
      expect(kept(answer.headers)).toEqual([null, null, null])
      expect((await listen('HEAD')).status).toBe(status)
      return answer.body.error.message
    }
    recorded = 'deleted'
    await refuses(410, 'recording_expired')
    recorded = 'away'
    await refuses(502, 'upstream_error')
    recorded = 'forbidden'
    expect(await refuses(502, 'upstream_error')).toBe('That is not yours.')
    recorded = 'there'
    stored.push(404, 404)
    await refuses(410, 'recording_expired')
    stored.push(503, 503)
    await refuses(502, 'upstream_error')
    // A failure of the storage host is reported as long as nothing has been sent.
    stored.push(206, 503, 206, 503)
    await refuses(502, 'upstream_error')
    expect((await listen()).text).toBe(AUDIO.toString())
  })

  test('a call abandoned by its caller is missed, and the dial is hung up', async () => {
    const desk = '+13125550201'
    const { e164: to } = await lineOf({}, [{ endpoint: { destinationE164: desk } }])
    calls.place({
      to,
      from: 'anonymous',
      // A busy machine takes a while to dial.
      hangsUpAfterSeconds: 4,
      script: { [desk]: [{ result: 'answer', afterSeconds: 30 }] },
    })
    const { call } = await readOf(to, 'abandoned')
    expect(call).toMatchObject({ outcome: 'missed', callerNumber: null, hungUpBy: 'caller', talkSeconds: 0 })
    await waitUntil('The dial is hung up', async () => calls.executed.some(({ command }) => command === 'hangup'))
  })

  test('an unknown number, and one that does not deliver, is refused', async () => {
    const rejected = () => calls.executed.filter(({ command }) => command === 'reject').length
    const { e164: undelivered } = await tenant.number({ e164: newNumber(), ready: false })
    for (const to of ['+13105550000', undelivered]) {
      const before = rejected()
      calls.place({ to, from: '+14155550199' })
      await waitUntil(`${to} is rejected`, async () => rejected() === before + 1)
    }
  })

  test('a target is tested by a real dial', async () => {
    const { plan } = await lineOf({}, [{ endpoint: { destinationE164: '+13125550603' } }])
    calls.scriptProbe('+13125550603', { result: 'rejected', afterSeconds: 0 })
    const { status, body } = await ask(`/api/tracking/targets/${plan[0]}/test`, { method: 'POST', body: {} })
    expect(status).toBe(200)
    expect(body).toMatchObject({ ok: false, result: 'rejected', error: 'The dial ended with rejected (SIP 603).' })
  })

  test('a target that answers 503 without Retry-After is suppressed for half a minute', async () => {
    const desk = '+13125550503'
    const { e164: to, plan } = await lineOf({}, [{ endpoint: { destinationE164: desk } }])
    calls.place({ to, from: '+14155550199', script: { [desk]: [{ result: 'unavailable', afterSeconds: 0 }] } })
    const { story } = await readOf(to, 'failed')
    const [attempt] = story.attempts
    expect(attempt).toMatchObject({ outcome: 'failed', sipCode: 503 })
    const { body } = await ask(`/api/tracking/targets/${plan[0]}`)
    expect(Date.parse(body.target.suppressedUntil) - Date.parse(attempt.endedAt)).toBe(30_000)
  })

  test('webhooks are answered at once, also while the carrier’s API does not answer', async () => {
    const { e164: to } = await lineOf({}, [{}])
    const before = answeredMs.length
    double.failNext('silent')
    calls.place({ to, from: '+14155550199', hangsUpAfterSeconds: 0.5 })
    await waitUntil('Its beginning and its end are answered', async () => answeredMs.length >= before + 2)
    expect(Math.max(...answeredMs)).toBeLessThan(2_000)
    await callOf(to, 'abandoned')
  })

  test('a platform with Telnyx has no sandbox', async () => {
    const { status, body } = await ask('/api/sandbox/calls', { method: 'POST', body: { to: '+13105550100' } })
    expect([status, body.error.code]).toEqual([404, 'not_found'])
    for (const path of ['/sandbox/landing', '/sandbox/landing.js']) expect((await ask(path)).status).toBe(404)
    expect((await ask('/api/sandbox/landing/calls', { method: 'POST', body: {} })).status).toBe(404)
  })

  const genuine = (body: string, offsetSeconds = 0) => calls.signedAt(Date.now() + offsetSeconds * 1_000, 'any', body)

  test('forged, stale and truncated webhooks are refused', async () => {
    const { body, headers } = genuine('{"data":{}}')
    const signature = headers['telnyx-signature-ed25519'] ?? ''
    const bare = { 'content-type': 'application/json' }
    expect(await refusalOf(await post(body, bare))).toEqual([401, 'invalid_signature', null])
    const other = signature.startsWith('A') ? 'B' : 'A'
    const wrong = { ...headers, 'telnyx-signature-ed25519': `${other}${signature.slice(1)}` }
    expect(await refusalOf(await post(body, wrong))).toEqual([401, 'invalid_signature', null])
    expect(await refusalOf(await post(body.slice(0, -1), headers))).toEqual([401, 'invalid_signature', null])
    expect(await refusalOf(await post('', headers))).toEqual([401, 'invalid_signature', null])
    const stale = genuine('{"data":{}}', -MINUTES * 60 - 5)
    expect(await refusalOf(await post(stale.body, { ...stale.headers }))).toEqual([401, 'invalid_signature', null])
    const early = genuine('{"data":{}}', MINUTES * 60 + 5)
    expect(await refusalOf(await post(early.body, { ...early.headers }))).toEqual([401, 'invalid_signature', null])
  })

  test('genuine but unreadable webhooks are refused, and those of another kind are ignored', async () => {
    for (const body of ['not JSON', '{"data":', '[]', '{"data":{"id":"1"}}', '"\u0000📞"']) {
      const { headers } = genuine(body)
      const [status, code, details] = await refusalOf(await post(body, { ...headers }))
      expect([status, code, Object.keys(details ?? {})], body).toEqual([400, 'validation_error', ['body']])
    }
    const data = { id: 'x', event_type: 'call.cost', occurred_at: new Date().toISOString(), payload: {} }
    const other = genuine(JSON.stringify({ data }))
    const answer = await post(other.body, { ...other.headers, 'content-type': 'text/plain' })
    expect([answer.status, await answer.json()]).toEqual([200, { taken: false }])
  })

  test('a webhook of the largest size is accepted, a larger one refused', async () => {
    const at = (bytes: number) => post(new Uint8Array(bytes).fill(0x20), { 'content-type': 'application/json' })
    expect((await refusalOf(await at(REQUEST.webhookBytes))).slice(0, 2)).toEqual([401, 'invalid_signature'])
    expect((await refusalOf(await at(REQUEST.webhookBytes + 1))).slice(0, 2)).toEqual([413, 'payload_too_large'])
  })

  test('no other route answers under the webhook path', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const response = await fetch(`${baseUrl}/api/carrier/telnyx`, { method })
      expect(response.status, method).toBe(405)
    }
  })
})
