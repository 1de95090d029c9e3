import { createServer } from 'node:http'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { listenLocally } from '../support/e2e/listen.ts'
import { chromiumPath } from '../support/snippet/browser.ts'
import { type DniAnswer, send } from '../support/snippet/dni-api.ts'
import { countRequests, numbered, POOL, STRICT_POOL, snippetSuite, untilText } from '../support/snippet/suite.ts'

const chromium = chromiumPath()
const OWN = '<a class="svc-number" href="tel:8005550100" title="800-555-0100">Call 800-555-0100</a>'

const refusal =
  (status: number, code: string): DniAnswer =>
  (response) =>
    send(response, status, JSON.stringify({ error: { code, message: 'No.' } }))
const lease = (change: object): DniAnswer => {
  const number = { e164: '+18885550101', national: '888-555-0101', display: '(888) 555-0101' }
  const body = { number, visitorId: 'visitor-1', sessionId: '1', ttlSeconds: 90, overflow: false }
  return (response) => send(response, 200, JSON.stringify({ ...body, ...change }))
}

describe.runIf(chromium)('a page in Chromium keeps its own number', () => {
  const { world, open } = snippetSuite(chromium ?? '')

  /** Opens a page, and waits until the script has tried. Its failures must not become errors of the page. */
  async function tried(pool = POOL, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
    const page = await open(OWN, {
      headers,
      script: { 'data-pool': pool },
      before: (opened) =>
        opened.addInitScript(`
          window.failed = []
          addEventListener('error', ({ message }) => failed.push(message))
          addEventListener('unhandledrejection', ({ reason }) => failed.push(String(reason)))`),
    })
    await page.evaluate('svcdni.refresh()')
    return page
  }
  async function expectOwn(page: Page): Promise<void> {
    expect(await page.innerHTML('body')).toBe(OWN)
    expect(await page.evaluate('[svcdni.number, window.failed ?? []]')).toEqual([null, []])
  }

  test.each<[string, DniAnswer]>([
    ['400', refusal(400, 'validation_error')],
    ['403', refusal(403, 'origin_not_allowed')],
    ['404', refusal(404, 'pool_not_found')],
    ['409 pool_paused', refusal(409, 'pool_paused')],
    ['409 pool_empty', refusal(409, 'pool_empty')],
    ['429 in plain text', (response) => send(response, 429, 'Too many requests.', 'text/plain')],
    ['500', refusal(500, 'internal_error')],
    ['503 without leave for other origins', (response) => response.writeHead(503).end()],
    ['malformed JSON', (response) => send(response, 200, '{"number":')],
    ['JSON null', (response) => send(response, 200, 'null')],
    ['HTML', (response) => send(response, 200, '<html>', 'text/html')],
    ['a cut connection', (response) => response.destroy()],
    ['no number', lease({ number: null })],
    ['a number that is none', lease({ number: { e164: 'javascript:alert(1)', national: 'x', display: 'x' } })],
    ['a number without its spellings', lease({ number: { e164: '+18885550101' } })],
  ])('at %s', async (_case, answer) => {
    world.api.answer('lease', answer)
    await expectOwn(await tried())
  })

  test('where the pool does not allow its origin', async () => {
    await expectOwn(await tried(STRICT_POOL))
    expect(world.api.got('lease')[0]?.body.pool).toBe(STRICT_POOL)
  })

  test('where the connection is refused', async () => {
    const server = createServer()
    const port = await listenLocally(server)
    await new Promise((closed) => server.close(closed))
    const page = await open(OWN, { script: { 'data-api': `http://127.0.0.1:${port}` } })
    await page.evaluate('svcdni.refresh()')
    await expectOwn(page)
  })

  test('where its policy forbids the connection', async () => {
    await expectOwn(
      await tried(POOL, { 'content-security-policy': `script-src ${world.api.base}/; connect-src 'none'` }),
    )
    expect(world.api.got('lease')).toEqual([])
  })

  test('while an answer does not come, and tries again a minute later', async () => {
    world.api.answer('lease', () => undefined)
    const page = await open(OWN, { before: (opened) => opened.clock.install() })
    await world.api.until('lease', 1)
    await page.clock.pauseAt(Date.now() + 5_000)
    const failed = page.waitForEvent('requestfailed')
    await page.clock.runFor(11_000)
    await failed
    await expectOwn(page)
    world.api.answer('lease')
    await page.clock.runFor(60_000)
    await untilText(page, 'a', 'Call (888) 555-0101')
  })

  test('and does not ask again where it is refused', async () => {
    world.api.answer('lease', refusal(409, 'pool_paused'))
    const page = await open(OWN, {
      async before(opened) {
        await countRequests(opened)
        await opened.clock.install()
      },
    })
    await page.evaluate('svcdni.refresh()')
    await page.clock.pauseAt(Date.now() + 5_000)
    const before = await page.evaluate('asked')
    await page.clock.runFor(86_400_000)
    expect(await page.evaluate('asked')).toBe(before)
  })

  test('under the strictest policy that lets the script work, the number is replaced', async () => {
    const { origin } = new URL(world.api.base)
    const policy = `default-src 'none'; script-src ${origin}; connect-src ${origin}; require-trusted-types-for 'script'; trusted-types 'none'`
    const headers = { 'content-security-policy': policy, 'cross-origin-embedder-policy': 'require-corp' }
    const page = await numbered(await open(OWN, { headers }))
    expect(await page.getAttribute('a', 'href')).toBe('tel:+18885550101')
  })
})

describe.runIf(chromium)('a page in Chromium that has a number', () => {
  const { world, open } = snippetSuite(chromium ?? '')

  async function openStill(): Promise<Page> {
    const page = await numbered(await open(OWN, { before: (opened) => opened.clock.install() }))
    await page.clock.pauseAt(Date.now() + 5_000)
    return page
  }

  test('gets its own back once its lease is over and there is no other', async () => {
    const page = await openStill()
    await page.evaluate(`document.body.insertAdjacentHTML('beforeend', '<i data-svc-number></i>')`)
    await untilText(page, 'i', '(888) 555-0101')
    world.api.leases.pause(POOL)
    await page.clock.runFor(30_000)
    await untilText(page, 'a', 'Call 800-555-0100')
    expect(await page.innerHTML('body')).toBe(`${OWN}<i data-svc-number=""></i>`)
    expect(await page.evaluate('svcdni.number')).toBeNull()
  })

  test('keeps it while heartbeats fail and the lease may still be live, and takes it back after that', async () => {
    const page = await openStill()
    world.api.answer('heartbeat', (response) => send(response, 500, ''))
    world.api.answer('lease', (response) => send(response, 503, ''))
    await page.clock.runFor(30_000)
    await world.api.until('heartbeat', 1)
    // Comes after the answer to the heartbeat.
    await page.evaluate('svcdni.refresh()')
    expect(await page.textContent('a')).toBe('Call (888) 555-0101')
    await page.clock.runFor(61_000)
    await untilText(page, 'a', 'Call 800-555-0100')
    expect(await page.innerHTML('body')).toBe(OWN)
    world.api.answer('lease')
    await page.clock.runFor(60_000)
    await untilText(page, 'a', 'Call (888) 555-0101')
  })

  test('keeps it when a refresh fails', async () => {
    const page = await openStill()
    world.api.answer('lease', (response) => send(response, 503, ''))
    await page.evaluate('svcdni.refresh()')
    expect(await page.textContent('a')).toBe('Call (888) 555-0101')
  })
})
