import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openEgress } from '../../src/adapters/egress/egress.ts'
import type { BidQuestion } from '../../src/domain/routing/bids.ts'
import { parseIpRange } from '../../src/kernel/ip-address.ts'
import { systemClock as clock } from '../../src/main/system.ts'
import type { Egress } from '../../src/ports/egress.ts'
import { createBidders } from '../../src/reactions/ask-bidders.ts'
import { sampleSubject } from '../support/fixtures/bids.ts'
import { bidderSteps, callWorld } from '../support/fixtures/call-world.ts'
import { idOf, WORKSPACE } from '../support/fixtures/spec.ts'

const OPEN = '127.0.0.1'
const REFUSED = '127.0.0.2'
const BID = '{"accept":true,"bid":{"amountCents":900}}'

/** What the name of the bidder resolves to at each look-up, in turn; the last repeats. */
let answers: readonly (readonly string[])[] = []
let looked = 0
let asked = 0
let respond: RequestListener = (_request, response) => response.end(BID)
const intruders: Socket[] = []
const bidder = createHttpServer((request, response) => {
  asked += 1
  request.resume().on('end', () => respond(request, response))
})
/** The same port on an address that is refused: what a request reaches when its address is not checked. */
const canary = createServer((socket) => {
  intruders.push(socket)
  socket.destroy()
})
let port = 0
let egress: Egress

beforeAll(async () => {
  await new Promise<void>((resolve) => bidder.listen(0, OPEN, resolve))
  const address = bidder.address()
  port = typeof address === 'object' && address ? address.port : 0
  await new Promise<void>((resolve) => canary.listen(port, REFUSED, resolve))
})
afterAll(() => {
  bidder.closeAllConnections()
  bidder.close()
  canary.close()
})
beforeEach(async () => {
  ;[looked, asked] = [0, 0]
  intruders.length = 0
  respond = (_request, response) => response.end(BID)
  const range = parseIpRange(`${OPEN}/32`)
  egress = openEgress({
    allowed: range ? [range] : [],
    clock,
    async lookUp() {
      const found = answers[Math.min(looked, answers.length - 1)] ?? []
      looked += 1
      return found.map((address) => ({ address, family: 4 }))
    },
  })
  return () => egress.close()
})

/** Asks the bidder of a name about the next auction. */
async function ask(auction: number) {
  const bidUrl = `http://bids.example:${port}/ask`
  const world = callWorld(...bidderSteps(1))
  const [targetId, state] = [world.targetId(1), world.reads.workspace]
  const target = state.targets.get(targetId)
  if (!target?.rtb) throw new Error('The target has no bidder.')
  const targets = state.targets.set(targetId, { ...target, rtb: { ...target.rtb, bidUrl } })
  const bidders = createBidders({
    egress,
    secrets: { mac: () => 'bWFj', unseal: (sealed) => sealed },
    random: { uuid: () => idOf(1) },
    configuration: async () => ({ ...state, targets }),
  })
  const subject = { ...sampleSubject, auction: { id: idOf(auction), ref: 'AU-0000000001' } }
  const question: BidQuestion = { subject, targetIds: [targetId], budgetMs: 500, round: 0, seed: 1 }
  const [bid] = await bidders(WORKSPACE, question)
  return bid
}

describe('a bidder by a name', () => {
  it('is asked at the address that was checked', async () => {
    answers = [[OPEN]]
    expect(await ask(1)).toMatchObject({ status: 'bid', bidCents: 900 })
    expect([looked, asked, intruders.length]).toEqual([1, 1, 0])
  })

  it.each([
    ['a refused address', [[REFUSED]]],
    ['a refused one among others', [[OPEN, REFUSED]]],
    ['the metadata of a cloud', [['169.254.169.254']]],
  ])('that resolves to %s is not asked', async (_what, found) => {
    answers = found
    expect(await ask(1)).toMatchObject({ status: 'error', httpStatus: null, bidCents: null })
    expect([asked, intruders.length]).toEqual([0, 0])
  })

  it('that changes its address between requests is not reached at the new one', async () => {
    answers = [[OPEN], [REFUSED]]
    respond = (_request, response) => response.writeHead(200, { connection: 'close' }).end(BID)
    expect(await ask(1)).toMatchObject({ status: 'bid' })
    const refused = await ask(2)
    expect(refused).toMatchObject({ status: 'error' })
    expect(refused?.sentence).toMatch(/The address is not allowed/)
    expect([looked, asked, intruders.length]).toEqual([2, 1, 0])
  })

  it('that redirects to a refused address is not followed', async () => {
    answers = [[OPEN]]
    respond = (_request, response) => response.writeHead(302, { location: `http://${REFUSED}:${port}/` }).end()
    expect(await ask(1)).toMatchObject({ status: 'error', httpStatus: 302 })
    expect(intruders).toHaveLength(0)
  })
})

it('the canary hears a request whose address is not checked', async () => {
  await fetch(`http://${REFUSED}:${port}/`).catch(() => undefined)
  expect(intruders).toHaveLength(1)
})
