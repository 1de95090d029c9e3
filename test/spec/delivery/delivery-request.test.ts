import { describe, expect, it, test } from 'vitest'
import {
  createDeliveryRequest,
  type DeliveryAttempt,
  type EndpointSettings,
  signatureOf,
} from '../../../src/domain/delivery/delivery-request.ts'
import { sampleEnvelope } from '../../../src/domain/delivery/sample.ts'
import type { Envelope } from '../../../src/domain/delivery/webhook-events.ts'

const HASH = 'c'.repeat(32)
const SECRET = 'whsec_test'
const envelope = sampleEnvelope('call.completed')
const NOW = '2026-03-10T15:02:36.999Z'
const SECONDS = 1_773_154_956

const plain: EndpointSettings = {
  kind: 'webhook',
  method: 'POST',
  url: 'https://a.example/in',
  headers: {},
  bodyTemplate: null,
}
const pixelGet: Partial<EndpointSettings> = { kind: 'pixel', method: 'GET' }
const pixelPost: Partial<EndpointSettings> = { kind: 'pixel', method: 'POST' }

const requestOf = (endpoint: Partial<EndpointSettings> = {}, rest: Partial<DeliveryAttempt> = {}) =>
  createDeliveryRequest({
    endpoint: { ...plain, ...endpoint },
    envelope,
    attempt: 1,
    secret: SECRET,
    callerHash: HASH,
    now: NOW,
    ...rest,
  })
const tagged = (tags: Readonly<Record<string, string>>): Envelope => ({ ...envelope, data: { ...envelope.data, tags } })

describe('a signature', () => {
  it('is the HMAC-SHA256 of time and body under the whole secret', () => {
    // python3: hmac.new(b'whsec_test', '1773154956.{"a":"ü"}'.encode(), hashlib.sha256).hexdigest()
    expect(signatureOf(SECRET, SECONDS, '{"a":"ü"}')).toBe(
      't=1773154956,v1=20dea540c2d083870b662a229d93e2470cd4717d3970e16afe71a88577e25154',
    )
  })

  test.each([
    ['secret', signatureOf('whsec_other', SECONDS, 'a')],
    ['time', signatureOf(SECRET, SECONDS + 1, 'a')],
    ['body', signatureOf(SECRET, SECONDS, 'a ')],
  ])('differs with another %s', (_what, other) => {
    expect(other).not.toBe(signatureOf(SECRET, SECONDS, 'a'))
  })
})

describe('a delivery to a webhook', () => {
  it('is a signed POST of the envelope with the documented headers', () => {
    const { url, method, headers, body } = requestOf({}, { attempt: 3 })
    expect([url, method]).toEqual(['https://a.example/in', 'POST'])
    expect(headers).toEqual({
      'content-type': 'application/json',
      'user-agent': 'svc-webhooks/1',
      'svc-event': 'call.completed',
      'svc-request-id': envelope.id,
      'svc-attempt': '3',
      'svc-signature': signatureOf(SECRET, SECONDS, body ?? ''),
    })
    expect(JSON.parse(body ?? '')).toEqual(envelope)
  })

  test.each([
    [false, ['id', 'event', 'createdAt', 'data']],
    [true, ['id', 'event', 'createdAt', 'data', 'test']],
  ])('with test %s has its keys in order', (isTest, keys) => {
    const { body } = requestOf({}, { envelope: sampleEnvelope('call.completed', isTest) })
    expect(Object.keys(JSON.parse(body ?? ''))).toEqual(keys)
  })

  it('has neither a template nor macros in its URL, and is a POST whatever its method says', () => {
    const url = 'https://a.example/{{call.ref}}'
    const request = requestOf({ url, method: 'GET', bodyTemplate: 'x' })
    expect(request).toMatchObject({ url, method: 'POST', body: requestOf().body })
  })

  it('expands macros in its own headers, and tells the number there', () => {
    const headers = {
      'X-Ref': 'r {{call.ref}}',
      'x-caller': '{{caller.e164}}',
      'x-none': '{{tag.none}}',
      'x-b': '{{{b',
    }
    expect(requestOf({ headers }).headers).toMatchObject({
      'x-ref': 'r CA-0000004821',
      'x-caller': '+12125550142',
      'x-none': '',
      'x-b': '{{b',
    })
  })

  it('keeps line breaks, and what else no header may have, out of its headers', () => {
    const { headers } = requestOf(
      { headers: { 'x-a': '{{tag.a}}' } },
      { envelope: tagged({ a: '1\r\nx-b: é🙂\u2028' }) },
    )
    expect(headers['x-a']).toBe('1x-b: é')
    expect(headers).not.toHaveProperty('x-b')
  })

  test.each(['Content-Type', 'USER-AGENT', 'svc-event', 'Svc-Signature', 'svc-other', 'Host', 'Transfer-Encoding'])(
    'has its own header where one called %s is configured',
    (name) => {
      expect(requestOf({ headers: { [name]: 'own' } }).headers).toEqual(requestOf().headers)
    },
  )
})

