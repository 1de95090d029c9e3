import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/snippet/browser.ts'
import { numbered, POOL, snippetSuite, untilText } from '../support/snippet/suite.ts'

const chromium = chromiumPath()
const BODY = '<b class="svc-number">800-555-0100</b><a id="next" href="/next?tab=2">Next</a>'
const REFUSED = `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('refused', 'SecurityError') } })`

describe.runIf(chromium)('a visit in Chromium', () => {
  const { world, open } = snippetSuite(chromium ?? '')
  const bodies = () => world.api.got('lease').map(({ body }) => body)

  /** A page that an advertisement on another site led to, and a next page of the same site. */
  async function land(query: string): Promise<Page> {
    world.pages.put('/next', { html: `${world.pages.script({ 'data-pool': POOL })}${BODY}` })
    return numbered(await open(BODY, { path: '/landing', query, referer: `${world.pages.elsewhere}/ad` }))
  }

  test('keeps the parameters and the referrer that it began with on its next pages', async () => {
    const page = await land('?gclid=x&tab=1')
    await page.click('#next')
    await world.api.until('lease', 2)
    expect(bodies()[1]).toMatchObject({
      params: { gclid: 'x', tab: '2' },
      url: `${world.pages.origin}/next?tab=2`,
      referrer: `${world.pages.elsewhere}/ad`,
    })
  })

  test('begins anew with a link from outside that has parameters, and not with one that has none', async () => {
    const page = await land('?gclid=x')
    await page.goto(`${world.pages.origin}/next`, { referer: `${world.pages.elsewhere}/back` })
    await world.api.until('lease', 2)
    await page.goto(`${world.pages.origin}/next?msclkid=y`, { referer: `${world.pages.elsewhere}/other` })
    await world.api.until('lease', 3)
    expect(bodies().map(({ params }) => params)).toEqual([{ gclid: 'x' }, { gclid: 'x' }, { msclkid: 'y' }])
  })

  test('ends after half an hour without a page or a heartbeat', async () => {
    const page = await land('?gclid=x')
    await page.clock.install({ time: Date.now() + 31 * 60_000 })
    await page.click('#next')
    await world.api.until('lease', 2)
    expect(bodies()[1]).toMatchObject({ params: { tab: '2' }, referrer: '', visitorId: bodies()[0]?.visitorId })
  })

  test('goes on over a page that is loaded again', async () => {
    const page = await land('?gclid=x')
    await page.evaluate(`history.replaceState(null, '', '/next?tab=3')`)
    await world.api.until('lease', 2)
    await page.reload()
    await world.api.until('lease', 3)
    expect(bodies()[2]?.params).toEqual({ gclid: 'x', tab: '3' })
  })

  test('a new path or parameter of a single-page application is told by one more lease', async () => {
    const page = await land('?gclid=x')
    await page.evaluate(`for (const n of [1, 2, 3]) history.pushState({ n }, '', '/step/' + n + '?utm_term=roof')`)
    await world.api.until('lease', 2)
    expect(await page.evaluate('[history.state, history.length, location.pathname]')).toMatchObject([
      { n: 3 },
      expect.any(Number),
      '/step/3',
    ])
    await page.evaluate('history.back()')
    await world.api.until('lease', 3)
    expect(bodies().map(({ url, params }) => [url, params])).toEqual([
      [`${world.pages.origin}/landing?gclid=x`, { gclid: 'x' }],
      [`${world.pages.origin}/step/3?utm_term=roof`, { utm_term: 'roof', gclid: 'x' }],
      [`${world.pages.origin}/step/2?utm_term=roof`, { utm_term: 'roof', gclid: 'x' }],
    ])
  })

  test('an address that loses its parameters, or gets a fragment, is no news', async () => {
    const page = await open(BODY, { path: '/landing', query: '?gclid=x', before: (opened) => opened.clock.install() })
    await numbered(page)
    await page.evaluate(`history.replaceState(null, '', '/landing'); history.pushState(null, '', '#more')`)
    await page.clock.runFor(1_000)
    await page.evaluate('svcdni.refresh()')
    expect(bodies().map(({ url }) => url)).toEqual([
      `${world.pages.origin}/landing?gclid=x`,
      `${world.pages.origin}/landing`,
    ])
  })

  test('a page out of the back-forward cache leases again', async () => {
    const page = await land('?gclid=x')
    await page.evaluate('window.mark = 1')
    await page.click('#next')
    await world.api.until('lease', 2)
    await page.evaluate('void setTimeout(() => history.back())')
    await world.api.until('lease', 3)
    await page.waitForURL('**/landing*', { waitUntil: 'commit' })
    expect(await page.evaluate('window.mark')).toBe(1)
    expect(bodies()[2]).toMatchObject({
      url: `${world.pages.origin}/landing?gclid=x`,
      visitorId: bodies()[0]?.visitorId,
    })
  })

  test('where storage is refused, the visitor is remembered for as long as the page is open', async () => {
    const page = await open(BODY, { query: '?gclid=x', before: (opened) => opened.addInitScript(REFUSED) })
    await untilText(page, 'b', '(888) 555-0101')
    await page.evaluate(`history.pushState(null, '', '/other')`)
    await world.api.until('lease', 2)
    expect(bodies()[1]).toMatchObject({ visitorId: bodies()[0]?.visitorId, params: { gclid: 'x' } })
  })

  test.each([
    'not JSON',
    'null',
    '7',
    '{"id":"<script>","params":{}}',
    '{"id":"visitor-1","params":7,"referrer":{},"seen":"x"}',
  ])('a stored %s does no harm', async (stored) => {
    const page = await open(BODY, {
      before: (opened) => opened.addInitScript(`localStorage.setItem('svcdni', ${JSON.stringify(stored)})`),
    })
    await untilText(page, 'b', '(888) 555-0101')
    expect(bodies()[0]?.visitorId).toMatch(/^[\w-]{8,64}$/)
  })
})
