import type { AnyCommand } from '../kernel/command.ts'
import type { Refusal } from '../kernel/refusal.ts'
import type { Carrier } from '../ports/carrier.ts'
import type { AskBidders } from './ask-bidders.ts'

/** Cause of a command: an event, or a scheduled job (then `eventId` is null). */
export interface Causation {
  readonly meta: {
    readonly workspaceId: string | null
    readonly correlationId: string
    readonly eventId: string | null
  }
}

/** Dependencies of a reaction's steps. */
export interface FlowTools {
  /** Handles a command with the metadata of its cause. Resolves to the refusal; null when there is none. @throws LogUnavailable */
  readonly run: (command: AnyCommand, input: unknown, cause: Causation) => Promise<Refusal | null>
  readonly carrier: Carrier
  readonly askBidders: AskBidders
  /** Milliseconds since the epoch. */
  readonly now: () => number
}
