import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { id, instant, wholeNumber } from '../../kernel/wire.ts'
import type { Campaigns } from '../campaigns/campaign.ts'
import { e164, nameSchema } from '../shared/fields.ts'
import { NAME, POOL, TAG } from '../shared/limits.ts'
import { applyPatch, type Patch } from '../shared/patch.ts'
import { createRecordUpdate, type SliceOf } from '../shared/slice.ts'
import { type Attribution, attributionOf, type Numbers, type TrackingNumber } from './number.ts'
import type { Publishers } from './publisher.ts'

/** A pool's public key: an identifier in web pages, not a secret. */
export const poolKey = z.string().regex(/^pk_[0-9a-f]{24}$/, { error: 'must be pk_ and 24 hexadecimal digits' })

/** A query parameter of the page whose value becomes a tag; with `prefix`, every parameter that begins with the key. */
const param = z.object({
  key: z
    .string()
    .regex(new RegExp(`^[A-Za-z0-9._-]{1,${TAG.key}}$`), {
      error: `must be 1 to ${TAG.key} letters, digits, dots, dashes or underscores`,
    })
    .toLowerCase(),
  prefix: z.boolean().default(false),
})

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
/** A host whose pages may use the pool; `*.` matches its sub-domains. */
const domain = z
  .string()
  .max(POOL.domain, { abort: true })
  .toLowerCase()
  .regex(new RegExp(`^(\\*\\.)?(${LABEL}\\.)*${LABEL}$`), {
    error: 'must be a host such as example.com or *.example.com, without scheme or port',
  })

/** The settings of a number pool (Supplement §9); its campaign is fixed at creation. */
export const poolSettings = z.object({
  name: nameSchema(NAME.pool),
  publisherId: id.nullable(),
  status: z.enum(['active', 'paused']),
  ttlSeconds: wholeNumber(POOL.ttlSeconds),
  params: z
    .array(param)
    .max(POOL.params)
    .refine((params) => new Set(params.map(({ key }) => key)).size === params.length, {
      error: 'must not contain a key twice',
    })
    .readonly(),
  /** An empty list allows pages of any host. */
  domains: z.array(domain).max(POOL.domains).readonly(),
  /** The number used when all others are leased. It is on the pool's campaign and in no rotation. */
  fallbackNumberId: id.nullable(),
  display: z.enum(['e164', 'national', 'formatted']),
})
export type PoolSettings = Readonly<z.infer<typeof poolSettings>>
export const poolChanges = poolSettings.partial()
/** The input of a new pool. */
export const newPool = poolChanges.required({ name: true })

export const pool = poolSettings.extend({
  id,
  campaignId: id,
  publicKey: poolKey,
  createdAt: instant,
  updatedAt: instant,
})
export type Pool = Readonly<z.infer<typeof pool>>

/** These names are the storage format. */
export const poolEvents = {
  PoolCreated: z.object({ pool, campaignName: z.string(), publisherName: z.string().nullable() }),
  PoolChanged: z.object({ poolId: id, name: z.string(), before: poolChanges, after: poolChanges }),
  PoolKeyRotated: z.object({ poolId: id, name: z.string(), before: poolKey, after: poolKey }),
  /** The fallback number left the campaign. */
  PoolFallbackLost: z.object({ poolId: id, name: z.string(), numberId: id, e164 }),
  PoolDeleted: z.object({ poolId: id, name: z.string(), numbersFreed: z.int() }),
}

export interface Pools {
  readonly pools: PersistentMap<string, Pool>
}

const updatePool = createRecordUpdate<Pool, 'pools'>('pools')

export const evolvePools: SliceOf<Pools, typeof poolEvents> = {
  PoolCreated: (state, { data }) => ({ ...state, pools: state.pools.set(data.pool.id, data.pool) }),
  PoolChanged: (state, { data, meta }) =>
    updatePool(state, data.poolId, (old) => applyPatch({ ...old, updatedAt: meta.at }, data.after)),
  PoolKeyRotated: (state, { data, meta }) =>
    updatePool(state, data.poolId, (old) => ({ ...old, publicKey: data.after, updatedAt: meta.at })),
  PoolFallbackLost: (state, { data, meta }) =>
    updatePool(state, data.poolId, (old) => ({ ...old, fallbackNumberId: null, updatedAt: meta.at })),
  PoolDeleted: (state, { data }) => ({ ...state, pools: state.pools.delete(data.poolId) }),
}

/** The settings of a new pool (Supplement §9). */
export function defaultPool(name: string): PoolSettings {
  return {
    name,
    publisherId: null,
    status: 'active',
    ttlSeconds: POOL.ttlSeconds.default,
    params: [],
    domains: [],
    fallbackNumberId: null,
    display: 'formatted',
  }
}

/** The numbers in a pool's rotation. */
export function numbersInPool({ numbers }: Numbers, poolId: string): readonly TrackingNumber[] {
  return [...numbers.filter((number) => number.poolId === poolId).values()]
}

/** The pools that use a number as fallback. It stays out of their rotation; they lose it when it leaves their campaign. */
export function poolsWithFallback({ pools }: Pools, numberId: string): readonly Pool[] {
  return [...pools.filter(({ fallbackNumberId }) => fallbackNumberId === numberId).values()]
}

/** The settings after a request, with each domain once. */
export function applyPoolInput(settings: PoolSettings, input: Patch<PoolSettings>): PoolSettings {
  return applyPatch(settings, { ...input, domains: input.domains && [...new Set(input.domains)] })
}

/** Refuses a number as fallback of a campaign's pool; null when it can be. */
export function fallbackConflict(
  { campaignId, poolId }: Pick<TrackingNumber, 'campaignId' | 'poolId'>,
  poolCampaignId: string,
): Refusal<'conflict'> | null {
  if (campaignId !== poolCampaignId)
    return refuse(
      'conflict',
      { fallbackNumberId: "must be a number on the pool's campaign" },
      "The number is not on the pool's campaign.",
    )
  return poolId === null
    ? null
    : refuse(
        'conflict',
        { fallbackNumberId: 'must be in no rotation', poolId },
        'The number is in the rotation of a pool.',
      )
}

/** Events that change part of the attribution of all numbers of a pool. */
export function attributionEvents(
  state: Numbers,
  { id: poolId }: Pool,
  change: Partial<Pick<Attribution, 'publisherId' | 'poolId'>>,
  names: { readonly campaignName: string | null; readonly publisherName: (id: string | null) => string | null },
) {
  return numbersInPool(state, poolId).map((number) => {
    const before = attributionOf(number)
    const after = { ...before, ...change }
    const publisherName = names.publisherName(after.publisherId)
    const data = {
      numberId: number.id,
      e164: number.e164,
      before,
      after,
      campaignName: names.campaignName,
      publisherName,
    }
    return { type: 'NumberAssigned', data } as const
  })
}

/** Names of a pool's campaign and of publishers, as its events record them. */
export function poolEventNames({ campaigns, publishers }: Campaigns & Publishers, { campaignId }: Pool) {
  return {
    campaignName: campaigns.get(campaignId)?.name ?? null,
    publisherName: (id: string | null) => (id === null ? null : (publishers.get(id)?.name ?? null)),
  }
}
