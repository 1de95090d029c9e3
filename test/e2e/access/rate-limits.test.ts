import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiResponse, createApiClient } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { type InProcessPlatform, openInProcessPlatform } from '../../support/e2e/in-process-platform.ts'
import { createKeyClient } from '../../support/e2e/key-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/v1/campaigns'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }))
  const line = await main.line({ name: 'Open' }, [target])
  const busy = await createTenantWorkspace(writer, { name: 'Busy' })
  const shared = await createTenantWorkspace(writer, { name: 'Shared' })
  return { main, line, busy, shared }
}

const code = ({ status, body }: ApiResponse) => [status, body?.error?.code]
const passed = (answers: readonly ApiResponse[]) => answers.filter(({ status }) => status === 200).length
const policy = ({ headers }: ApiResponse) => headers.get('ratelimit-policy')
const left = ({ headers }: ApiResponse) => Number(/^"default";r=(\d+);t=\d+$/.exec(headers.get('ratelimit') ?? '')?.[1])
const wait = ({ headers }: ApiResponse) => Number(/;t=(\d+)$/.exec(headers.get('ratelimit') ?? '')?.[1])

/** Sends concurrent requests. */
function atOnce(count: number, ask: (n: number) => Promise<ApiResponse>): Promise<readonly ApiResponse[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => ask(n)))
}

function expectRefused(answer: ApiResponse): void {
  expect(code(answer)).toEqual([429, 'rate_limited'])
  expect(answer.body.error.details).toBeNull()
  const after = Number(answer.headers.get('retry-after'))
  expect([Number.isInteger(after), after >= 1, after <= 60]).toEqual([true, true, true])
  expect([left(answer), wait(answer)]).toEqual([0, after])
}

const { it, describe, beforeAll, afterAll, the, server } = suite('rate limits', world, { env: {} })
const keyClient = createKeyClient(server, () => the.main.session)

describe(documentLine('limit: REST rate limit per key'), () => {
  it('is exact for a hundred concurrent requests, per key', async () => {
    const [one, other] = [
      await keyClient.create({ rateLimitPerMinute: 60 }),
      await keyClient.create({ rateLimitPerMinute: 60 }),
    ]
    const answers = await atOnce(100, () => one.ask(PATH))
    expect(passed(answers)).toBe(60)
    const refused = answers.filter(({ status }) => status !== 200)
    refused.forEach(expectRefused)
    expect(answers.map(policy).every((text) => text === '"default";q=60;w=60')).toBe(true)
    expect(
      answers
        .filter(({ status }) => status === 200)
        .map(left)
        .toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 60 }, (_, n) => n))
    expect((await other.ask(PATH)).status).toBe(200)
  })

  it('is 120 by default, and 1 to 1,200 where a key sets it', async () => {
    const usual = await keyClient.create()
    const first = await usual.ask(PATH)
    expect([policy(first), left(first), wait(first)]).toEqual(['"default";q=120;w=60', 119, 60])
    expect(passed(await atOnce(125, () => usual.ask(PATH)))).toBe(119)
    const slow = await keyClient.create({ rateLimitPerMinute: 1 })
    expect((await slow.ask(PATH)).status).toBe(200)
    expectRefused(await slow.ask(PATH))
    const fast = await keyClient.create({ rateLimitPerMinute: 1_200 })
    expect(left(await fast.ask(PATH))).toBe(1_199)
    for (const rateLimitPerMinute of [0, 1_201, -1, 1.5, '120', null]) {
      const refused = await keyClient.send('POST', '', { name: 'Key', scopes: [], rateLimitPerMinute })
      expect(Object.keys(refused.body.error.details)).toEqual(['rateLimitPerMinute'])
    }
  })

  it('counts requests refused after it, and none refused before or by it', async () => {
    const key = await keyClient.create({ rateLimitPerMinute: 4 })
    expect(left(await key.ask('/api/v1/buyers'))).toBe(4)
    expect(code(await key.ask('/api/v1/buyers'))).toEqual([403, 'insufficient_scope'])
    expect(left(await key.ask(`${PATH}/nonsense`))).toBe(3)
    expect(left(await key.ask(`${PATH}?page=0`))).toBe(2)
    expect(left(await key.ask(PATH))).toBe(1)
    expect(left(await key.ask(PATH))).toBe(0)
    for (let n = 0; n < 5; n++) expectRefused(await key.ask(`${PATH}/nonsense`))
    expect(code(await key.ask('/api/v1/buyers'))).toEqual([403, 'insufficient_scope'])
    const raised = await keyClient.send('PATCH', `/${key.id}`, { rateLimitPerMinute: 5 })
    expect(raised.status).toBe(200)
    expect(left(await key.ask(PATH))).toBe(0)
    expectRefused(await key.ask(PATH))
  })

  it('is shared by all secrets of a key and by both surfaces', async () => {
    const key = await keyClient.create({ rateLimitPerMinute: 3, scopes: ['buyers:read'] })
    const { body } = await keyClient.send('POST', `/${key.id}/rotate`)
    const rotated = createApiClient(() => server.baseUrl, body.key)
    expect(left(await key.ask('/api/v1/buyers'))).toBe(2)
    expect(left(await rotated('/api/v1/buyers'))).toBe(1)
    expect(left(await key.ask('/api/tracking/buyers'))).toBe(0)
    expectRefused(await rotated('/api/v1/buyers'))
  })
})

