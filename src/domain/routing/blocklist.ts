import { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { id, instant } from '../../kernel/wire.ts'
import type { Campaign } from '../campaigns/campaign.ts'
import { nullableText } from '../shared/fields.ts'
import { BLOCK } from '../shared/limits.ts'

export const blockScope = z.enum(['workspace', 'campaign'])

const last10 = z.string().regex(/^\d{7,10}$/)

/** A blocked caller: on one campaign, or on the whole workspace when `campaignId` is null. */
export const block = z.object({
  id,
  callerLast10: last10,
  campaignId: id.nullable(),
  reason: nullableText(BLOCK.reason),
  createdAt: instant,
})
export type Block = Readonly<z.infer<typeof block>>

/** These names are the storage format. */
export const blocklistEvents = {
  CallerBlocked: z.object({ block, campaignName: z.string().nullable() }),
  CallerUnblocked: z.object({ blockId: id, callerLast10: last10, campaignId: id.nullable() }),
}

/** Blocks by `blockKey`, and the key of each block by its id. */
export interface BlocklistState {
  readonly blocks: PersistentMap<string, Block>
  readonly keys: PersistentMap<string, string>
}

/** Key of a block: a caller has at most one on each campaign and one on the workspace. */
export function blockKey(campaignId: string | null, callerLast10: string): string {
  return `${campaignId ?? '*'}:${callerLast10}`
}

const initial: BlocklistState = { blocks: PersistentMap(), keys: PersistentMap() }

/** Blocked callers: `blocklist-<workspaceId>`. */
export const blocklist = defineEntity({
  name: 'blocklist',
  version: 1,
  longLived: true,
  deduplicatesCommands: true,
  events: blocklistEvents,
  initial,
  evolve: {
    CallerBlocked: ({ blocks, keys }, { data: { block } }) => {
      const key = blockKey(block.campaignId, block.callerLast10)
      return { blocks: blocks.set(key, block), keys: keys.set(block.id, key) }
    },
    CallerUnblocked: ({ blocks, keys }, { data }) => ({
      blocks: blocks.delete(blockKey(data.campaignId, data.callerLast10)),
      keys: keys.delete(data.blockId),
    }),
  },
})

/** Display form of a caller's last ten digits: `(415) 555-4821`; fewer than ten are returned as they are. */
export function formattedLast10(callerLast10: string): string {
  const digits = /^(\d{3})(\d{3})(\d{4})$/.exec(callerLast10)
  return digits ? `(${digits[1]}) ${digits[2]}-${digits[3]}` : callerLast10
}

/** The last ten digits, by which a caller is blocked; null when the text is not a phone number (7 to 15 digits). */
export function callerLast10(number: string): string | null {
  const digits = number.replace(/\D/g, '')
  return digits.length < BLOCK.digits.min || digits.length > BLOCK.digits.max ? null : digits.slice(-10)
}

/** Checks whether a caller is blocked, on the campaign or on the workspace: the sentence of the refusal; null when not. */
export function checkBlocklist({
  blocklist,
  campaign,
  caller,
}: {
  readonly blocklist: BlocklistState
  readonly campaign: Campaign | null
  readonly caller: string | null
}): string | null {
  const last10 = caller && callerLast10(caller)
  if (!last10) return null
  if (blocklist.blocks.has(blockKey(null, last10))) return 'The caller is blocked for the whole workspace.'
  const blocked = campaign && blocklist.blocks.has(blockKey(campaign.id, last10))
  return blocked ? `The caller is blocked on campaign ${campaign.name}.` : null
}
