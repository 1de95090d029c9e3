import type { AnyCommand } from '../kernel/command.ts'
import type { Refusal } from '../kernel/refusal.ts'
import type { Carrier } from '../ports/carrier.ts'

/** On account of what a command is handled: an event, or, with its id null, work that fell due. */
export interface Causation {
  readonly meta: {
    readonly workspaceId: string | null
    readonly correlationId: string
    readonly eventId: string | null
  }
}

/** What a flow needs: to handle a command on account of something (null when it was not refused), the carrier, and the time (ms). */
export interface FlowTools {
  readonly run: (command: AnyCommand, input: unknown, cause: Causation) => Promise<Refusal | null>
  readonly carrier: Carrier
  readonly now: () => number
}
