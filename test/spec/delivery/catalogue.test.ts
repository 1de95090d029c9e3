import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { keptVerifiers, webhookPage } from '../../../src/domain/delivery/catalogue.ts'
import { WEBHOOK_EVENT_NAMES, webhookEvents } from '../../../src/domain/delivery/webhook-events.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/webhooks.md'), 'utf8')

describe('the page about webhooks', () => {
  it('is what npm run webhook-docs writes', () => {
    expect(page).toBe(webhookPage(keptVerifiers(page)))
  })

  test.each(WEBHOOK_EVENT_NAMES)('has a section of %s', (name) => {
    expect(page).toContain(`\n### ${name}\n\n${webhookEvents[name].description} `)
  })

  it('says what each field means', () => {
    const rows = page.match(/^\| `[A-Za-z]+` .*$/gm) ?? []
    expect(rows).toHaveLength(52)
    for (const row of rows) expect(row).toMatch(/[a-z`].* \| [A-Z0-9].*\.\s*\|$/)
  })

  test.each(['\n\n', '\n\nby hand\n\n', '\n'])('keeps %j between its marks', (kept) => {
    expect(keptVerifiers(webhookPage(kept))).toBe(kept)
  })

  it('begins without a part that is written by hand', () => {
    expect(keptVerifiers('')).toBe('\n\n')
  })
})
