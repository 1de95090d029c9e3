import { describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/snippet/browser.ts'
import { countRequests, numbered, OTHER_POOL, POOL, snippetSuite, untilText } from '../support/snippet/suite.ts'

const chromium = chromiumPath()

describe.runIf(chromium)('the numbers of a page in Chromium', () => {
  const { world, open } = snippetSuite(chromium ?? '')

  /** What the body holds once the page has its number. */
  async function swapped(body: string, script: Readonly<Record<string, string>> = {}): Promise<string> {
    const page = await numbered(await open(body, { script }))
    return page.innerHTML('body')
  }

  test.each([
    ['text', '<b class="svc-number">800-555-0100</b>', '<b class="svc-number">(888) 555-0101</b>'],
    [
      'any element with the attribute',
      '<p data-svc-number="">800-555-0100</p>',
      '<p data-svc-number="">(888) 555-0101</p>',
    ],
    [
      'words beside the number stay',
      '<p class="svc-number">Call <b>+1 (800) 555-0100</b>, 24/7!</p>',
      '<p class="svc-number">Call <b>(888) 555-0101</b>, 24/7!</p>',
    ],
    [
      'a number over several children',
      '<p class="svc-number">(800) <b>555</b>-<i>0100</i> now</p>',
      '<p class="svc-number">(888) 555-0101<b></b><i></i> now</p>',
    ],
    ['an empty element', '<b class="svc-number"> </b>', '<b class="svc-number">(888) 555-0101</b>'],
    ['an empty link stays empty', '<a class="svc-number" href="/x"></a>', '<a class="svc-number" href="/x"></a>'],
    ['text without a number', '<b class="svc-number">Call us</b>', '<b class="svc-number">Call us</b>'],
    ['elements that are not marked', '<b>800-555-0100</b>', '<b>800-555-0100</b>'],
    [
      'a link',
      '<a class="svc-number" href="TEL:8005550100">800.555.0100</a>',
      '<a class="svc-number" href="tel:+18885550101">(888) 555-0101</a>',
    ],
    [
      'links inside and around',
      '<a href="tel:1"><b class="svc-number">800-555-0100</b></a><p class="svc-number"><a href="tel:2">Call</a></p>',
      '<a href="tel:+18885550101"><b class="svc-number">(888) 555-0101</b></a><p class="svc-number"><a href="tel:+18885550101">Call</a></p>',
    ],
    ['other links', '<a class="svc-number" href="/8005550100">x</a>', '<a class="svc-number" href="/8005550100">x</a>'],
    [
      'spellings',
      '<b class="svc-number" data-svc-format="e164">800-555-0100</b><p class="svc-number"><i data-svc-format="national">800-555-0100</i></p>',
      '<b class="svc-number" data-svc-format="e164">+18885550101</b><p class="svc-number"><i data-svc-format="national">888-555-0101</i></p>',
    ],
    [
      'labels',
      '<a class="svc-number" href="tel:1" aria-label="Call 800-555-0100" title="Open until 9">x</a>',
      '<a class="svc-number" href="tel:+18885550101" aria-label="Call (888) 555-0101" title="Open until 9">x</a>',
    ],
    [
      'editable text and fields',
      '<div class="svc-number" contenteditable="">800-555-0100<input value="800-555-0100"></div>',
      '<div class="svc-number" contenteditable="">800-555-0100<input value="800-555-0100"></div>',
    ],
  ])('%s', async (_case, body, expected) => {
    expect(await swapped(body)).toBe(expected)
  })

  test('data-swap names other elements, and data-api where the endpoints are', async () => {
    const script = {
      'data-swap': '.phone, #fax',
      'data-api': `${world.api.base}/`,
      src: `${world.api.base}/svcdni.js?v=1/2`,
    }
    expect(await swapped('<b class="phone">800-555-0100</b><b class="svc-number">800-555-0100</b>', script)).toBe(
      '<b class="phone">(888) 555-0101</b><b class="svc-number">800-555-0100</b>',
    )
  })

  test('a data-swap that is no selector leaves marked elements to the attribute', async () => {
    const body = '<b data-svc-number="">800-555-0100</b><b class="svc-number">800-555-0100</b>'
    expect(await swapped(body, { 'data-swap': '..phone' })).toBe(
      '<b data-svc-number="">(888) 555-0101</b><b class="svc-number">800-555-0100</b>',
    )
  })

  test('elements that come later, change their text, or are marked later get the number before they are painted', async () => {
    const page = await numbered(await open('<b class="svc-number">800-555-0100</b><b id="late">800-555-0100</b>'))
    await page.evaluate(`document.body.insertAdjacentHTML('beforeend', '<i class="svc-number">800-555-0100</i>')`)
    await untilText(page, 'i', '(888) 555-0101')
    await page.evaluate(`document.querySelector('b').firstChild.data = 'Now 800-555-0199'`)
    await untilText(page, 'b', 'Now (888) 555-0101')
    await page.evaluate(`document.querySelector('#late').className = 'svc-number'`)
    await untilText(page, '#late', '(888) 555-0101')
  })

  test('a script that undoes every change does not hold the page up', async () => {
    const page = await open('<b class="svc-number">800-555-0100</b>', {
      before: (opened) =>
        opened.addInitScript(`
          window.undone = 0
          new MutationObserver(() => {
            const text = document.querySelector('.svc-number')?.firstChild
            if (!text || text.data === '800-555-0100') return
            window.undone++
            text.data = '800-555-0100'
          }).observe(document, { subtree: true, childList: true, characterData: true })`),
    })
    await page.clock.install()
    await numbered(page)
    await page.waitForFunction('window.undone > 2')
    await page.clock.pauseAt(Date.now() + 60_000)
    const before = Number(await page.evaluate('window.undone'))
    await page.clock.runFor(1_000)
    expect(Number(await page.evaluate('window.undone')) - before).toBeLessThanOrEqual(11)
  })

  test('changes of its own are not followed by another look', async () => {
    const page = await numbered(await open('<b class="svc-number">800-555-0100</b>'))
    await page.clock.install()
    await page.evaluate(`
      window.looks = 0
      const original = document.querySelectorAll
      document.querySelectorAll = function (...all) { looks++; return original.apply(this, all) }
      document.querySelector('b').textContent = '800-555-0100'`)
    await page.clock.runFor(1_000)
    expect(await page.evaluate('looks')).toBe(1)
  })

  test('two pools share a page, each with elements of its own', async () => {
    const second = world.pages.script({ 'data-pool': OTHER_POOL, 'data-swap': '.second, .svc-number' })
    const page = await open(
      `<b class="svc-number">800-555-0100</b><i class="second">800-555-0100</i><u data-svc-number="${OTHER_POOL}">800-555-0100</u>${second}`,
      { script: { 'data-swap': '.svc-number' } },
    )
    await page.waitForFunction('document.body.innerText.match(/888/g)?.length === 3')
    const texts = (await page.locator('b, i, u').allTextContents()).join()
    expect(texts).toMatch(/^\(888\) 555-01(01|21),\(888\) 555-0121,\(888\) 555-0121$/)
    expect(
      world.api
        .got('lease')
        .map(({ body }) => body.pool)
        .toSorted(),
    ).toEqual([POOL, OTHER_POOL])
    const { body: first } = world.api.got('lease')[0] ?? {}
    expect(world.api.got('lease').every(({ body }) => body.visitorId === first?.visitorId)).toBe(true)
  })

  test('the same script twice leases once', async () => {
    const again = world.pages.script({ 'data-pool': POOL, 'data-swap': '.again' })
    const page = await open(`<b class="svc-number">800-555-0100</b><i class="again">800-555-0100</i>${again}`)
    await untilText(page, 'b', '(888) 555-0101')
    await untilText(page, 'i', '(888) 555-0101')
    expect(world.api.got('lease').length).toBe(1)
  })

  test.each([
    ['deferred', (src: string) => `<script defer src="${src}" data-pool="${POOL}"></script>`],
    ['a module', (src: string) => `<script type="module" src="${src}" data-pool="${POOL}"></script>`],
    [
      'injected',
      (src: string) =>
        `<script>const one = document.createElement('script'); one.src = '${src}'; one.dataset.pool = '${POOL}'; document.head.append(one)</script>`,
    ],
    [
      'fetched and run by a loader',
      (src: string) =>
        `<script data-pool="${POOL}" src="${src}" type="text/loader"></script><script>fetch('${src}').then((r) => r.text()).then((code) => setTimeout(() => (0, eval)(code)))</script>`,
    ],
  ])('the script may be %s', async (_kind, tag) => {
    const page = await open(`${tag(`${world.api.base}/svcdni.js`)}<b class="svc-number">800-555-0100</b>`, {
      script: null,
    })
    await untilText(page, 'b', '(888) 555-0101')
  })

  test('a script without a pool does nothing, and one that waits for consent is not started by another', async () => {
    const waiting = `<script type="text/plain" src="${world.api.base}/svcdni.js" data-pool="${OTHER_POOL}"></script>`
    const body = `${waiting}<b class="svc-number">800-555-0100</b>`
    const page = await open(body, { script: { 'data-pool': '' }, before: countRequests })
    expect(await page.evaluate('[typeof svcdni.swap, asked]')).toEqual(['function', 0])
    expect(await page.textContent('b')).toBe('800-555-0100')
  })
})
