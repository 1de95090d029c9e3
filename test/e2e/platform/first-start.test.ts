import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, createApiClient, type Json, queryString } from '../../support/e2e/api-client.ts'
import {
  embeddedStores,
  freshEnvironment,
  runScript,
  type Server,
  startServer,
  storeSetups,
} from '../../support/e2e/server.ts'

const run = promisify(execFile)

/** A window with every call of the seed in any time zone. */
const WIDE = { from: new Date(Date.now() - 10 * 86_400_000).toISOString() }

/** Numbers of the seed, in its order. */
const SEEDED = Array.from({ length: 14 }, (_, n) => `+131055501${String(n + 1).padStart(2, '0')}`)

/** Runs the commands of the README after those that install and start; what each `curl` at the start of a line answers. */
async function runReadme(dataDir: string): Promise<readonly Json[]> {
  const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8')
  const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
  const script = blocks.filter((block) => block.includes('curl')).join('\n')
  expect(script.match(/^curl/gm)).toHaveLength(6)
  const here = script.replaceAll('var/sandbox.json', join(dataDir, 'sandbox.json'))
  const { stdout } = await run('bash', ['-e', '-c', here.replaceAll(/^(?=curl)/gm, 'echo; ')])
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Expects that the receiver got the events of the call that was placed, each with a right signature. */
function expectVerified({ requests }: Json): void {
  expect(requests.length).toBeGreaterThan(0)
  for (const { verified } of requests) expect(verified).toBe(true)
}

/** Expects that the call has the parameters of the page that leased its number. */
function expectLeased({ call }: Json): void {
  expect(call).toMatchObject({ dniSessionId: expect.any(String), tags: { utm_source: 'radio' } })
  expect(call.tagSources.utm_source).toBe('dni')
}

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
  let ask: ApiClient

  beforeAll(async () => {
    server = await startServer({ ...freshEnvironment(setup), SANDBOX_SEED: '1' })
    ask = createApiClient(() => server.baseUrl, server.sandbox.apiKey)
  })
  afterAll(() => server?.dispose())

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
    expect(sandbox.compatUrl).toMatch(new RegExp(`^${sandbox.baseUrl}/api/rtb/compat/ct_[\\w-]{43}\\.json$`))
    // Its endpoint is not built yet.
    expect(sandbox.poolKey).toMatch(/^pk_[0-9a-f]{24}$/)
    expect(new Set(sandbox.targets.map(({ type }) => type))).toEqual(new Set(['number', 'sip', 'rtb']))
    expect(sandbox.numbers.map(({ e164 }: Json) => e164)).toEqual(SEEDED)
    for (const number of sandbox.numbers) expect(number.e164).toMatch(/^\+1\d{10}$/)
    for (const campaign of sandbox.campaigns) expect(campaign.routingMode).toMatch(/^(priority|weighted|highest_bid)$/)
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

  test('routingKey and compatUrl get offers, on a number that no page shows', async () => {
    const { baseUrl, routingKey, compatUrl, numbers, sessionToken } = server.sandbox
    const publisher = createApiClient(() => baseUrl, routingKey)
    const callerNumber = '+14155550161'
    const post = (path: string, body: object) => publisher(`/api/rtb/v1/${path}`, { method: 'POST', body })
    const pinged = await post('ping', { callerNumber })
    expect(pinged.body, pinged.text).toMatchObject({ outcome: 'won' })
    const posted = await post('post', { auctionId: pinged.body.auctionId, callerNumber })
    const asked = await fetch(`${compatUrl}?CID=4155550162`)
    const { phoneNumber }: Json = await asked.json()
    const [first] = numbers
    expect([posted.body.number, phoneNumber]).toEqual([first?.e164, first?.e164])
    const { body } = await createApiClient(() => baseUrl, sessionToken)(`/api/tracking/numbers/${first?.id}`)
    expect(body.number).toMatchObject({ e164: first?.e164, pool: null })
  })

  test('has pings that won with calls, ghosts, and no-bids, with bids of the simulated bidders', async () => {
    const pings = await ask(`/api/v1/pings${queryString({ ...WIDE, direction: 'inbound', pageSize: 200 })}`)
    expect(pings.status, pings.text).toBe(200)
    const seeded = pings.body.data.filter((row: Json) => row.campaign.name === 'Sold at auction')
    const won = seeded.filter((row: Json) => row.outcome === 'won')
    const details: readonly Json[] = await Promise.all(won.map(({ id }: Json) => ask(`/api/v1/pings/${id}`)))
    const claimed = details.filter(({ body }) => body.call !== null)
    expect([seeded.length, won.length, claimed.length]).toEqual([23, 18, 12])
    for (const { body } of claimed) expect(body.call).toMatchObject({ status: 'completed', converted: true })
    expect(new Set(seeded.map(({ at }: Json) => at.slice(0, 10))).size).toBeGreaterThan(5)
    expect(Math.max(...seeded.map(({ elapsedMs }: Json) => elapsedMs))).toBeLessThan(10_000)
    const { stdout, code } = await runScript(server.env, 'explain', claimed[0]?.body.ping.id)
    expect([code, stdout]).toEqual([0, expect.stringMatching(/hold-auction: same .*All 1 decisions are reproduced\./s)])
    const codes = seeded.flatMap((row: Json) => row.reason?.code ?? [])
    expect(new Set(codes)).toEqual(new Set([1012, 1004, 1100]))
    const bids = await ask(`/api/v1/pings${queryString({ ...WIDE, direction: 'outbound', pageSize: 200 })}`)
    const statuses = new Set(bids.body.data.map((row: Json) => row.status))
    for (const status of ['claimed', 'lost', 'rejected', 'error']) expect(statuses).toContain(status)
  })

  test('a later start opens a new session and keeps the key, the password and the data', async () => {
    const before = server.sandbox
    const rows = await everyRow(ask)
    await server.restart()
    const after = server.sandbox
    const { baseUrl: was, sessionToken: first, compatUrl: url, ...kept } = before
    const { baseUrl: is, sessionToken: second, compatUrl: movedUrl, ...still } = after
    expect(still).toEqual(kept)
    expect(movedUrl).toBe(url?.replace(was, is))
    expect(second).not.toBe(first)
    expect((await everyRow(ask)).rows).toEqual(rows.rows)
    // The simulated bidders are asked at the address that the platform has now.
    const auction = after.numbers.at(-1)
    const console = createApiClient(() => server.baseUrl, second)
    const bidUrls = new Set<string>()
    for (const { id, name } of after.targets.filter(({ type }) => type === 'rtb')) {
      const { body } = await console(`/api/tracking/targets/${id}`)
      if (name.endsWith('exchange') && name !== 'Civic exchange') bidUrls.add(new URL(body.target.rtb.bidUrl).origin)
    }
    expect([auction?.e164, ...bidUrls]).toEqual([SEEDED.at(-1), is])
    for (const token of [first, second]) {
      const { status } = await createApiClient(() => server.baseUrl, token)('/api/tracking/calls')
      expect(status).toBe(200)
    }
  })
})

