import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { blockKey, blocklist, callerLast10 } from '../../src/domain/routing/blocklist.ts'
import { nullableText } from '../../src/domain/shared/fields.ts'
import { BLOCK } from '../../src/domain/shared/limits.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Blocks a caller on one campaign or, without one, on the whole workspace. A caller that is blocked already stays so. */
export const blockCaller = defineCommand({
  name: 'block-caller',
  entity: blocklist,
  input: z.object({
    callerNumber: z.string().max(BLOCK.number),
    campaignId: id.nullish(),
    reason: nullableText(BLOCK.reason).optional(),
  }),
  reads: { workspace },
  rejects: ['bad-request', 'campaign-not-found'],
  decide({ callerNumber, campaignId, reason }, { blocks }, { now, newId, reads }) {
    const last10 = callerLast10(callerNumber)
    if (last10 === null) return refuse('bad-request', { callerNumber: 'Not a phone number.' })
    const campaign = campaignId ? reads.workspace.campaigns.get(campaignId) : null
    if (campaign === undefined) return refuseNotFound('campaign')
    if (blocks.has(blockKey(campaign?.id ?? null, last10))) return []
    const block = {
      id: newId(),
      callerLast10: last10,
      campaignId: campaign?.id ?? null,
      reason: reason ?? null,
      createdAt: now,
    }
    return [{ type: 'CallerBlocked', data: { block, campaignName: campaign?.name ?? null } }]
  },
})
