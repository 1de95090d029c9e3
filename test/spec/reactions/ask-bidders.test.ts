import { describe, expect, it } from 'vitest'
import { type BidQuestion, refuseUnasked } from '../../../src/domain/routing/bids.ts'
import type { EgressRequest, EgressResponse } from '../../../src/ports/egress.ts'
import { createBidders, decideWithBids } from '../../../src/reactions/ask-bidders.ts'
import { sampleSubject } from '../../support/fixtures/bids.ts'
import { bidderSteps, callWorld, changeSteps } from '../../support/fixtures/call-world.ts'
import { idOf, NOW, WORKSPACE } from '../../support/fixtures/spec.ts'

const world = callWorld(...bidderSteps(1), ...bidderSteps(2))
const [one, two] = [world.targetId(1), world.targetId(2)]
const answer = (amountCents: number): EgressResponse => ({
  ok: true,
  status: 200,
  headers: {},
  body: JSON.stringify({ accept: true, bid: { amountCents } }),
  ms: 12.4,
})

/** Bidders of a world, with the requests that they got. */
function bidders(
  respond: (request: EgressRequest) => EgressResponse = () => answer(500),
  state = world.reads.workspace,
) {
  const requests: EgressRequest[] = []
  let ids = 0
  const ask = createBidders({
    egress: {
      async send(request) {
        requests.push(request)
        return respond(request)
      },
    },
    secrets: {
      mac: (purpose, text) => Buffer.from(`${purpose} ${text}`).toString('base64url'),
      unseal(sealed) {
        if (sealed === 'foreign') throw new Error('Sealed under another key.')
        return `opened ${sealed}`
      },
    },
    random: { uuid: () => idOf(++ids) },
    configuration: async () => state,
  })
  return { requests, ask }
}

const question = (changes: Partial<BidQuestion> = {}): BidQuestion => ({
  subject: sampleSubject,
  targetIds: [one, two],
  budgetMs: 90_000,
  round: 0,
  seed: 1,
  ...changes,
})

describe('bidders', () => {
  it('are all asked, and each gives one record', async () => {
    const { ask, requests } = bidders()
    const bids = await ask(WORKSPACE, question())
    expect(bids).toMatchObject([
      {
        target: { id: one, name: 'Bidder 1' },
        buyer: { name: 'Solar Co' },
        askedAt: NOW,
        latencyMs: 12,
        bidCents: 500,
      },
      { target: { id: two }, status: 'bid' },
    ])
    expect(requests).toHaveLength(2)
    expect(requests[0]).toMatchObject({ method: 'POST', timeoutMs: 2_000, maxBytes: 65_536, ownSandbox: true })
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ callerHash: expect.stringMatching(/^[0-9a-f]{32}$/) })
  })

  it('get no more time than is left', async () => {
    const { ask, requests } = bidders()
    await ask(WORKSPACE, question({ budgetMs: 300 }))
    expect(requests.map(({ timeoutMs }) => timeoutMs)).toEqual([300, 300])
  })

  it('are not asked where no time is left, which is no failure of theirs', async () => {
    const { ask, requests } = bidders()
    const bids = await ask(WORKSPACE, question({ targetIds: [one], budgetMs: 0 }))
    expect(bids).toMatchObject([{ status: 'no_bid', bidCents: null, latencyMs: 0 }])
    expect(bids[0]?.sentence).toBe('Target Bidder 1 was not asked: no time was left for it.')
    expect(requests).toEqual([])
  })

  it('are asked once for one question about a call, whenever it is decided', async () => {
    const { ask, requests } = bidders()
    const [first] = await ask(WORKSPACE, question({ targetIds: [one] }))
    const later = { ...sampleSubject, at: '2026-03-10T15:00:30.000Z' }
    const [again] = await ask(WORKSPACE, question({ targetIds: [one], subject: later }))
    expect(again).toMatchObject({ bidId: first?.bidId, askedAt: later.at })
    expect(requests).toHaveLength(1)
    await ask(WORKSPACE, question({ targetIds: [one], round: 1 }))
    await ask(idOf(99), question({ targetIds: [one] }))
    expect(requests).toHaveLength(3)
  })

  it('that cannot be asked give a record of why, and hold nothing up', async () => {
    const broken = callWorld(
      ...bidderSteps(1),
      changeSteps.target({ rtb: { bidHeaders: { 'x-key': 'foreign' } } }, 1),
      ...bidderSteps(2),
    )
    const { ask, requests } = bidders(() => answer(1), broken.reads.workspace)
    const bids = await ask(WORKSPACE, question({ targetIds: [broken.targetId(1), idOf(4_000)] }))
    expect(bids.map(({ status, sentence }) => [status, sentence])).toEqual([
      ['error', 'Target Bidder 1 was not asked: its headers cannot be opened.'],
      ['error', expect.stringContaining('does not exist')],
    ])
    expect(requests).toEqual([])
  })

  it('get their headers opened', async () => {
    const keyed = callWorld(...bidderSteps(1), changeSteps.target({ rtb: { bidHeaders: { 'X-Key': 's' } } }, 1))
    const { ask, requests } = bidders(() => answer(1), keyed.reads.workspace)
    await ask(WORKSPACE, question({ targetIds: [keyed.targetId(1)] }))
    expect(requests[0]?.headers).toMatchObject({ 'x-key': 'opened s' })
  })
})

describe('a decision that needs bids', () => {
  it('is made again with all that were asked for, and with the seed of the first time', async () => {
    const seen: unknown[] = []
    const { ask } = bidders()
    const outcome = await decideWithBids(
      (asked) => ask(WORKSPACE, asked),
      async (bids, seed) => {
        seen.push([bids.length, seed])
        if (bids.length < 2) return refuseUnasked(question({ targetIds: [bids.length === 0 ? one : two], seed: 7 }))
        return 'decided'
      },
    )
    expect(outcome).toBe('decided')
    expect(seen).toEqual([
      [0, null],
      [1, 7],
      [2, 7],
    ])
  })
})
