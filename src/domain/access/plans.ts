import type { Feature } from '../../kernel/query.ts'

/** Kinds of records that a plan limits. */
export type PlanLimit =
  | 'maxTrackingCampaigns'
  | 'maxNumbers'
  | 'maxBuyers'
  | 'maxTargets'
  | 'maxPublishers'
  | 'maxApiKeys'
  | 'maxWebhooks'

/** A plan of a workspace. */
export interface Plan {
  readonly features: Readonly<Record<Feature, boolean>>
  /** Maximum of records that are not archived; null for unlimited. */
  readonly ceilings: Readonly<Record<PlanLimit, number | null>>
  /** Cents for a connected minute, two decimals. */
  readonly usageRateCents: number
  /** Cents, once, for each number. */
  readonly setupCents: number
  /** Cents a month for each number. */
  readonly monthlyCents: { readonly local: number; readonly tollFree: number }
}

/** The three plans (Supplement §2, "Plans"). */
export const plans = {
  starter: {
    features: { callTracking: true, apiAccess: false, webhooks: false, asOf: false },
    ceilings: {
      maxTrackingCampaigns: 5,
      maxNumbers: 10,
      maxBuyers: 5,
      maxTargets: 10,
      maxPublishers: 5,
      maxApiKeys: 0,
      maxWebhooks: 0,
    },
    usageRateCents: 5,
    setupCents: 100,
    monthlyCents: { local: 300, tollFree: 400 },
  },
  growth: {
    features: { callTracking: true, apiAccess: true, webhooks: true, asOf: false },
    ceilings: {
      maxTrackingCampaigns: 50,
      maxNumbers: 200,
      maxBuyers: 100,
      maxTargets: 500,
      maxPublishers: 100,
      maxApiKeys: 20,
      maxWebhooks: 20,
    },
    usageRateCents: 4,
    setupCents: 100,
    monthlyCents: { local: 250, tollFree: 350 },
  },
  scale: {
    features: { callTracking: true, apiAccess: true, webhooks: true, asOf: true },
    ceilings: {
      maxTrackingCampaigns: null,
      maxNumbers: null,
      maxBuyers: null,
      maxTargets: null,
      maxPublishers: null,
      maxApiKeys: null,
      maxWebhooks: null,
    },
    usageRateCents: 3,
    setupCents: 0,
    monthlyCents: { local: 200, tollFree: 300 },
  },
} as const satisfies Readonly<Record<string, Plan>>

export type PlanId = keyof typeof plans

/** The ids of the plans, as a schema enumerates them. */
export const planIds = ['starter', 'growth', 'scale'] as const satisfies readonly PlanId[]

/** Monthly rent of a number of a type, in cents. */
export function monthlyRent(planId: PlanId, type: string): number {
  const { local, tollFree } = planOf(planId).monthlyCents
  return type === 'toll_free' ? tollFree : local
}

/** The plan with this id. */
export function planOf(planId: PlanId): Plan {
  return plans[planId]
}
