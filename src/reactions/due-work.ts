import { chargeUsage } from '../../commands/charge-usage.ts'
import { endCall } from '../../commands/end-call.ts'
import { settleCall } from '../../commands/settle-call.ts'
import type { AnyCommand } from '../kernel/command.ts'

/** A row of the `timers` projection. */
export interface DueRow {
  readonly callId: string
  /** Milliseconds since the epoch. */
  readonly dueAt: number
  readonly amountCents: number | null
}

const instant = (ms: number) => new Date(ms).toISOString()

/** What is done when a timer falls due, by its kind. */
export const DUE_WORK: Readonly<
  Record<string, { readonly command: AnyCommand; readonly input: (row: DueRow) => unknown }>
> = {
  settle: { command: settleCall, input: ({ callId }) => ({ callId }) },
  usage: {
    command: chargeUsage,
    input: ({ callId, amountCents, dueAt }) => ({ callId, amountCents: amountCents ?? 0, at: instant(dueAt) }),
  },
  // Longer than any carrier keeps a call up: its end was lost, and the platform ends it.
  stuck: {
    command: endCall,
    input: ({ callId, dueAt }) => ({
      callId,
      hungUpBy: 'platform',
      recorded: false,
      terminated: true,
      occurredAt: instant(dueAt),
    }),
  },
}