describe('a delivery to a GET pixel', () => {
  it('has no body, content type or signature', () => {
    const { method, headers, body } = requestOf({ ...pixelGet, headers: { 'Content-Type': 'text/plain', 'x-a': '1' } })
    expect([method, body]).toEqual(['GET', null])
    expect(headers).toEqual({
      'x-a': '1',
      'user-agent': 'svc-webhooks/1',
      'svc-event': 'call.completed',
      'svc-request-id': envelope.id,
      'svc-attempt': '1',
    })
  })

  test.each([
    ['?r={{call.ref}}&v={{call.revenue}}', '?r=CA-0000004821&v=50.00'],
    ['?c={{caller.e164}}&s={{caller.suffix}}', `?c=${HASH}&s=${HASH}`],
    ['?t={{tag.plain}}', '?t=a%20%26%2F%3Fb'],
    ['?t={{tag.number}}', `?t=${HASH}`],
    ['?t={{tag.half}}', '?t=%EF%BF%BD'],
    ['?t={{tag.none}}&u', '?t=&u'],
    ['?{{{call.ref}}', '?{{call.ref}}'],
    ['?d={{call.dialed}}', '?d=%2B12125550100'],
  ])('expands %s to %s', (query, expanded) => {
    const tags = { plain: 'a &/?b', number: '212-555-0142', half: '\udc00' }
    const { url } = requestOf({ ...pixelGet, url: `https://a.example/p${query}` }, { envelope: tagged(tags) })
    expect(url).toBe(`https://a.example/p${expanded}`)
  })
})

describe('a delivery to a POST pixel', () => {
  it('without a template is that of a webhook', () => {
    expect(requestOf({ ...pixelPost, headers: { 'content-type': 'text/plain' } })).toEqual(requestOf())
  })

  test.each([
    ['{}', '{"t":"{{tag.t}}"}', 'application/json', '{"t":"a\\"b&\\nü"}'],
    [
      '{"Content-Type":"application/json; charset=utf-8"}',
      '"{{tag.t}}"',
      'application/json; charset=utf-8',
      '"a\\"b&\\nü"',
    ],
    ['{"content-type":""}', '"{{tag.t}}"', 'application/json', '"a\\"b&\\nü"'],
    [
      '{"CONTENT-TYPE":"application/x-www-form-urlencoded"}',
      't={{tag.t}}&c={{caller.e164}}',
      'application/x-www-form-urlencoded',
      't=a%22b%26%0A%C3%BC&c=%2B12125550142',
    ],
    ['{"content-type":"text/plain"}', '{{tag.t}}|{{caller.nanp}}', 'text/plain', 'a"b&\nü|2125550142'],
  ])('with the headers %s expands %s as %s', (headers, bodyTemplate, contentType, body) => {
    const settings = { ...pixelPost, headers: JSON.parse(headers), bodyTemplate }
    const request = requestOf(settings, { envelope: tagged({ t: 'a"b&\nü' }) })
    expect(request.headers['content-type']).toBe(contentType)
    expect(request.body).toBe(body)
    expect(request.headers['svc-signature']).toBe(signatureOf(SECRET, SECONDS, body))
  })

  it('with a template that expands to nothing is signed over no bytes', () => {
    const { headers, body } = requestOf({ ...pixelPost, bodyTemplate: '{{tag.none}}' })
    expect([body, headers['svc-signature']]).toEqual(['', signatureOf(SECRET, SECONDS, '')])
  })

  it('hides the number in its URL while its body tells it', () => {
    const { url, body } = requestOf({
      ...pixelPost,
      url: 'https://a.example/{{caller.nanp}}',
      bodyTemplate: '"{{caller.nanp}}"',
    })
    expect([url, body]).toEqual([`https://a.example/${HASH}`, '"2125550142"'])
  })
})
