import type { AuctionState } from '../domain/auctions/auction.ts'
import type { AnyCommand } from '../kernel/command.ts'
import type { Refusal } from '../kernel/refusal.ts'
import type { Carrier } from '../ports/carrier.ts'
import type { AskBidders } from './ask-bidders.ts'
import type { ConfirmWin } from './confirm-win.ts'
import type { Offers } from './offers.ts'

/** Cause of a command: an event, or a scheduled job (then `eventId` is null). */
export interface Causation {
  readonly meta: {
    readonly workspaceId: string | null
    readonly correlationId: string
    readonly eventId: string | null
  }
}

/** What asks bidders, and what knows the offers that their bids led to. */
export interface AuctionPorts {
  readonly askBidders: AskBidders
  readonly offers: Offers
  readonly confirmWin: ConfirmWin
}

/** Dependencies of a reaction's steps. */
export interface FlowTools extends AuctionPorts {
  /** Handles a command with the metadata of its cause. Resolves to the refusal; null when there is none. @throws LogUnavailable */
  readonly run: (command: AnyCommand, input: unknown, cause: Causation) => Promise<Refusal | null>
  readonly carrier: Carrier
  /** The present state of an auction; null where there is none. @throws LogUnavailable */
  readonly auctionOf: (workspaceId: string, auctionId: string) => Promise<AuctionState | null>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}