it(documentLine('limit: Console rate limit'), async () => {
  const ask = createApiClient(() => server.baseUrl, the.busy.session)
  const either = (n: number) => ask(n % 2 ? '/api/tracking/campaigns?pageSize=1' : '/api/auth/session')
  const answers: ApiResponse[] = []
  for (let n = 0; n < 650; n += 50) answers.push(...(await atOnce(50, either)))
  expect(passed(answers)).toBe(600)
  answers.filter(({ status }) => status !== 200).forEach(expectRefused)
  expect(answers.every((answer) => policy(answer) === '"default";q=600;w=60')).toBe(true)
  expect((await createApiClient(() => server.baseUrl, the.main.session)('/api/tracking/campaigns')).status).toBe(200)
  expect((await createApiClient(() => server.baseUrl, the.busy.key)(PATH)).status).toBe(200)
})

it('sandbox calls count towards no rate limit', async () => {
  const ask = createApiClient(() => server.baseUrl, the.main.session)
  const before = left(await ask('/api/tracking/campaigns'))
  const played = await atOnce(5, () =>
    ask('/api/sandbox/calls', { method: 'POST', body: { to: the.line.e164, mode: 'instant' } }),
  )
  for (const answer of played) expect([answer.status, policy(answer)]).toEqual([201, null])
  expect(left(await ask('/api/tracking/campaigns'))).toBe(before - 1)
})

describe('two processes over the same stores', () => {
  let other: InProcessPlatform
  const here = (token: string) => createApiClient(() => server.baseUrl, token)
  const there = (token: string) => createApiClient(() => other.baseUrl, token)

  beforeAll(async () => {
    await server.restart({ ROLES: 'command-api,query-api,projector' })
    other = await openInProcessPlatform({ ...server.env, ROLES: 'query-api' })
  })
  afterAll(() => other.close())

  it('share one limit', async () => {
    const { secret } = await createKeyClient(server, the.shared.session).create({ rateLimitPerMinute: 60 })
    for (const ask of [here(secret), there(secret)]) expect((await ask('/api/v1/buyers')).status).toBe(403)
    const answers = await atOnce(120, (n) => (n % 2 ? here(secret) : there(secret))(PATH))
    expect(passed(answers)).toBe(60)
    answers.filter(({ status }) => status !== 200).forEach(expectRefused)
    for (const ask of [here(secret), there(secret)]) expectRefused(await ask(PATH))
  })

  it('apply a changed, rotated or revoked key at once', async () => {
    const keys = createKeyClient(server, the.shared.session)
    for (let n = 0; n < 5; n++) {
      const { id, secret } = await keys.create()
      expect((await there(secret)(PATH)).status).toBe(200)
      await keys.send('PATCH', `/${id}`, { scopes: [] })
      expect(code(await there(secret)(PATH))).toEqual([403, 'insufficient_scope'])
      const { body } = await keys.send('POST', `/${id}/rotate`, { graceMinutes: 0 })
      expect(code(await there(secret)(PATH))).toEqual([401, 'invalid_key'])
      expect(code(await there(body.key)(PATH))).toEqual([403, 'insufficient_scope'])
      await keys.send('DELETE', `/${id}`)
      expect(code(await there(body.key)(PATH))).toEqual([401, 'invalid_key'])
    }
  })
})
