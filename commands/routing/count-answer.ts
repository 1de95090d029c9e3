import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { withCapNotifications } from '../../src/domain/routing/cap-notifications.ts'
import { claimConnectedEvents } from '../../src/domain/routing/event-builders.ts'
import { ledger } from '../../src/domain/routing/ledger.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id, instant } from '../../src/kernel/wire.ts'

/** Counts the slot that a dial held when its target answers. Idempotent by call and attempt. */
export const countAnswer = defineCommand({
  name: 'count-answer',
  entity: ledger,
  input: z.object({ callId: id, attempt: z.int().min(1), occurredAt: instant }),
  reads: { workspace },
  decide({ callId, attempt, occurredAt }, state, { reads }) {
    const open = state.calls.get(callId)
    if (open?.claim?.attempt !== attempt) return []
    return withCapNotifications(state, claimConnectedEvents(open, callId, occurredAt), reads.workspace)
  },
})
