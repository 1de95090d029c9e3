import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { withCapNotifications } from '../../src/domain/routing/cap-notifications.ts'
import { callReleasedEvents, claimConnectedEvents } from '../../src/domain/routing/event-builders.ts'
import { ledger } from '../../src/domain/routing/ledger.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id, instant } from '../../src/kernel/wire.ts'

/**
 * A call is over: it no longer counts as in progress. A call that connected keeps its claim until its settlement is
 * counted; its connection is counted here when the answer itself was lost. Idempotent by call.
 */
export const releaseCall = defineCommand({
  name: 'release-call',
  entity: ledger,
  input: z.object({ callId: id, connected: z.boolean(), occurredAt: instant }),
  reads: { workspace },
  decide({ callId, connected, occurredAt }, state, { reads }) {
    const open = state.calls.get(callId)
    if (!open?.live) return []
    const answered = connected ? claimConnectedEvents(open, callId, occurredAt) : []
    return withCapNotifications(state, [...answered, ...callReleasedEvents(open, callId, occurredAt)], reads.workspace)
  },
})
