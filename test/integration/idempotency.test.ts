import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { withIdempotency } from '../../src/api/idempotency.ts'
import { isRefusal, type Refusal, refuse } from '../../src/kernel/refusal.ts'
import { createSecrets } from '../../src/main/secrets.ts'
import type { ApiRequest, ApiResponse, ApiRoute } from '../../src/ports/api.ts'
import { createManualClock } from '../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../support/memory/operational-store.ts'
import { createSeededRandom } from '../support/memory/random.ts'

const HOUR_MS = 3_600_000

function setUp(run: (request: ApiRequest) => Promise<ApiResponse | Refusal>) {
  const clock = createManualClock()
  const ops = createMemoryOperationalStore()
  const route: ApiRoute = {
    method: 'POST',
    path: '/things',
    surface: 'console',
    scope: null,
    write: true,
    name: 'make-thing',
    summary: 'Make a thing',
    params: z.object({}),
    query: z.object({}),
    body: z.object({}),
    responses: {},
    rejects: [],
    run,
  }
  const secrets = createSecrets(randomBytes(32), createSeededRandom(1))
  const wrapped = withIdempotency(route, { ops, secrets, clock })
  const ask = (idempotencyKey: string | null, body: unknown = {}, credentialId = 'key:1') =>
    wrapped.run({
      params: {},
      query: {},
      body,
      principal: { actor: { type: 'user', id: null, name: 'U' }, tenant: null, credentialId, ratePerMinute: null },
      surface: 'console',
      requestId: 'req_1',
      idempotencyKey,
      ip: '127.0.0.1',
      ifMatch: null,
      minPosition: null,
      range: null,
      connection: { closeSignal: () => new AbortController().signal, drop: () => undefined },
    })
  return { ask, clock, ops }
}

function counting() {
  let created = 0
  return async (): Promise<ApiResponse> => {
    created += 1
    return { status: 201, body: { created }, position: 7 }
  }
}

const bodyOf = (answer: ApiResponse | Refusal) => (isRefusal(answer) ? answer.refused : answer.body)
const replayed = (answer: ApiResponse | Refusal) => !isRefusal(answer) && answer.headers?.['svc-idempotent-replay']

describe('a write with an Idempotency-Key', () => {
  it('answers the first outcome again, and says so', async () => {
    const { ask } = setUp(counting())
    const first = await ask('k')
    const second = await ask('k')
    expect([bodyOf(first), replayed(first)]).toEqual([{ created: 1 }, undefined])
    expect([bodyOf(second), replayed(second)]).toEqual([{ created: 1 }, 'true'])
  })

  it('runs each time without a key, and for each credential', async () => {
    const { ask } = setUp(counting())
    await ask(null)
    await ask('k')
    expect(bodyOf(await ask('k', {}, 'key:2'))).toEqual({ created: 3 })
  })

  it('refuses the key for another body', async () => {
    const { ask } = setUp(counting())
    await ask('k', { a: 1 })
    expect(bodyOf(await ask('k', { a: 2 }))).toBe('conflict')
  })

  it('keeps refusals too', async () => {
    let requests = 0
    const { ask } = setUp(async () => {
      requests += 1
      return refuse('bad-request', { requests })
    })
    await ask('k')
    expect(await ask('k')).toMatchObject({ refused: 'bad-request', details: { requests: 1 } })
  })

  it('keeps an outcome for 24 hours and no longer', async () => {
    const { ask, clock } = setUp(counting())
    await ask('k')
    await clock.advance(24 * HOUR_MS - 1)
    expect(bodyOf(await ask('k'))).toEqual({ created: 1 })
    await clock.advance(1)
    expect(bodyOf(await ask('k'))).toEqual({ created: 2 })
  })

  it('lets the same key try again after a fault', async () => {
    let failing = true
    const { ask } = setUp(async () => {
      if (failing) throw new Error('away')
      return { status: 201, body: { created: true }, position: null }
    })
    await expect(ask('k')).rejects.toThrow('away')
    failing = false
    expect(bodyOf(await ask('k'))).toEqual({ created: true })
  })

  it('runs once for requests at the same time', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const make = counting()
    const { ask, clock } = setUp(async () => {
      await gate
      return make()
    })
    const both = [ask('k'), ask('k')]
    release()
    const first = await both[0]
    for (let turn = 0; turn < 20; turn += 1) {
      await clock.advance(50)
      await Promise.resolve()
    }
    expect([bodyOf(first as ApiResponse), bodyOf((await both[1]) as ApiResponse)]).toEqual([
      { created: 1 },
      { created: 1 },
    ])
  })

  it('stores no refusal that says to retry later', async () => {
    let waiting = true
    const { ask } = setUp(async () =>
      waiting ? refuse('rate-limited') : { status: 200, body: { done: true }, position: null },
    )
    expect(bodyOf(await ask('k'))).toBe('rate-limited')
    waiting = false
    expect(bodyOf(await ask('k'))).toEqual({ done: true })
  })

  it('stores no bare hash of what was asked, which may hold a password', async () => {
    const { ask, ops } = setUp(counting())
    await ask('k', { password: 'secret' })
    const requests = (await ops.list('', 0)).map(({ value }) => Object(value).asked)
    await ask('l', { password: 'secret' })
    const again = (await ops.list('', 0)).map(({ value }) => Object(value).asked)
    expect([requests.length, new Set(again).size]).toEqual([1, 2])
    expect(requests[0]).not.toMatch(/^[0-9a-f]{64}$/)
  })

  it('opens no entry that stands in the place of another', async () => {
    const { ask, clock, ops } = setUp(counting())
    await ask('k')
    const [first] = await ops.list('', clock.now())
    await ask('l')
    for (const { key } of await ops.list('', clock.now())) await ops.put(key, first?.value, clock.now() + HOUR_MS)
    expect(bodyOf(await ask('k'))).toEqual({ created: 1 })
    await expect(ask('l')).rejects.toThrow()
  })

  it('stores nothing of the outcome in plain', async () => {
    const { ask, ops } = setUp(async () => ({ status: 201, body: { key: 'svc_live_secret' }, position: null }))
    await ask('k')
    expect(JSON.stringify(await ops.list('', 0))).not.toContain('svc_live_secret')
  })
})
