import { describe, expect, test } from 'vitest'
import { createRequestLog } from '../../../src/api/request-log.ts'
import { redactRequest, requestSeries } from '../../../src/domain/access/request-log.ts'
import { REQUEST_LOG } from '../../../src/domain/shared/limits.ts'
import { StoreUnavailable } from '../../../src/ports/read-store.ts'
import type { AnsweredRequest } from '../../../src/ports/request-log.ts'
import { runExpiryCleaner } from '../../../src/runtime/reactions/expiry-cleaner.ts'
import { createManualClock } from '../../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../../support/memory/operational-store.ts'
import { createSeededRandom } from '../../support/memory/random.ts'

const request: AnsweredRequest = {
  keyId: 'k1',
  method: 'GET',
  path: '/api/v1/calls',
  query: 'page=2',
  status: 200,
  ms: 1.25,
  ip: '203.0.113.9',
  userAgent: 'curl/8',
  errorCode: null,
}
const secret = `svc_live_${'a1'.repeat(21)}x`
const kept = (query: string | null) => redactRequest({ ...request, query }).query

describe('a logged request', () => {
  test('has the query as sent up to 4 KB, beyond that only its names', () => {
    const sent = (bytes: number) => `from=2026-01-01&caller=%2B13125550123&q=${'x'.repeat(bytes - 40)}`
    expect(kept(sent(4_096))).toBe(sent(4_096))
    expect(kept(sent(4_097))).toBe('from&caller&q')
    expect(kept(`q=${'é'.repeat(2_048)}`)).toBe('q')
  })

  test('leaves out names that do not fit', () => {
    const query = `${'a'.repeat(4_000)}=1&${'b'.repeat(95)}=2&c=3`
    expect(kept(query)).toBe(`${'a'.repeat(4_000)}&${'b'.repeat(95)}`)
    expect(kept(`${'a'.repeat(4_097)}=1`)).toBe('')
  })

  test.each([
    [`key=${secret}`, 'key=•••'],
    [`q=${secret}&page=1`, 'q=svc_live_•••&page=1'],
    ['access_token=abc&api_key=def&tagKey=source', 'access_token=•••&api_key=•••&tagKey=source'],
    ['Pass%77ord=hunter2', 'Pass%77ord=•••'],
    [`q=${secret.replaceAll('_', '%5F')}`, 'q=•••'],
    [`${secret}`, 'svc_live_•••'],
    ['q=%zz&=&&a', 'q=%zz&=&&a'],
  ])('no secret of %s', (sent, expected) => {
    expect(kept(sent)).toBe(expected)
  })

  test('has no query when none was sent, and cuts long texts', () => {
    expect([kept(null), kept('')]).toEqual([null, null])
    const long = redactRequest({
      ...request,
      path: `/${'p'.repeat(9_000)}`,
      userAgent: `a ${secret} ${'u'.repeat(900)}`,
    })
    expect(long.path).toHaveLength(REQUEST_LOG.path)
    expect(long.userAgent).toHaveLength(REQUEST_LOG.userAgent)
    expect(JSON.stringify(long)).not.toContain(secret)
    expect(redactRequest({ ...request, userAgent: null }).userAgent).toBeNull()
  })
})

function world() {
  const clock = createManualClock()
  const ops = createMemoryOperationalStore()
  const written: number[] = []
  let away = false
  const store = {
    async appendLog(notes: Parameters<typeof ops.appendLog>[0]) {
      if (away) throw new StoreUnavailable('away')
      written.push(notes.length)
      await ops.appendLog(notes)
    },
    put: ops.put,
  }
  const lost: number[] = []
  const log = createRequestLog({
    ops: store,
    clock,
    random: createSeededRandom(),
    onLost: (count) => lost.push(count),
  })
  const stored = async (keyId = 'k1') => ops.queryLog(requestSeries(keyId), clock.now(), { skip: 0, limit: 10 })
  return {
    clock,
    ops,
    log,
    written,
    lost,
    stored,
    setAway: (is: boolean) => {
      away = is
    },
  }
}

describe('the request log', () => {
  test('batches close requests into one write that does not delay them', async () => {
    const { clock, log, written, stored, ops } = world()
    for (let n = 0; n < 3; n++) {
      await clock.advance(1)
      log.add({ ...request, path: `/${n}` })
    }
    log.add({ ...request, keyId: 'k2', status: 404, errorCode: 'not_found' })
    expect(written).toEqual([])
    const at = clock.now()
    await clock.advance(250)
    expect(written).toEqual([4])
    const { keyId: _keyId, ...shown } = request
    expect(await stored()).toMatchObject({ total: 3, records: [{ at, value: { ...shown, path: '/2' } }, {}, {}] })
    expect((await stored('k2')).records).toMatchObject([{ labels: ['GET', '404'], value: { errorCode: 'not_found' } }])
    expect((await ops.get('key-used:k1', at))?.value).toBe(at)
  })

  test('stores a request for thirty days', async () => {
    const { clock, log, stored, ops } = world()
    log.add(request)
    await clock.advance(250)
    await clock.advance(30 * 86_400_000 - 251)
    expect((await stored()).total).toBe(1)
    await clock.advance(1)
    expect((await stored()).total).toBe(0)
    expect(await ops.deleteExpired(clock.now())).toBe(1)
  })

  test('writes pending requests on close, and retries failed writes', async () => {
    const { clock, log, stored, setAway } = world()
    setAway(true)
    log.add(request)
    await clock.advance(1_000)
    expect((await stored()).total).toBe(0)
    setAway(false)
    await clock.advance(250)
    expect((await stored()).total).toBe(1)
    log.add(request)
    await log.close()
    expect((await stored()).total).toBe(2)
  })

  test('buffers a bounded number of the newest requests while the store is unavailable, and logs the loss', async () => {
    const { clock, log, lost, setAway, written } = world()
    setAway(true)
    for (let n = 0; n <= 20_000; n++) log.add(request)
    expect(lost).toEqual([10_001])
    setAway(false)
    await clock.advance(5_000)
    expect(written.reduce((sum, count) => sum + count, 0)).toBe(10_000)
    setAway(true)
    log.add(request)
    await log.close()
    expect(lost).toEqual([10_001, 1])
  })
})

describe('the expiry cleaner', () => {
  test('runs in one process each minute, and retries when the store is unavailable', async () => {
    const clock = createManualClock()
    const ops = createMemoryOperationalStore()
    const swept: string[] = []
    let away = true
    const stop = new AbortController()
    const runs = ['a', 'b'].map((owner) =>
      runExpiryCleaner({
        ops: {
          claim: async (...claim) => (away ? Promise.reject(new StoreUnavailable('away')) : ops.claim(...claim)),
          deleteExpired: async () => swept.push(owner),
        },
        clock,
        owner,
        signal: stop.signal,
      }),
    )
    await clock.advance(59_999)
    away = false
    await clock.advance(60_001)
    expect(swept).toHaveLength(2)
    expect(new Set(swept).size).toBe(1)
    stop.abort()
    await Promise.all(runs)
  })
})
