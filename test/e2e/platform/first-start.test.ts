import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, createApiClient, type Json, queryString } from '../../support/e2e/api-client.ts'
import { embeddedStores, freshEnvironment, type Server, startServer, storeSetups } from '../../support/e2e/server.ts'

const run = promisify(execFile)

/** A window with every call of the seed in any time zone. */
const WIDE = { from: new Date(Date.now() - 10 * 86_400_000).toISOString() }

/** Numbers of the seed, in its order. */
const SEEDED = Array.from({ length: 13 }, (_, n) => `+131055501${String(n + 1).padStart(2, '0')}`)

async function everyRow(ask: ApiClient): Promise<{ readonly rows: readonly Json[]; readonly last: Json }> {
  const rows: Json[] = []
  for (let page = 1, pages = 1, last: Json = null; ; page++) {
    if (page > pages) return { rows, last }
    const { body } = await ask(`/api/v1/calls${queryString({ ...WIDE, pageSize: 60, page })}`)
    rows.push(...body.data)
    pages = body.totalPages
    last = body
  }
}

const sum = (rows: readonly Json[], field: string) => rows.reduce((total, row) => total + row[field], 0)

describe.each(storeSetups)('first start over $name', (setup) => {
  let server: Server
  let tookMs: number
  let ask: ApiClient

  beforeAll(async () => {
    const begun = Date.now()
    server = await startServer({ ...freshEnvironment(setup), SANDBOX_SEED: '1' })
    tookMs = Date.now() - begun
    ask = createApiClient(() => server.baseUrl, server.sandbox.apiKey)
  })
  afterAll(() => server?.dispose())

  test('is ready within a minute', () => {
    expect(tookMs).toBeLessThan(60_000)
  })

  test('writes sandbox.json, readable by its owner only', () => {
    const { sandbox } = server
    expect(statSync(join(server.dataDir, 'sandbox.json')).mode & 0o777).toBe(0o600)
    expect(Object.keys(sandbox)).toEqual([
      'baseUrl',
      'agencyId',
      'ownerEmail',
      'ownerPassword',
      'sessionToken',
      'apiKey',
      'routingKey',
      'compatUrl',
      'poolKey',
      'numbers',
      'campaigns',
      'targets',
    ])
    expect(sandbox.baseUrl).toBe(server.baseUrl)
    expect(sandbox.sessionToken).toMatch(/^sess_[\w-]{43}$/)
    expect(sandbox.apiKey).toMatch(/^svc_test_[\w-]{43}$/)
    expect(sandbox.routingKey).toMatch(/^rk_live_[A-Z0-9]+_[A-Z0-9]+_[\w-]{43}$/)
    // Their endpoints are not built yet.
    expect([sandbox.compatUrl, sandbox.poolKey]).toEqual([null, null])
    expect(new Set(sandbox.targets.map(({ type }) => type))).toEqual(new Set(['number', 'sip', 'rtb']))
    expect(sandbox.numbers.map(({ e164 }: Json) => e164)).toEqual(SEEDED)
    for (const number of sandbox.numbers) expect(number.e164).toMatch(/^\+1\d{10}$/)
    for (const campaign of sandbox.campaigns) expect(campaign.routingMode).toMatch(/^(priority|weighted)$/)
  })

  test('prints the address, the credentials and a curl line that works as printed', async () => {
    const printed = server.stdout()
    const { baseUrl, ownerEmail, ownerPassword, apiKey, sessionToken } = server.sandbox
    for (const part of [baseUrl, ownerEmail, ownerPassword, apiKey, sessionToken]) expect(printed).toContain(part)
    const line = /^\s*(curl .*)$/m.exec(printed)?.[1] ?? ''
    const { stdout } = await run('bash', ['-c', line])
    expect(JSON.parse(stdout).data).toHaveLength(3)
  })

  test('has about 200 calls of several outcomes, whose stats add up', async () => {
    const { rows, last } = await everyRow(ask)
    const { stats, total } = last
    expect(total).toBeGreaterThanOrEqual(190)
    expect(total).toBeLessThanOrEqual(230)
    expect(rows).toHaveLength(total)
    expect(new Set(rows.map(({ id }) => id)).size).toBe(total)
    const count = (outcome: string) => rows.filter((row) => row.outcome === outcome).length
    expect(stats).toEqual({
      count: total,
      connected: count('connected') + count('converted'),
      converted: count('converted'),
      unrouted: count('unrouted'),
      connectRate: Number(((count('connected') + count('converted')) / total).toFixed(4)),
      conversionRate: Number((count('converted') / (count('connected') + count('converted'))).toFixed(4)),
      revenueCents: sum(rows, 'revenueCents'),
      payoutCents: sum(rows, 'payoutCents'),
      profitCents: sum(rows, 'profitCents'),
      usageCents: sum(rows, 'usageCents'),
      avgTalkSeconds: Math.round(sum(rows, 'talkSeconds') / (count('connected') + count('converted'))),
      totalTalkSeconds: sum(rows, 'talkSeconds'),
    })
    expect(stats.profitCents).toBe(stats.revenueCents - stats.payoutCents)
    expect(stats.connected + stats.unrouted + count('missed') + count('live')).toBe(total)
    for (const outcome of ['connected', 'converted', 'unrouted', 'missed']) expect(count(outcome)).toBeGreaterThan(0)
    expect(rows.map(({ status }) => status)).not.toContain('terminated')
  })

  test('shows every unrouted and skip reason that one workspace can have', async () => {
    const { rows } = await everyRow(ask)
    expect(new Set(rows.map(({ reasonCode }) => reasonCode).filter(Boolean))).toEqual(
      new Set([
        'campaign_not_live',
        'caller_blocked',
        'anonymous_blocked',
        'campaign_closed',
        'campaign_capped',
        'repeat_blocked',
        'no_targets',
        'no_eligible_target',
        'all_targets_failed',
      ]),
    )
    const skips = new Set<string>()
    for (const name of ['Every skip reason', 'One line only']) {
      const campaignId = server.sandbox.campaigns.find((campaign) => campaign.name === name)?.id
      const { body } = await ask(`/api/v1/calls${queryString({ ...WIDE, campaignId, pageSize: 200 })}`)
      for (const { id } of body.data) {
        const { story } = (await ask(`/api/v1/calls/${id}`)).body
        for (const { step, detail } of story.steps) if (step === 'skipped') skips.add(detail.reason)
      }
    }
    expect(skips).toEqual(
      new Set(['paused', 'buyer_paused', 'no_destination', 'closed', 'state', 'concurrency', 'capped', 'buyer_capped']),
    )
  })

  test('a later start opens a new session and keeps the key, the password and the data', async () => {
    const before = server.sandbox
    const rows = await everyRow(ask)
    await server.restart()
    const after = server.sandbox
    const { baseUrl: _was, sessionToken: first, ...kept } = before
    const { baseUrl: _is, sessionToken: second, ...still } = after
    expect(still).toEqual(kept)
    expect(second).not.toBe(first)
    expect((await everyRow(ask)).rows).toEqual(rows.rows)
    for (const token of [first, second]) {
      const { status } = await createApiClient(() => server.baseUrl, token)('/api/tracking/calls')
      expect(status).toBe(200)
    }
  })
})

