import { z } from 'zod'
import { type Block, blockScope, formattedLast10 } from '../../src/domain/routing/blocklist.ts'
import { named } from '../../src/domain/shared/fields.ts'
import { id, instant } from '../../src/kernel/wire.ts'

/** A blocked caller in a response; `campaign` is null for a block of the whole workspace. */
export const blockedCallerShape = z
  .object({
    id,
    callerLast10: z.string(),
    formatted: z.string(),
    scope: blockScope,
    campaign: named.nullable(),
    reason: z.string().nullable(),
    createdAt: instant,
  })
  .meta({ id: 'BlockedCaller' })

/** The response for a block, with its campaign where it has one. */
export function blockedCallerOf(
  { id, callerLast10, campaignId, reason, createdAt }: Block,
  campaign: { readonly id: string; readonly name: string } | undefined,
) {
  return {
    id,
    callerLast10,
    formatted: formattedLast10(callerLast10),
    scope: campaignId === null ? ('workspace' as const) : ('campaign' as const),
    campaign: campaign ? { id: campaign.id, name: campaign.name } : null,
    reason,
    createdAt,
  }
}
