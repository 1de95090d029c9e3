import { z } from 'zod'
import { blocklist } from '../../src/domain/routing/blocklist.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Removes one block; blocks of the same caller at other scopes stay. */
export const unblockCaller = defineCommand({
  name: 'unblock-caller',
  entity: blocklist,
  input: z.object({ blockId: id }),
  rejects: ['blocked-caller-not-found'],
  decide({ blockId }, { blocks, keys }) {
    const key = keys.get(blockId)
    const block = key === undefined ? undefined : blocks.get(key)
    if (!block) return refuseNotFound('blocked-caller')
    const { callerLast10, campaignId } = block
    return [{ type: 'CallerUnblocked', data: { blockId, callerLast10, campaignId } }]
  },
})