describe('a sandbox that has bought numbers', () => {
  test('keeps the order of sandbox.json: the numbers of the seed first, and the call of the README works', async () => {
    const server = await startServer(freshEnvironment(embeddedStores))
    try {
      const console = createApiClient(() => server.baseUrl, server.sandbox.sessionToken)
      const post = (path: string, body: object) => console(path, { method: 'POST', body })
      const bought: string[] = []
      // Numbers below and above those of the seed.
      for (const areaCode of ['808', '202']) {
        const { body } = await post('/api/tracking/numbers/search', { numberType: 'local', areaCode, limit: 1 })
        const { e164, quoteToken } = body.results[0]
        const order = await post('/api/tracking/numbers/purchase', {
          requestId: randomUUID(),
          e164,
          quoteToken,
        })
        expect(order.status, order.text).toBe(201)
        bought.push(e164)
      }
      await server.restart()
      expect(server.sandbox.numbers.map(({ e164 }: Json) => e164)).toEqual([...SEEDED, ...bought])
      const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8')
      const block = readme.match(/^sandbox\(\) \{[\s\S]*?(?=^```)/m)?.[0] ?? ''
      expect(block.match(/^curl/gm)).toHaveLength(2)
      const script = block.replaceAll('var/sandbox.json', join(server.dataDir, 'sandbox.json'))
      const { stdout } = await run('bash', ['-c', script.replaceAll(/^(?=curl)/gm, 'echo; ')])
      const [placed, listed] = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(listed.data[0]).toMatchObject({ id: placed.callId, ref: placed.ref, status: 'completed' })
    } finally {
      await server.dispose()
    }
  })
})

describe('first start without a seed', () => {
  test('SANDBOX_SEED=0 begins with the workspace and no calls', async () => {
    const server = await startServer(freshEnvironment(embeddedStores))
    try {
      const ask = createApiClient(() => server.baseUrl, server.sandbox.apiKey)
      const calls = await ask(`/api/v1/calls${queryString(WIDE)}`)
      expect(calls.body).toMatchObject({ data: [], total: 0, totalPages: 0, stats: { count: 0, connectRate: null } })
      expect((await ask('/api/v1/campaigns')).body.total).toBe(server.sandbox.campaigns.length)
    } finally {
      await server.dispose()
    }
  })
})
