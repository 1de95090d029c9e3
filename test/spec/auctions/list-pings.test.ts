import { beforeAll, describe, expect, it, test } from 'vitest'
import type { z } from 'zod'
import { bidLedger } from '../../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../../projections/auctions/ping-ledger.ts'
import { listPings } from '../../../queries/auctions/list-pings.ts'
import type { Refusal } from '../../../src/kernel/refusal.ts'
import { instantAfter } from '../../support/fixtures/call-world.ts'
import { auctionId, bidder1, bidder2, bidId, loggedPings, pingWorld } from '../../support/fixtures/logged-pings.ts'
import { fillStore, runQuery } from '../../support/fixtures/query-fixture.ts'
import { idOf, NOW } from '../../support/fixtures/spec.ts'
import { createMemoryReadStore } from '../../support/memory/read-store.ts'

type Page = z.infer<typeof listPings.response>

const DAY_SECONDS = 86_400
const store = createMemoryReadStore()
const list = (query: object, now = NOW, workspaceId?: string) =>
  runQuery<Page>(listPings, store, { query, now, ...(workspaceId && { workspaceId }) })
/** The numbers of the listed auctions. */
const numbers = ({ data }: Page) => data.map((row) => Number(('ref' in row ? row.ref : row.auction.ref).slice(3)))
const ids = ({ data }: Page) => data.map(({ id }) => id)

beforeAll(() => fillStore(store, [pingLedger, bidLedger], loggedPings))

