import { beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { listCalls } from '../../queries/calls/list-calls.ts'
import type { Refusal } from '../../src/kernel/refusal.ts'
import { instantAfter } from '../support/fixtures/call-world.ts'
import { events } from '../support/fixtures/logged-calls.ts'
import { fillStore, runQuery } from '../support/fixtures/query-fixture.ts'
import { createMemoryReadStore } from '../support/memory/read-store.ts'

type Page = z.infer<typeof listCalls.response>

const DAY_SECONDS = 86_400
const store = createMemoryReadStore()

beforeAll(() => fillStore(store, [callLog], events))

describe('the query of the call log', () => {
  it.each([
    [{ from: '2026-03-05', to: '2026-03-04' }, 'from'],
    [{ from: '2025-03-08T14:59:59Z' }, 'from'],
    [{ from: '2027-01-01' }, 'from'],
    [{ tz: 'Mars/Olympus' }, 'tz'],
    [{ tz: '+01:00' }, 'tz'],
    [{ tagValue: 'a' }, 'tagValue'],
    [{ tagKey: 'a b' }, 'tagKey'],
    [{ tagKey: 'k'.repeat(65) }, 'tagKey'],
    [{ reason: 'paused' }, 'reason'],
    [{ minTalk: '10', maxTalk: '9' }, 'minTalk'],
    [{ caller: '+1-23' }, 'caller'],
  ])('refuses %j, naming the field', async (query, field) => {
    const refused = await runQuery<Refusal>(listCalls, store, { query })
    expect(refused).toMatchObject({ refused: 'bad-request', details: { [field]: expect.any(String) } })
  })

  it.each([
    { status: 'over' },
    { outcome: 'sold' },
    { minTalk: '-1' },
    { maxTalk: '86401' },
    { minTalk: '1.5' },
    { hasRecording: 'yes' },
    { campaignId: 'x' },
    { caller: '1'.repeat(33) },
    { tagKey: 'a', tagValue: 'v'.repeat(513) },
    { from: 'yesterday' },
    { pageSize: '0' },
  ])('does not take %j for a filter', (query) => {
    expect(listCalls.query.safeParse(query)).toMatchObject({
      success: false,
      error: { issues: [{ path: [Object.keys(query).at(-1)] }] },
    })
  })

  it('accepts a window of 366 days and clamps the page', async () => {
    const query = { from: instantAfter(-366 * DAY_SECONDS), pageSize: '1000', tz: 'UTC' }
    const page = await runQuery<Page>(listCalls, store, { query })
    expect(page).toMatchObject({ total: 7, pageSize: 200, timezone: 'UTC' })
  })

  it('starts six days before today in the requested time zone by default', async () => {
    const page = await runQuery<Page>(listCalls, store, { query: { tz: 'Asia/Tokyo' } })
    expect(page.from).toBe('2026-03-04T15:00:00.000Z')
  })
})
