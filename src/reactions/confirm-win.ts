import type { z } from 'zod'
import type { AuctionHeld, confirmTry } from '../domain/auctions/auction.ts'
import { winSubjectOf } from '../domain/auctions/decide-auction.ts'
import { createConfirmRequest } from '../domain/bidding/bid-request.ts'
import type { WorkspaceState } from '../domain/configuration/workspace.ts'
import { BID, RTB } from '../domain/shared/limits.ts'
import { type BackOff, backOffMs } from '../kernel/async/backoff.ts'
import type { Clock } from '../ports/clock.ts'
import type { Egress } from '../ports/egress.ts'
import type { Secrets } from '../ports/secrets.ts'
import { callerHash } from './ask-bidders.ts'

export type ConfirmTry = Readonly<z.infer<typeof confirmTry>>

/** Tells the bidder that won an auction so, at its `confirmUrl`. Resolves to the tries made; none where nothing is to be told. */
export type ConfirmWin = (workspaceId: string, held: AuctionHeld) => Promise<readonly ConfirmTry[]>

/** Pauses between the tries (ms). */
const PAUSES: BackOff = { firstMs: 1_000, maxMs: 5_000 }

/** Creates the client that confirms wins, through the guard for customers' addresses. */
export function createWinConfirmer(ports: {
  readonly egress: Pick<Egress, 'send'>
  readonly secrets: Pick<Secrets, 'mac'>
  readonly clock: Clock
  /** The present configuration of a workspace. */
  readonly configuration: (workspaceId: string) => Promise<WorkspaceState>
}): ConfirmWin {
  const { egress, secrets, clock, configuration } = ports
  const pause = (ms: number) => new Promise<void>((resolve) => void clock.schedule(clock.now() + ms, resolve))

  return async (workspaceId, held) => {
    const state = await configuration(workspaceId)
    const { offer, bids = [], ping } = held
    const bid = bids.find(({ bidId }) => bidId === offer?.bidId)
    const target = state.targets.get(bid?.target.id ?? '')
    const confirmUrl = target?.rtb?.confirmUrl ?? null
    if (!bid || !target?.rtb || confirmUrl === null) return []
    const subject = winSubjectOf(held, state, new Date(clock.now()).toISOString())
    const e164 = subject.caller.e164
    const hash = e164 === null ? null : callerHash(secrets, workspaceId, e164)
    const bidder = {
      bidId: bid.bidId,
      target: { ...bid.target, ref: target.externalRef },
      buyer: bid.buyer,
      bidCents: bid.bidCents,
    }
    const about = { ...subject, at: ping.occurredAt, caller: { ...subject.caller, hash } }
    const request = createConfirmRequest({ ...target.rtb, confirmUrl }, about, bidder)
    const tries: ConfirmTry[] = []
    while (tries.length < BID.confirmTries) {
      if (tries.length > 0) await pause(backOffMs(tries.length, PAUSES))
      const at = new Date(clock.now()).toISOString()
      const response = await egress.send({
        ...request,
        timeoutMs: target.rtb.timeoutMs,
        maxBytes: RTB.answerBytes,
        ownSandbox: state.workspace?.sandbox ?? false,
      })
      const status = response.ok ? response.status : null
      const isTaken = status !== null && status >= 200 && status < 300
      const sentence = response.ok ? `The bidder answered with status ${status}.` : response.sentence
      tries.push({ at, status, ms: Math.max(0, Math.round(response.ms)), sentence })
      if (isTaken) return tries
    }
    return tries
  }
}
