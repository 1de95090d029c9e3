import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { scopes } from '../../../src/domain/access/scopes.ts'
import { NO_BIDS } from '../../../src/domain/auctions/no-bid.ts'
import {
  API_KEY,
  BID,
  CALL_LOG,
  IDEMPOTENCY,
  OPERATOR_GUESSES,
  PAGE,
  PING,
  PUBLISHER_RATE,
  RATE,
  REQUEST,
  REQUEST_LOG,
  ROUTING_KEY,
  SESSION,
  SIGN_IN_FAILURES,
} from '../../../src/domain/shared/limits.ts'
import { dialResultOf, entryFor } from '../../../src/ports/call-script.ts'
import { READ_WAIT_MS } from '../../../src/runtime/projections/checkpoint-tracker.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { createApiClient, type Json } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const run = promisify(execFile)

const { it, describe, server } = suite(
  'the pages',
  async (writer: StreamWriter) => ({ main: await createTenantWorkspace(writer, { name: 'Main' }) }),
  { stores: 'embedded' },
)

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const PAGES = ['/', '/docs', '/docs/', '/docs/reference', '/docs/reference/']

const fetchPage = (path: string, accept = BROWSER) => fetch(`${server.baseUrl}${path}`, { headers: { accept } })
const htmlOf = async (path: string) => (await fetchPage(path)).text()

