import { voidBid as voidBidCommand } from '../../../commands/auctions/void-bid.ts'
import type { AuctionHeld } from '../../../src/domain/auctions/auction.ts'
import { knownNumber } from '../../../src/domain/auctions/ping.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import type { PlacedCall } from './carrier.ts'
import type { Retry } from './cluster.ts'
import type { SentPing } from './publisher-desk.ts'
import { type RunContext, runAfter } from './run-context.ts'
import { someCaller } from './user-actions.ts'
import { type SimulatedLane, simulatedCommandCall } from './world.ts'

/** How long (ms) a publisher waits before it posts, calls or pings again: at once, and until after the end of an offer. */
const PAUSES_MS = [0, 500, 5_000, 20_000, 55_000, 70_000]
const SOON_MS = [0, 0, 500, 5_000]

/** A caller that a publisher has won an offer for. */
interface Lead {
  readonly lane: SimulatedLane
  readonly held: AuctionHeld
  /** The caller, hidden in the ping or not. */
  readonly caller: string
}

/** What publishers do with their pings and offers, as chance decides. */
export function createPublishers(
  context: RunContext,
  {
    retryUntilDone,
    place,
  }: { readonly retryUntilDone: Retry; readonly place: (call: Pick<PlacedCall, 'to' | 'from'>) => void },
) {
  const { chance, world, trace } = context
  let moments = 0
  const later = (pauses: readonly number[], run: () => void) => runAfter(context, chance.among(pauses), run)
  const anyCaller = () => someCaller(chance) ?? '+13105550104'

  /** The call of a lead: mostly as it was announced, sometimes on another number, by another caller, hidden or twice. */
  function call({ lane, held, caller }: Lead, to: string | null): void {
    const number = to === null || chance.odds(0.15) ? chance.among(lane.numbers) : to
    const from = chance.odds(0.1) ? someCaller(chance) : caller
    const pauseMs = chance.among(PAUSES_MS)
    runAfter(context, pauseMs, () => place({ to: number, from }))
    trace(`${held.ref} is to be called for on ${number}`)
    if (chance.odds(0.7)) return
    const again = chance.odds(0.5) ? number : chance.among(lane.numbers)
    runAfter(context, chance.odds(0.6) ? pauseMs : chance.among(PAUSES_MS), () => place({ to: again, from: caller }))
  }

  function post(lead: Lead): void {
    const { lane, held, caller } = lead
    const { auctionId } = held.ping
    const callerNumber = chance.odds(0.1) ? anyCaller() : caller
    let answered = false
    retryUntilDone(`post of ${held.ref}`, async ({ publishers }) => {
      const answer = await publishers.post({ keyId: lane.keyId, auctionId, callerNumber })
      trace(`post of ${held.ref}: ${isRefusal(answer) ? answer.refused : answer.outcome}`)
      if (answered || isRefusal(answer) || answer.outcome !== 'accepted') return
      answered = true
      if (chance.odds(0.75)) call({ ...lead, caller: callerNumber }, answer.number)
    })
  }

  /** A person voids the bid that has won, where it was one. */
  function voidBid({ held: { offer, ref } }: Lead): void {
    if (!offer?.bidId) return
    const { auctionId } = offer
    const input = voidBidCommand.input.parse({ auctionId, bidId: offer.bidId })
    retryUntilDone(`void of ${ref}`, ({ handle }) =>
      handle(voidBidCommand, input, simulatedCommandCall(`void-${auctionId}`)),
    )
  }

  /** What becomes of an offer: nothing, a post, a call without one; and perhaps the same ping once more. */
  function follow(lead: Lead, sent: SentPing): void {
    const { number } = lead.held.offer ?? {}
    if (chance.odds(0.3)) later(PAUSES_MS, () => send(lead.lane, sent))
    if (chance.odds(0.2)) later(PAUSES_MS, () => voidBid(lead))
    if (chance.odds(0.2)) return
    if (sent.protocol === 'rtb_v1_compat' || chance.odds(0.2)) {
      call(lead, number?.e164 ?? null)
      return
    }
    for (let copies = chance.odds(0.2) ? 2 : 1; copies > 0; copies -= 1)
      later(chance.odds(0.7) ? SOON_MS : PAUSES_MS, () => post(lead))
  }

  function send(lane: SimulatedLane, sent: SentPing): void {
    let answered = false
    retryUntilDone(`ping of ${sent.body.callerNumber ?? 'a hidden caller'}`, async ({ publishers }) => {
      const place = moments++
      const held = await publishers.ping(sent)
      if (held) context.answers.push({ held, sent: place, answered: moments++ })
      if (held) trace(`ping ${held.ref}: ${held.outcome} ${held.reason?.reason ?? ''}`)
      if (answered || !held?.offer) return
      answered = true
      follow({ lane, held, caller: knownNumber(held.ping.caller) ?? anyCaller() }, sent)
    })
  }

  return {
    /** Sends a ping: of a known, hidden or unreadable caller, in either protocol. */
    ping(): void {
      const lane = chance.among(world.lanes)
      const callerNumber = chance.odds(0.05) ? 'call me' : chance.odds(0.2) ? null : someCaller(chance)
      const body = { callerNumber, ...(chance.odds(0.1) && { floorCents: 100 * chance.pick(6) }) }
      const protocol = chance.among(['rtb_v1', 'rtb_v1', 'rtb_v1_compat'] as const)
      send(lane, { keyId: lane.keyId, protocol, body })
      // Posts of two callers race for the last slot of a cap.
      if (chance.odds(0.3)) send(lane, { keyId: lane.keyId, protocol, body: { callerNumber: someCaller(chance) } })
    },
  }
}
