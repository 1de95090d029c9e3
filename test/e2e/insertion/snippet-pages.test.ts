import type { Browser, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createPool } from '../../support/e2e/visitor-client.ts'
import { callNow } from '../../support/e2e/won-call.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'
import { chromiumPath, launchBrowser } from '../../support/snippet/browser.ts'
import { type Pages, startPages } from '../../support/snippet/pages.ts'
import { numbered, untilText } from '../../support/snippet/suite.ts'

const chromium = chromiumPath()
const OWN = '(800) 555-0100'
const BODY = `<a class="svc-number" href="tel:+18005550100">Call ${OWN}</a>`
/** Longer than a third of the pool's time to live, after which the page sends a heartbeat. */
const BEAT_MS = 25_000

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const line = await main.line({ name: 'Site' }, [await main.target(await main.buyer({ name: 'Acme' }))])
  return { main, line, numbers: [await main.number(), await main.number()] }
}

describe.runIf(chromium)('in Chromium', () => {
  const { it, main, the, server, beforeAll, afterAll } = suite('pages over the platform', world, {
    stores: 'embedded',
    env: { SANDBOX_SEED: '0' },
  })
  const at = {} as { browser: Browser; pages: Pages; pool: { readonly id: string; readonly publicKey: string } }

  beforeAll(async () => {
    at.browser = await launchBrowser(chromium ?? '')
    at.pages = await startPages({ api: `${server.baseUrl}/api/public/dni` })
    const settings = { name: 'Site', ttlSeconds: 60, domains: ['127.0.0.1'], params: [{ key: 'utm_', prefix: true }] }
    const ids = the.numbers.map(({ numberId }) => numberId)
    at.pool = await createPool(main.console, { campaignId: the.line.campaignId, ...settings }, ids)
    const script = at.pages.script({ 'data-pool': at.pool.publicKey, async: '' })
    const html = `<!doctype html><html><head><title>A page</title><link rel="icon" href="data:,">${script}</head><body>${BODY}</body></html>`
    at.pages.put('/page', { html })
    at.pages.put('/isolated', { html, headers: { 'cross-origin-embedder-policy': 'require-corp' } })
  })
  afterAll(async () => {
    await at.browser?.close()
    at.pages?.close()
  })

  /** A page of a visitor without a past, and what its console complained of. */
  async function visit(url: string, before?: (page: Page) => Promise<unknown>) {
    const page = await (await at.browser.newContext()).newPage()
    const complaints: string[] = []
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())))
    page.on('pageerror', (error) => void complaints.push(error.message))
    await before?.(page)
    await page.goto(url)
    return { page, complaints }
  }

  it('a visitor sees a leased number, a heartbeat prolongs it, and the call on it has the page’s parameters', async () => {
    const url = `${at.pages.origin}/page?UTM_Source=radio&other=1`
    const { page, complaints } = await visit(url, async (opened) => {
      await opened.clock.install()
      await opened.addInitScript(`document.addEventListener('svcdni:number', ({ detail }) => { window.told = detail })`)
    })
    await numbered(page)
    const told: Json = await page.evaluate('told')
    await untilText(page, 'a', `Call ${told.number.display}`)
    expect(the.numbers.map(({ e164 }) => e164)).toContain(told.number.e164)
    expect(await page.locator('a').getAttribute('href')).toBe(`tel:${told.number.e164}`)
    expect(told).toMatchObject({ pool: at.pool.publicKey, ttlSeconds: 60, overflow: false })
    const beaten = page.waitForResponse((response) => response.url().endsWith('/heartbeat'))
    const earliest = Date.now() + 60_000
    await page.clock.fastForward(BEAT_MS)
    const beat: Json = await (await beaten).json()
    expect(beat).toMatchObject({ ok: true, expired: false, ttlSeconds: 60 })
    expect(Date.parse(beat.expiresAt)).toBeGreaterThanOrEqual(earliest)
    const { call } = await callNow(main, { to: told.number.e164 })
    expect(call).toMatchObject({ dniSessionId: told.sessionId, numberPoolId: at.pool.id })
    expect([call.tags.utm_source, call.tagSources.utm_source, call.tags.other]).toEqual(['radio', 'dni', undefined])
    const leases = await waitUntil('The lease is listed', async () => {
      const { body } = await main.console(`/api/tracking/pools/${at.pool.id}/leases?visitorId=${told.visitorId}`)
      return body.total === 1 && body.data
    })
    expect(leases[0]).toMatchObject({ url, params: { utm_source: 'radio' }, status: 'live' })
    expect(complaints).toEqual([])
  })

  it('a page that isolates itself gets its number too', async () => {
    const { page, complaints } = await visit(`${at.pages.origin}/isolated`)
    await numbered(page)
    expect(await page.locator('a').textContent()).not.toContain(OWN)
    expect(complaints).toEqual([])
  })

  it('a page of another host, and one whose pool is paused, keep their own number', async () => {
    const refused = (page: Page) => page.waitForResponse((response) => response.url().endsWith('/lease'))
    const open = async (url: string) => {
      let answered: ReturnType<typeof refused> | undefined
      const { page } = await visit(url, async (opened) => {
        answered = refused(opened)
      })
      const status = (await answered)?.status()
      return [status, await page.locator('a').textContent()]
    }
    expect(await open(`${at.pages.elsewhere}/page`)).toEqual([403, `Call ${OWN}`])
    const change = (status: string) =>
      main.console(`/api/tracking/pools/${at.pool.id}`, { method: 'PATCH', body: { status } })
    await change('paused')
    expect(await open(`${at.pages.origin}/page`)).toEqual([409, `Call ${OWN}`])
    await change('active')
  })

  it('the demo page of the sandbox shows a number, and by one click the call on it with the visitor’s tags', async () => {
    const { page, complaints } = await visit(`${server.baseUrl}/sandbox/landing`)
    await page.locator('#call:enabled').waitFor()
    const number: Json = await page.evaluate('svcdni.number')
    expect(await page.locator('a.phone').textContent()).toBe(`Call ${number.display}`)
    expect(await page.locator('a.phone').getAttribute('href')).toBe(`tel:${number.e164}`)
    expect(await page.locator('#session').textContent()).toMatch(/^\d+$/)
    await page.locator('#call').click()
    await page.locator('#story li').filter({ hasText: 'Call ended' }).waitFor()
    const rows = page.locator('#tags tr')
    expect(await rows.allTextContents()).toContain('utm_sourceradiodni')
    expect(await page.locator('#dni-session').textContent()).toBe(await page.locator('#session').textContent())
    expect(await page.locator('#pool').textContent()).toMatch(/^[0-9a-f-]{36}$/)
    await page.goto(`${server.baseUrl}/sandbox/landing?utm_source=search`)
    await page.locator('#call:enabled').click()
    await rows.filter({ hasText: 'search' }).waitFor()
    expect(await page.evaluate('svcdni.number')).toEqual(number)
    expect(complaints).toEqual([])
  })
})