const SIGNS: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" }
/** The text of HTML. */
const textOf = (html: string) =>
  html.replaceAll(/<[^>]*>/g, '').replaceAll(/&(\w+|#39);/g, (_, name) => SIGNS[name] ?? '?')
const matches = (html: string, pattern: RegExp) => [...html.matchAll(pattern)].map((match) => match[1] ?? '')
/** The cells of the table whose head begins with a cell. */
const tableOf = (html: string, head: string) => {
  const table = matches(html, /<table>([\s\S]*?)<\/table>/g).find((one) => one.includes(`<th>${head}</th>`)) ?? ''
  return matches(table, /<tr>([\s\S]*?)<\/tr>/g)
    .slice(1)
    .map((row) => matches(row, /<td>([\s\S]*?)<\/td>/g).map(textOf))
}

describe('/', () => {
  it.each([BROWSER, 'text/html, application/xhtml+xml, */*', 'application/json;q=0.1, text/*'])(
    'answers a person whose browser accepts %s with a page that says where things are',
    async (accept) => {
      const response = await fetchPage('/', accept)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      const html = await response.text()
      for (const path of ['/docs', '/docs/reference', '/openapi.json', '/healthz'])
        expect(html).toContain(`href="${path}"`)
      expect(html).toContain('sandbox.json')
    },
  )

  it.each([
    '*/*',
    'application/json',
    'text/html, application/json',
    'text/html;q=0.4, application/json',
    'text/html;q=0, */*',
  ])('answers a program that accepts %s with JSON', async (accept) => {
    const response = await fetchPage('/', accept)
    expect(response.headers.get('vary')).toBe('accept, accept-encoding')
    const links: Json = await response.json()
    expect(links).toMatchObject({ name: 'Ringledger', docs: '/docs', openapi: '/openapi.json', health: '/healthz' })
    const { name: _name, version: _version, ...paths } = links
    for (const path of Object.values(paths)) expect((await fetchPage(String(path))).status).toBe(200)
  })
})

describe('every page', () => {
  it.each(PAGES)('%s has a title, a language, a width for phones and our own look alone', async (path) => {
    const response = await fetchPage(path)
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/)
    expect(html).toMatch(/<title>.*Ringledger<\/title>/)
    expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
    expect(html).not.toMatch(/swagger/i)
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none';/)
    expect(policy).not.toMatch(/https?:|\*/)
    for (const source of matches(html, /<(?:script|link|img)[^>]*(?:src|href)="([^"]*)"/g))
      expect(source).toMatch(/^(\/docs\/|data:image\/svg)/)
    expect((await fetchPage('/docs/style.css')).headers.get('content-type')).toBe('text/css; charset=utf-8')
  })

  it.each(['/', '/docs'])('%s needs no script, and its links lead somewhere', async (path) => {
    const html = await htmlOf(path)
    expect(html).not.toContain('<script')
    for (const link of new Set(matches(html, / href="([^"]*)"/g))) {
      if (link.startsWith('#')) expect(html).toContain(`id="${link.slice(1)}"`)
      else if (!link.startsWith('data:')) expect((await fetchPage(link)).status, link).toBe(200)
    }
  })

  it('the reference draws our OpenAPI document by a script from here', async () => {
    const response = await fetchPage('/docs/reference')
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self';connect-src 'self'")
    const html = await response.text()
    const settings = JSON.parse(textOf(matches(html, /data-configuration="([^"]*)"/g)[0] ?? ''))
    expect(settings).toMatchObject({
      url: '/openapi.json',
      withDefaultFonts: false,
      telemetry: false,
      persistAuth: false,
      // What else would lead to its makers, or show their name.
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
      showDeveloperTools: 'never',
    })
    expect(settings.customCss).toContain('a[href^="https://scalar.com"] { display: none }')
    const withoutScript = matches(html, /<noscript>([\s\S]*?)<\/noscript>/g)[0] ?? ''
    expect(withoutScript).toContain('<h1>API reference</h1>')
    expect(matches(withoutScript, / href="([^"]*)"/g)).toEqual(['/docs', '/openapi.json'])
    expect(settings).not.toHaveProperty('proxyUrl')
    expect(settings.servers).toEqual([{ url: '/' }])
    const [script] = matches(html, /<script src="([^"]*)"/g)
    const loaded = await fetch(`${server.baseUrl}${script}`, { headers: { 'accept-encoding': 'gzip' } })
    expect([loaded.status, loaded.headers.get('content-encoding')]).toEqual([200, 'gzip'])
    expect(await loaded.text()).toContain('data-configuration')
  })
})

describe('the guide', () => {
  it('says what holds everywhere, before it leads to the reference', async () => {
    const sections = matches(await htmlOf('/docs'), /<h2 id="([^"]*)"/g)
    expect(sections).toEqual([
      'introduction',
      'authentication',
      'errors',
      'paging',
      'reports',
      'idempotency',
      'rate-limits',
      'real-time-bidding',
      'overview-and-portal',
      'webhooks-and-pixels',
      'sandbox',
    ])
  })

  it('its commands work as they stand, and answer what it says', async () => {
    const html = await htmlOf('/docs')
    const blocks = matches(html, /<code class="language-sh">([\s\S]*?)<\/code>/g).map(textOf)
    const expected = matches(html, /<p class="answers">Answers ([\d, ]*)<\/p>/g).flatMap((list) => list.split(', '))
    const commands = blocks.flatMap((block) => block.match(/^curl /gm) ?? [])
    expect(commands.length).toBeGreaterThan(15)
    expect(expected).toHaveLength(commands.length)
    const count = `curl() { command curl "$@" -o /dev/null -w '%{http_code}\\n'; }`
    const script = [count, ...blocks].join('\n').replaceAll('var/sandbox.json', join(server.dataDir, 'sandbox.json'))
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
    const { stdout } = await run('bash', ['-e', '-c', script], { env: { ...process.env, PATH } })
    expect(stdout.split('\n').filter((line) => /^\d{3}$/.test(line))).toEqual(expected)
  })

  it('names paths that exist', async () => {
    const { body } = await createApiClient(() => server.baseUrl, null)('/openapi.json')
    const known = Object.entries<Json>(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    )
    const named = matches(await htmlOf('/docs'), /<code>([^<]*)<\/code>/g).map(textOf)
    const routes = named.filter((text) => /^[A-Z]+ \//.test(text))
    expect(routes.length).toBeGreaterThan(4)
    for (const route of routes) expect(known).toContain(route)
    for (const path of named.filter((text) => text.startsWith('/api')))
      expect(
        known.some((route) => route.includes(` ${path}/`)),
        path,
      ).toBe(true)
  })

  it('names the limits that the platform has', async () => {
    const text = textOf(await htmlOf('/docs')).replaceAll(/\s+/g, ' ')
    for (const sentence of [
      `(${API_KEY.graceMinutes.default} unless you say otherwise, ${API_KEY.graceMinutes.max} at most)`,
      `requested in the last ${REQUEST_LOG.days} days`,
      `ends ${SESSION.hours} hours after its last use`,
      `at most ${REQUEST.bodyBytes / 1024 ** 2} MB (${REQUEST.credentialBodyBytes / 1024} KB for sign-in`,
      `${REQUEST.bodyDepth} levels and ${REQUEST.objectFields} fields in one object`,
      `names at most ${REQUEST.problems} faults`,
      `pageSize is ${PAGE.default} unless you say otherwise (${PAGE.longDefault} in the request log`,
      `more than ${PAGE.max} is read as ${PAGE.max}`,
      `covers today and the ${CALL_LOG.defaultDaysBack} days before it`,
      `at most ${CALL_LOG.windowDays} days`,
      `longer than ${READ_WAIT_MS / 1_000} seconds`,
      `Idempotency-Key: 1 to ${REQUEST.idempotencyKey} visible`,
      `For ${IDEMPOTENCY.hours} hours the same key`,
      `${API_KEY.ratePerMinute.default} unless set, ${API_KEY.ratePerMinute.max} at most`,
      `${RATE.userPerMinute} for each user`,
      `the last ${RATE.windowMs / 1_000} seconds`,
      `after ${SIGN_IN_FAILURES.pair} in ${SIGN_IN_FAILURES.minutes} minutes for one address from one source, ${SIGN_IN_FAILURES.address} for one address or ${SIGN_IN_FAILURES.source} from one source`,
      `within tmaxMs (${PING.tmaxMs.min} to ${PING.tmaxMs.max}, ${PING.tmaxMs.default} unless you say otherwise)`,
      `until expiresAt (at most ${BID.lifeSeconds} seconds)`,
      `t may be off by ${PING.signatureSeconds} seconds`,
      `A body has at most ${PING.bodyBytes / 1024} KB`,
      `${PUBLISHER_RATE.minute.default} a minute, ${PUBLISHER_RATE.hour.default} an hour and ${PUBLISHER_RATE.day.default} a day`,
      `the old one works for ${ROUTING_KEY.graceMinutes.portal / 60} hours more`,
      `Wrong operator tokens: ${OPERATOR_GUESSES.perMinute} a minute`,
      `(${[...scopes].toSorted().join(', ')})`,
    ])
      expect(text).toContain(sentence)
  })

  it('names every reason for which a ping gets no offer, with its code', async () => {
    const rows = tableOf(await htmlOf('/docs'), 'What it says')
    expect(rows).toEqual(
      Object.entries(NO_BIDS).map(([reason, { code, sentence }]) => [String(code), reason, sentence]),
    )
  })

  it('signs a ping as a key that requires it takes it', async () => {
    const html = await htmlOf('/docs')
    const blocks = matches(html, /<code class="language-sh">([\s\S]*?)<\/code>/g).map(textOf)
    const [first = ''] = blocks
    const signed = blocks.find((block) => block.includes('SIGNING_SECRET')) ?? ''
    const console = createApiClient(() => server.baseUrl, server.sandbox.sessionToken)
    const [number] = server.sandbox.numbers
    const lane = await console(`/api/tracking/campaigns/${number?.campaignId}/publishers/${number?.publisherId}`)
    const place = `/api/publishers/keys/${lane.body.lane.key.id}`
    const secret = await console(`${place}/signing-secret/rotate`, { method: 'POST', body: {} })
    expect(secret.status, secret.text).toBe(200)
    const require = (requireSignature: boolean) => console(place, { method: 'PATCH', body: { requireSignature } })
    expect((await require(true)).status).toBe(200)
    const answered = async (SIGNING_SECRET: string) => {
      const script = `${first}\n${signed}`.replaceAll('var/sandbox.json', join(server.dataDir, 'sandbox.json'))
      const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
      const { stdout } = await run('bash', ['-e', '-c', script], { env: { ...process.env, PATH, SIGNING_SECRET } })
      return JSON.parse(stdout)
    }
    try {
      expect((await answered('another')).error.code).toBe('invalid_signature')
      expect(await answered(secret.body.signingSecret)).toMatchObject({ outcome: 'won' })
    } finally {
      expect((await require(false)).status).toBe(200)
    }
  })

  it('shows the rate headers of the first request of a new key', async () => {
    const console = createApiClient(() => server.baseUrl, server.sandbox.sessionToken)
    const created = await console('/api/tracking/api-keys', {
      method: 'POST',
      body: { name: 'First', scopes: ['buyers:read'] },
    })
    const { headers } = await createApiClient(() => server.baseUrl, created.body.key)('/api/v1/buyers')
    const text = textOf(await htmlOf('/docs'))
    expect(text).toContain(`RateLimit-Policy: ${headers.get('ratelimit-policy')}`)
    expect(text).toContain(`RateLimit: ${headers.get('ratelimit')}`)
  })

  it('shows an error as it is answered', async () => {
    const html = await htmlOf('/docs')
    const shown = JSON.parse(textOf(matches(html, /<code class="language-json">([\s\S]*?)<\/code>/g)[0] ?? ''))
    const ask = createApiClient(() => server.baseUrl, server.sandbox.apiKey)
    const { body } = await ask('/api/v1/calls?pageSize=none')
    expect(shown).toEqual({ error: { ...body.error, requestId: expect.stringMatching(/^req_[0-9a-f]{32}$/) } })
    const listed = tableOf(html, 'Meaning').map(([status, code]) => `${status} ${code}`)
    expect(listed).toEqual(expect.arrayContaining(['401 missing_key', '405 method_not_allowed', '412 conflict']))
    expect(new Set(listed).size).toBe(listed.length)
  })

  it('names the special destinations with what they answer', async () => {
    const rows = tableOf(await htmlOf('/docs'), 'Destination')
    expect(rows).toHaveLength(10)
    for (const [destination = '', result] of rows) {
      const dial = { targetId: '', destination, ringSeconds: 25, acceptDigit: null }
      const entry = entryFor({}, dial, 0)
      expect([entry.result, dialResultOf(entry, dial).answered]).toEqual([result, false])
    }
  })

  it('names the special numbers with what becomes of their orders', async () => {
    const console = createApiClient(() => server.baseUrl, server.sandbox.sessionToken)
    const post = (path: string, body: object) => console(`/api/tracking/numbers/${path}`, { method: 'POST', body })
    const outcomes: (readonly string[])[] = []
    for (const [ending = ''] of tableOf(await htmlOf('/docs'), 'Ends with')) {
      const { body } = await post('search', { areaCode: '646', endsWith: ending, limit: 1 })
      const { e164, quoteToken } = body.results[0]
      const bought = await post('purchase', { requestId: crypto.randomUUID(), e164, quoteToken })
      outcomes.push([ending, bought.body.order.status, bought.body.number?.webhookStatus ?? null])
    }
    expect(outcomes).toEqual([
      ['0001', 'pending', null],
      ['0002', 'review', null],
      ['0003', 'failed', null],
      ['0004', 'pending', null],
      ['0005', 'completed', 'failed'],
      ['0006', 'pending', null],
      ['0007', 'failed', null],
    ])
  })
})