describe('the list of pings', () => {
  it('has publishers’ pings of the last days, newest first, 50 on a page', async () => {
    const page = await list({})
    expect(numbers(page)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    expect(page).toMatchObject({ page: 1, pageSize: 50, total: 11, totalPages: 1, direction: 'inbound' })
    expect(page.data[0]).toMatchObject({ direction: 'inbound', callerNumber: '•••0199', callerMasked: true })
  })

  it('begins at midnight six days ago on the clock of the workspace, and ends now', async () => {
    expect(await list({})).toMatchObject({ from: '2026-03-04T05:00:00.000Z', to: NOW })
  })

  it('includes the beginning of its window and excludes the end', async () => {
    const window = { from: instantAfter(-600), to: instantAfter(-500) }
    expect(await list(window)).toMatchObject({ ...window, total: 2 })
    expect(numbers(await list(window))).toEqual([2, 1])
  })

  it('accepts a date, a window of 92 days, and clamps the page', async () => {
    const page = await list({ from: instantAfter(-92 * DAY_SECONDS), pageSize: '1000' })
    expect(page).toMatchObject({ total: 12, pageSize: 200 })
    expect((await list({ from: '2026-03-10' })).from).toBe('2026-03-10T00:00:00.000Z')
    expect(numbers(await list({ page: '2', pageSize: '4' }))).toEqual([7, 6, 5, 4])
  })

  it('goes on by its cursor, in both directions', async () => {
    for (const direction of ['inbound', 'outbound']) {
      const whole = await list({ direction })
      const pages = [await list({ direction, pageSize: '4' })]
      for (let cursor = pages[0]?.nextCursor; cursor; cursor = pages.at(-1)?.nextCursor)
        pages.push(await list({ direction, pageSize: '4', cursor }))
      expect(pages.length).toBe(whole.total > 0 ? Math.ceil(whole.total / 4) : 1)
      expect(pages.flatMap(ids)).toEqual(ids(whole))
    }
  })

  test.each([
    [{ campaignId: pingWorld.campaignId }, 11],
    [{ campaignId: idOf(1) }, 0],
    [{ publisherId: pingWorld.publisherId }, 11],
    [{ publisherId: idOf(1) }, 0],
    [{ targetId: idOf(1) }, 0],
    [{ outcome: 'won' }, 6],
    [{ outcome: 'no_bid' }, 1],
    [{ outcome: 'cached' }, 1],
    [{ outcome: 'rate_limited' }, 1],
    [{ outcome: 'blocked' }, 1],
    [{ outcome: 'error' }, 1],
    [{ reasonCode: '1011' }, 1],
    [{ reasonCode: '0' }, 0],
  ])('of publishers filters by %j', async (query, total) => {
    expect(await list(query)).toMatchObject({ total })
    expect((await list(query)).data).toHaveLength(total)
  })

  it('of publishers filters by target: every auction that it was asked in, or won', async () => {
    expect(numbers(await list({ targetId: bidder2.id }))).toEqual([11, 10, 9, 8, 3, 2, 1])
    expect(numbers(await list({ targetId: bidder1.id }))).toEqual([11, 10, 9, 8, 4, 3, 2, 1])
  })

  test.each([
    ['AU-0000000003', [3]],
    ['au-0000000003', [3]],
    [auctionId(3), [3]],
    [auctionId(3).toUpperCase(), [3]],
    [bidId(3, 2), [3]],
    ['AU-0000000999', []],
    [idOf(5), []],
    ['3', []],
    [' ', [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]],
  ])('of publishers finds %j', async (q, found) => {
    const page = await list({ q })
    expect([numbers(page), page.total]).toEqual([found, found.length])
  })

  it('of another workspace has none of these', async () => {
    expect(await list({}, NOW, idOf(77))).toMatchObject({ total: 0, data: [], totalPages: 0 })
    expect(await list({ q: auctionId(3) }, NOW, idOf(77))).toMatchObject({ total: 0 })
    expect(await list({ q: bidId(3, 1), direction: 'outbound' }, NOW, idOf(77))).toMatchObject({ total: 0 })
  })
})

describe('the list of requests to bidders', () => {
  const outbound = (query: object = {}, now = NOW) => list({ direction: 'outbound', ...query }, now)

  it('is a ledger of its own', async () => {
    const page = await outbound()
    expect(page).toMatchObject({ total: 14, direction: 'outbound' })
    expect(page.data[0]).toMatchObject({ direction: 'outbound', auction: { ref: 'AU-0000000011' } })
    expect(new Set(page.data.map(({ direction }) => direction))).toEqual(new Set(['outbound']))
  })

  test.each([
    [{ status: 'bid' }, []],
    [{ status: 'no_bid' }, []],
    [{ status: 'rejected' }, [2]],
    [{ status: 'timeout' }, [2]],
    [{ status: 'error' }, []],
    [{ status: 'won' }, [11]],
    [{ status: 'lost' }, [11, 10, 9, 8, 3, 1]],
    [{ status: 'expired' }, [9, 8, 1]],
    [{ status: 'claimed' }, [3]],
    [{ status: 'void' }, [10]],
    [{ targetId: bidder2.id }, [11, 10, 9, 8, 3, 2, 1]],
    [{ campaignId: idOf(1) }, []],
    [{ publisherId: idOf(1) }, []],
    [{ reasonCode: '7' }, []],
    [{ q: 'au-0000000003' }, [3, 3]],
    [{ q: auctionId(3) }, [3, 3]],
    [{ q: bidId(3, 2) }, [3]],
    [{ q: 'x' }, []],
  ])('filters by %j', async (query, found) => {
    const page = await outbound(query)
    expect([numbers(page), page.total]).toEqual([found, found.length])
  })

  it('shows a won bid as expired once its life is over without a call', async () => {
    const one = async (now: string) => (await outbound({ q: bidId(11, 1) }, now)).data[0]
    expect(await one(instantAfter(50))).toMatchObject({ status: 'won', won: true })
    expect(await one(instantAfter(50.02))).toMatchObject({ status: 'expired', won: true, callId: null })
    const later = instantAfter(50.02)
    expect(ids(await outbound({ status: 'won' }, later))).toEqual([])
    expect(ids(await outbound({ status: 'expired' }, later))).toContain(bidId(11, 1))
  })
})

describe('the query of the ping ledger', () => {
  it.each([
    [{ status: 'won' }, 'status'],
    [{ direction: 'outbound', outcome: 'won' }, 'outcome'],
    [{ from: '2026-03-05', to: '2026-03-04' }, 'from'],
    [{ from: '2027-01-01' }, 'from'],
    [{ from: 'yesterday' }, 'from'],
    [{ to: '2026-02-30' }, 'to'],
    [{ from: instantAfter(-92 * DAY_SECONDS - 1) }, 'from'],
  ])('refuses %j, naming the field', async (query, field) => {
    const refused = await runQuery<Refusal>(listPings, store, { query })
    expect(refused).toMatchObject({ refused: 'bad-request', details: { [field]: expect.any(String) } })
  })

  it.each([
    { direction: 'both' },
    { outcome: 'lost' },
    { status: 'cached' },
    { reasonCode: '-1' },
    { reasonCode: '100000' },
    { reasonCode: '1.5' },
    { campaignId: 'x' },
    { publisherId: 'x' },
    { targetId: 'x' },
    { q: 'x'.repeat(61) },
    { page: '0' },
    { pageSize: '0' },
  ])('does not take %j for a filter', (query) => {
    expect(listPings.query.safeParse(query)).toMatchObject({
      success: false,
      error: { issues: [{ path: [Object.keys(query).at(-1)] }] },
    })
  })

  it('takes the largest reason code and the longest text', () => {
    expect(listPings.query.safeParse({ reasonCode: '99999', q: 'x'.repeat(60) }).success).toBe(true)
  })
})
