import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/snippet/browser.ts'
import { numberOf } from '../support/snippet/dni-leases.ts'
import {
  countRequests,
  numbered,
  POOL,
  SMALL_POOL,
  setVisibility,
  snippetSuite,
  untilText,
} from '../support/snippet/suite.ts'

const chromium = chromiumPath()
const BODY = '<b class="svc-number">800-555-0100</b>'
/** A third of the pool's time to live. */
const BEAT_MS = 30_000

describe.runIf(chromium)('a lease of a page in Chromium', () => {
  const { world, open } = snippetSuite(chromium ?? '')

  /** A page with its number, whose time stands still. */
  async function openStill(script: Readonly<Record<string, string>> = {}): Promise<Page> {
    const page = await open(BODY, { script, before: (opened) => opened.clock.install() })
    await numbered(page)
    await page.clock.pauseAt(Date.now() + 5_000)
    return page
  }
  const bodies = (name: string) => world.api.got(name).map(({ body }) => body)

  test('is asked for with the page, its parameters, the referrer and a visitor of its own, without cookies', async () => {
    await world.context.addCookies([{ name: 'session', value: '1', url: world.api.base }])
    const page = await open(BODY, {
      path: '/landing',
      query: '?utm_source=g&GCLID=x%20y#secret',
      referer: `${world.pages.elsewhere}/ad`,
    })
    await numbered(page)
    const [request] = world.api.got('lease')
    expect(request?.body).toEqual({
      pool: POOL,
      visitorId: expect.stringMatching(/^[0-9a-f]{32}$/),
      params: { utm_source: 'g', gclid: 'x y' },
      url: `${world.pages.origin}/landing?utm_source=g&GCLID=x%20y`,
      referrer: `${world.pages.elsewhere}/ad`,
    })
    expect(request?.headers.cookie).toBeUndefined()
    expect(request?.headers['content-type']).toBe('application/json')
    expect(request?.headers.origin).toBe(world.pages.origin)
    expect(await page.evaluate('document.cookie')).toBe('')
  })

  test('keeps what is sent within the limits of the document', async () => {
    const params = Array.from({ length: 120 }, (_, n) => `key${n}=${'v'.repeat(30)}`).join('&')
    await numbered(await open(BODY, { query: `?long=${'x'.repeat(300)}&${params}` }))
    const [body] = bodies('lease') as { params: Record<string, string>; url: string }[]
    expect(body?.url).toHaveLength(2_000)
    expect(Object.keys(body?.params ?? {})).toHaveLength(100)
    expect(body?.params.long).toHaveLength(256)
  })

  test('tells the page of its number: an event, window.svcdni.number, and a promise of refresh', async () => {
    const page = await open(BODY, {
      before: (opened) =>
        opened.addInitScript(`
          window.told = []
          document.addEventListener('svcdni:number', ({ detail }) => told.push({ ...detail, shown: document.querySelector('b')?.textContent }))`),
    })
    await numbered(page)
    const { visitorId } = bodies('lease')[0] ?? {}
    const told = {
      pool: POOL,
      number: numberOf(1),
      visitorId,
      sessionId: '9007199254740001',
      ttlSeconds: 90,
      overflow: false,
    }
    expect(await page.evaluate('told')).toEqual([{ ...told, shown: '(888) 555-0101' }])
    expect(await page.evaluate('svcdni.number')).toEqual(numberOf(1))
    expect(await page.evaluate('svcdni.refresh()')).toBeUndefined()
    expect(bodies('lease').map((body) => body.visitorId)).toEqual([visitorId, visitorId])
    // The same number and session are no news.
    expect(await page.evaluate('told.length')).toBe(1)
  })

  test('swap writes the number again at once', async () => {
    const page = await openStill()
    const text = `(() => {
      const one = document.createElement('div')
      one.innerHTML = '<i class="svc-number">800-555-0100</i>'
      document.body.append(one)
      svcdni.swap()
      return one.textContent
    })()`
    expect(await page.evaluate(text)).toBe('(888) 555-0101')
  })

  test('is kept alive by a heartbeat for each third of its time to live', async () => {
    const page = await openStill()
    for (const count of [1, 2, 3]) {
      await page.clock.runFor(BEAT_MS)
      await world.api.until('heartbeat', count)
      // The answer has arrived once a refresh, which comes after it, is done.
      await page.evaluate('svcdni.refresh()')
    }
    const { visitorId } = bodies('lease')[0] ?? {}
    expect(bodies('heartbeat')).toEqual(Array(3).fill({ sessionId: '9007199254740001', visitorId }))
    expect(world.api.got('heartbeat')[0]?.headers.cookie).toBeUndefined()
  })

  test('has no heartbeats while the page is hidden, and one at once when it is seen again and one is due', async () => {
    const page = await openStill()
    await setVisibility(page, 'hidden')
    await page.clock.runFor(BEAT_MS * 2)
    await setVisibility(page, 'visible')
    await world.api.until('heartbeat', 1)
    await page.evaluate('svcdni.refresh()')
    expect(world.api.got('heartbeat')).toHaveLength(1)
    await setVisibility(page, 'hidden')
    await setVisibility(page, 'visible')
    await page.evaluate('svcdni.refresh()')
    expect(world.api.got('heartbeat')).toHaveLength(1)
  })

  test('is begun anew when the page was hidden for longer than it lasts', async () => {
    const page = await openStill()
    await setVisibility(page, 'hidden')
    await page.clock.runFor(BEAT_MS * 4)
    world.api.leases.forget()
    await setVisibility(page, 'visible')
    await world.api.until('lease', 2)
    expect(world.api.got('heartbeat')).toEqual([])
  })

  test('waits for a page that is opened hidden to be seen', async () => {
    const page = await open(BODY, {
      async before(opened) {
        await countRequests(opened)
        await opened.addInitScript(
          `Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'hidden' })`,
        )
      },
    })
    expect(await page.evaluate('[typeof svcdni.swap, asked]')).toEqual(['function', 0])
    await setVisibility(page, 'visible')
    await untilText(page, 'b', '(888) 555-0101')
    expect(await page.evaluate('asked')).toBe(1)
  })

  test.each(['expire', 'forget'] as const)('that the platform let %s is begun anew', async (ends) => {
    const page = await openStill()
    world.api.leases[ends]()
    await world.api.leases.lease({ name: 'lease', headers: {}, body: { pool: POOL, visitorId: 'another-visitor' } })
    await page.clock.runFor(BEAT_MS)
    await untilText(page, 'b', '(888) 555-0102')
    expect(await page.evaluate('svcdni.number.e164')).toBe('+18885550102')
  })

  test('of the fallback has no session and no heartbeats', async () => {
    const page = await openStill({ 'data-pool': SMALL_POOL })
    expect(await page.textContent('b')).toBe('(888) 555-0199')
    await page.clock.runFor(86_400_000)
    await page.evaluate('svcdni.refresh()')
    expect(world.api.got('heartbeat')).toEqual([])
    expect(world.api.got('lease')).toHaveLength(2)
  })

  test('is the same on the next page of the visitor', async () => {
    await numbered(await open(BODY))
    const page = await numbered(await open(BODY, { path: '/next' }))
    expect(await page.textContent('b')).toBe('(888) 555-0101')
    const [first, second] = bodies('lease')
    expect(second?.visitorId).toBe(first?.visitorId)
  })

  test('is asked for once more at most by many refreshes at once', async () => {
    const page = await openStill()
    await page.evaluate('Promise.all(Array.from({ length: 20 }, () => svcdni.refresh()))')
    expect(world.api.got('lease').length).toBeLessThanOrEqual(3)
  })
})
