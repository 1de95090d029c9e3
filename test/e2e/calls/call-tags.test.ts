import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiClient, createApiClient, type Json, queryString, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, createTenantClient, minutesAgo } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const DESK = '+13125550001'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: 'Acme' }), { endpoint: { destinationE164: DESK } })
  const publisherId = await main.publisher({ name: 'North' })
  return {
    main,
    line: await main.line({ name: 'Roofing' }, [desk], { publisherId }),
    readOnly: await main.apiKey({ scopes: ['calls:read'] }),
    other: await createTenantWorkspace(writer, { name: 'Other' }),
  }
}

const { it, main, the, server } = suite('tags of calls', world)

const play = async (more: Json = {}) =>
  (
    await main.playCall({
      to: the.line.e164,
      from: '+13105550123',
      at: minutesAgo(3),
      script: { [DESK]: answerScript(5) },
      ...more,
    })
  ).call
const post = (ask: ApiClient, surface: string, id: string, tags: Json) =>
  ask(`/api/${surface}/calls/${id}/tags`, { method: 'POST', body: { tags } })
const byKey = (id: string, tags: Json) => post(main.rest, 'v1', id, tags)
const byUser = (id: string, tags: Json) => post(main.console, 'tracking', id, tags)
const codeOf = ({ status, body }: Json) => [status, body.error?.code]
const many = (count: number, from = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${from + n}`, n]))
const observed = () => ({ dialedNumber: the.line.e164, publisher: 'North', callerAreaCode: '310', callerState: 'CA' })
const sources = { dialedNumber: 'system', publisher: 'system', callerAreaCode: 'system', callerState: 'system' }

it('a call arrives with observed tags; a key and a user add tags', async () => {
  const { id, tags, tagSources } = await play()
  expect({ tags, tagSources }).toEqual({ tags: observed(), tagSources: sources })
  const keyed = await byKey(id, { 'crm.stage': 'won', score: 4.5, vip: true, empty: '' })
  expect(keyed.status, keyed.text).toBe(200)
  expect(keyed.body).toEqual({
    tags: { ...observed(), 'crm.stage': 'won', score: '4.5', vip: 'true', empty: '' },
    tagSources: { ...sources, 'crm.stage': 'api', score: 'api', vip: 'api', empty: 'api' },
  })
  const userd = await byUser(id, { 'crm.stage': 'lost', vip: null, callerState: null, note: 'Ümlaut 😀' })
  expect(userd.body).toEqual({
    tags: {
      dialedNumber: the.line.e164,
      publisher: 'North',
      callerAreaCode: '310',
      score: '4.5',
      empty: '',
      'crm.stage': 'lost',
      note: 'Ümlaut 😀',
    },
    tagSources: {
      dialedNumber: 'system',
      publisher: 'system',
      callerAreaCode: 'system',
      score: 'api',
      empty: 'api',
      'crm.stage': 'user',
      note: 'user',
    },
  })
  const { call } = await main.readCall(id)
  expect({ tags: call.tags, tagSources: call.tagSources }).toEqual(userd.body)
})

it('calls are found by their current tags', async () => {
  const { id } = await play()
  const mark = `mark-${id}`
  const found = async (filter: Json) =>
    (await main.rest(`/api/v1/calls${queryString(filter)}`)).body.data.map((row: Json) => row.id)
  await byKey(id, { 'deal.id': mark })
  expect(await found({ tagKey: 'deal.id', tagValue: mark })).toEqual([id])
  await byKey(id, { 'deal.id': null })
  expect(await found({ tagKey: 'deal.id', tagValue: mark })).toEqual([])
})

it('tags without a change are not logged', async () => {
  const { id } = await play()
  await byKey(id, { color: 'red' })
  expect((await byUser(id, { color: 'red', gone: null })).body.tagSources.color).toBe('api')
  const { body } = await main.console(`/api/tracking/activity?entityId=${id}`)
  expect(body.data).toHaveLength(1)
})

it('a live call accepts tags', async () => {
  const { body } = await main.placeCall({ to: the.line.e164, script: { [DESK]: answerScript(600) } })
  expect((await byKey(body.callId, { color: 'red' })).body.tags.color).toBe('red')
})

it(`${documentLine('limit: Tags')}: a value is cut to 512 characters, and never in the middle of one`, async () => {
  const { id } = await play()
  const face = `${'z'.repeat(511)}😀`
  const sent = { exact: 'x'.repeat(512), long: 'y'.repeat(2_000), face: `${face}!`, faces: '😀'.repeat(513) }
  const { body } = await byKey(id, sent)
  const stored = { exact: 'x'.repeat(512), long: 'y'.repeat(512), face, faces: '😀'.repeat(512) }
  expect(body.tags).toMatchObject(stored)
  const found = await main.rest(`/api/v1/calls${queryString({ tagKey: 'faces', tagValue: stored.faces })}`)
  expect(found.body.data.map((row: Json) => row.id)).toEqual([id])
})

it(`${documentLine('limit: Tags')}: forty keys fit into a request, eighty tags on a call`, async () => {
  const { id } = await play()
  const over = await byKey(id, many(41))
  expect(codeOf(over)).toEqual([400, 'bad_request'])
  expect(Object.keys(over.body.error.details)).toEqual(['tags'])
  expect((await byKey(id, many(40))).status).toBe(200)
  expect(codeOf(await byKey(id, many(37, 40)))).toEqual([400, 'bad_request'])
  expect(Object.keys((await byKey(id, many(36, 40))).body.tags)).toHaveLength(80)
  expect(codeOf(await byKey(id, { more: 1 }))).toEqual([400, 'bad_request'])
  expect((await byKey(id, { more: 1, k0: null })).status).toBe(200)
  expect(Object.keys((await main.readCall(id)).call.tags)).toHaveLength(80)
})

it(`${documentLine('limit: Tags')}: keys of 64 letters, digits, dots, hyphens and underscores`, async () => {
  const { id } = await play()
  for (const key of ['x'.repeat(64), 'A.b-c_9', 'constructor', '0'])
    expect(Object.entries((await byKey(id, { [key]: 'v' })).body.tags)).toContainEqual([key, 'v'])
  for (const key of ['x'.repeat(65), '', 'a b', 'ü', '$set', 'a/b', 'a․b']) {
    const { status, body } = await byKey(id, { [key]: 'v' })
    expect([status, body.error?.code, body.error?.details]).toEqual([
      400,
      'validation_error',
      {
        [`tags.${key.length > 24 ? `${key.slice(0, 24)}…` : key}`]:
          'contains an invalid key: it must be 1 to 64 letters, digits, dots, hyphens or underscores',
      },
    ])
  }
  for (const value of [{}, [], [1], { a: 1 }]) {
    const { status, body } = await byKey(id, { a: value })
    expect([status, body.error?.code, Object.keys(body.error?.details ?? {})]).toEqual([
      400,
      'validation_error',
      ['tags.a'],
    ])
  }
})

it('a body without tags is refused', async () => {
  const { id } = await play()
  expect(codeOf(await byKey(id, {}))).toEqual([400, 'bad_request'])
  for (const tags of [undefined, null, [], 'red'])
    expect(codeOf(await byKey(id, tags))).toEqual([400, 'validation_error'])
  const extra = await main.rest(`/api/v1/calls/${id}/tags`, { method: 'POST', body: { tags: { a: 1 }, more: 1 } })
  expect(extra.body.error.details).toEqual({ more: expect.any(String) })
  const proto = await main.rest(`/api/v1/calls/${id}/tags`, {
    method: 'POST',
    body: '{"tags":{"a":1},"__proto__":"x"}',
  })
  expect(codeOf(proto)).toEqual([400, 'validation_error'])
  expect((await main.readCall(id)).call.tags).toEqual(observed())
})

it('a tag may be called like the prototype of an object: its key has letters and underscores', async () => {
  const { id } = await play({ at: minutesAgo(2) })
  const send = (value: string) =>
    main.rest(`/api/v1/calls/${id}/tags`, { method: 'POST', body: `{"tags":{"__proto__":${value},"a":"b"}}` })
  const answer = await send('"x"')
  expect(answer.status, answer.text).toBe(200)
  expect(Object.entries(answer.body.tags)).toContainEqual(['__proto__', 'x'])
  expect(Object.entries(answer.body.tagSources)).toContainEqual(['__proto__', 'api'])
  const listed = async (filter: Json) => {
    const { body } = await main.rest(`/api/v1/calls${queryString({ tagKey: '__proto__', ...filter })}`)
    return body.data.map((call: Json) => call.id)
  }
  expect([await listed({}), await listed({ tagValue: 'x' }), await listed({ tagValue: 'y' })]).toEqual([[id], [id], []])
  expect((await main.rest('/api/v1/calls/export.csv')).text).toContain('""__proto__"":""x""')
  for (const value of ['{"polluted":1}', '[]']) {
    const refused = await send(value)
    expect([codeOf(refused), Object.keys(refused.body.error.details)]).toEqual([
      [400, 'validation_error'],
      ['tags.__proto__'],
    ])
  }
  expect(Object.keys((await send('null')).body.tags)).not.toContain('__proto__')
  expect(await listed({})).toEqual([])
})

it('concurrent tag requests all keep their tags', async () => {
  const { id } = await play()
  await Promise.all(Array.from({ length: 30 }, (_, n) => byKey(id, { [`own-${n}`]: n })))
  expect((await main.readCall(id)).call.tags).toMatchObject(
    Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`own-${n}`, String(n)])),
  )
})

it('who may: a key with the scope, and nobody of another workspace', async () => {
  const { id } = await play()
  const readOnly = createApiClient(() => server.baseUrl, the.readOnly)
  expect(codeOf(await post(readOnly, 'v1', id, { a: 1 }))).toEqual([403, 'insufficient_scope'])
  const other = createTenantClient(server, the.other)
  for (const each of [id, UNKNOWN_ID, 'nonsense']) {
    expect(codeOf(await post(other.rest, 'v1', each, 'nonsense'))).toEqual([404, 'not_found'])
    expect(codeOf(await post(other.console, 'tracking', each, { a: 1 }))).toEqual([404, 'not_found'])
  }
})

it('tag changes are logged with old and new values', async () => {
  const { id, ref } = await play()
  await byUser(id, { color: 'red', callerState: null, token: 'of a stranger' })
  const { body } = await main.console(`/api/tracking/activity?entityId=${id}`)
  expect(body.data).toMatchObject([
    {
      actor: { type: 'user', name: 'Main owner' },
      kind: 'call',
      action: 'tagged',
      severity: 'low',
      entity: { kind: 'call', id, name: ref },
      summary: `Call ${ref} was tagged: color, callerState, token.`,
      changes: [
        { field: 'tags.color', before: null, after: 'red' },
        { field: 'tags.callerState', before: 'CA', after: null },
        { field: 'tags.token', before: null, after: '•••' },
      ],
    },
  ])
  expect((await main.console('/api/tracking/activity/verify')).body.ok).toBe(true)
})
