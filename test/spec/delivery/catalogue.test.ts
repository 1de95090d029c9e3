import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { webhookPage } from '../../../src/domain/delivery/catalogue.ts'
import { WEBHOOK_EVENT_NAMES, webhookEvents } from '../../../src/domain/delivery/webhook-events.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../../../docs', path), 'utf8')
const page = read('webhooks.md')

describe('the page about webhooks', () => {
  it('is what npm run webhook-docs writes', () => {
    expect(page).toBe(webhookPage(read('verifiers/page.md')))
  })

  test.each(WEBHOOK_EVENT_NAMES)('has a section of %s', (name) => {
    expect(page).toContain(`\n### ${name}\n\n${webhookEvents[name].description} `)
  })

  it('says what each field means', () => {
    const rows = page.match(/^\| `[A-Za-z]+` .*$/gm) ?? []
    expect(rows).toHaveLength(52)
    for (const row of rows) expect(row).toMatch(/[a-z`].* \| [A-Z0-9].*\.\s*\|$/)
  })
})
