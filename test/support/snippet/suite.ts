import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { buildSnippet } from '../../../scripts/snippet.ts'
import { launchBrowser } from './browser.ts'
import { type DniApi, startDniApi } from './dni-api.ts'
import { type DniPool, numberOf } from './dni-leases.ts'
import { type Pages, startPages } from './pages.ts'

/** Pool keys of the tests. */
export const POOL = 'pk_0123456789abcdef01234567'
export const OTHER_POOL = 'pk_fedcba9876543210fedcba98'
/** A pool whose one number is taken by the first visitor; the next gets its fallback. */
export const SMALL_POOL = 'pk_000000000000000000000001'
export const STRICT_POOL = 'pk_000000000000000000000002'

const POOLS: readonly DniPool[] = [
  { key: POOL, numbers: [1, 2, 3].map(numberOf), ttlSeconds: 90 },
  { key: OTHER_POOL, numbers: [21, 22].map(numberOf) },
  { key: SMALL_POOL, numbers: [], fallback: numberOf(99) },
  { key: STRICT_POOL, numbers: [31].map(numberOf), origins: ['https://example.com'] },
]

/** What a test has: fresh endpoints and a fresh site, and a browser without a past. */
export interface SnippetWorld {
  api: DniApi
  pages: Pages
  context: BrowserContext
}

/** How a page is opened. */
export interface OpenOptions {
  /** Attributes of the script element besides `data-pool`; null for a page without the script. */
  readonly script?: Readonly<Record<string, string>> | null
  readonly path?: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly referer?: string
  /** Done with the page before it loads. */
  readonly before?: (page: Page) => Promise<unknown>
}

/** Declares what tests in a browser share. */
export function snippetSuite(chromium: string) {
  const world = {} as SnippetWorld
  let browser: Browser
  let script: string
  beforeAll(async () => {
    script = await buildSnippet()
    browser = await launchBrowser(chromium)
  })
  afterAll(() => browser?.close())
  beforeEach(async () => {
    world.api = await startDniApi(POOLS, script)
    world.pages = await startPages({ api: world.api.base })
    world.context = await browser.newContext()
  })
  afterEach(async () => {
    await world.context.close()
    world.pages.close()
    world.api.close()
  })

  /** Opens a page with a body, after the script in its head. */
  async function open(body: string, options: OpenOptions = {}): Promise<Page> {
    const { script = {}, path = '/', query = '', headers, referer, before } = options
    const head = script === null ? '' : world.pages.script({ 'data-pool': POOL, async: '', ...script })
    const html = `<!doctype html><html><head><title>A page</title>${head}</head><body>${body}</body></html>`
    world.pages.put(path, { html, ...(headers && { headers }) })
    const page = await world.context.newPage()
    await before?.(page)
    await page.goto(`${world.pages.origin}${path}${query}`, referer === undefined ? {} : { referer })
    return page
  }
  return { world, open }
}

/** Waits until the page has a number. (What it evaluates is no script of the page: policies allow it.) */
export async function numbered(page: Page): Promise<Page> {
  await page.evaluate(`new Promise((done) => {
    if (svcdni.number) done()
    else document.addEventListener('svcdni:number', () => done(), { once: true })
  })`)
  return page
}

/** Waits until an element that matches has this text. */
export async function untilText(page: Page, selector: string, text: string): Promise<void> {
  const hasText = new RegExp(`^${text.replace(/[()+]/g, '\\$&')}$`)
  await page.locator(selector).filter({ hasText }).first().waitFor({ state: 'attached' })
}

/** Counts the requests that scripts of the page make, from the moment that they make them, in `window.asked`. */
export async function countRequests(page: Page): Promise<void> {
  await page.addInitScript(`
    window.asked = 0
    const original = fetch
    window.fetch = (...all) => {
      asked++
      return original(...all)
    }`)
}

/** Says to the page that it is seen or not. */
export async function setVisibility(page: Page, state: 'visible' | 'hidden'): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' }); document.dispatchEvent(new Event('visibilitychange'))`,
  )
}
