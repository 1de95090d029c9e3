/** What a plan may switch on. */
export type Feature = 'callTracking' | 'apiAccess' | 'webhooks' | 'asOf'

/** What a plan counts. */
export type PlanLimit =
  | 'maxTrackingCampaigns'
  | 'maxNumbers'
  | 'maxBuyers'
  | 'maxTargets'
  | 'maxPublishers'
  | 'maxApiKeys'
  | 'maxWebhooks'

/** A tier that a workspace is on. */
export interface Plan {
  readonly features: Readonly<Record<Feature, boolean>>
  /** Records that are not archived; null for no ceiling. */
  readonly ceilings: Readonly<Record<PlanLimit, number | null>>
  /** Cents for a connected minute, two decimals. */
  readonly usageRateCents: number
  /** Cents, once, for each number. */
  readonly setupCents: number
  /** Cents a month for each number. */
  readonly monthlyCents: { readonly local: number; readonly tollFree: number }
}

/** The three tiers (Supplement §2, "Plans"). */
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

/** The ids of the tiers, as a schema enumerates them. */
export const planIds = ['starter', 'growth', 'scale'] as const satisfies readonly PlanId[]

/** Cents a month for a number of a type. */
export function monthlyRent(planId: PlanId, type: string): number {
  const { local, tollFree } = planOf(planId).monthlyCents
  return type === 'toll_free' ? tollFree : local
}

/** The plan of an id. */
export function planOf(planId: PlanId): Plan {
  return plans[planId]
}