test('the commands of the README answer what it says right after a first start', async () => {
  const server = await startServer({ ...freshEnvironment(embeddedStores), SANDBOX_SEED: '1' })
  try {
    const [placed, listed, claiming, ping, received, leased] = await runReadme(server.dataDir)
    expect(listed.data[0]).toMatchObject({ id: placed.callId, ref: placed.ref, status: 'completed' })
    expect(ping).toMatchObject({ ping: { outcome: 'won' }, call: { id: claiming.callId, ref: claiming.ref } })
    expectVerified(received)
    expectLeased(leased)
  } finally {
    await server.dispose()
  }
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
      const [placed, listed, claiming, ping, received, leased] = await runReadme(server.dataDir)
      expect(listed.data[0]).toMatchObject({ id: placed.callId, ref: placed.ref, status: 'completed' })
      expect(ping).toMatchObject({ ping: { outcome: 'won' }, call: { id: claiming.callId, ref: claiming.ref } })
      expectVerified(received)
      expectLeased(leased)
    } finally {
      await server.dispose()
    }
  })
})

test('sandbox.json names no API key that was revoked', async () => {
  const server = await startServer(freshEnvironment(embeddedStores))
  try {
    const console = createApiClient(() => server.baseUrl, server.sandbox.sessionToken)
    const { body } = await console('/api/tracking/api-keys')
    expect((await console(`/api/tracking/api-keys/${body.data[0].id}`, { method: 'DELETE' })).status).toBe(200)
    await server.restart()
    expect(server.sandbox.apiKey).toBeNull()
  } finally {
    await server.dispose()
  }
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
