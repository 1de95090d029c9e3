export interface PayoutModel {
  mode: 'fixed' | 'revshare'
  payoutCents: number | null
  revsharePct: number | null
  minPayoutCents: number | null
  maxPayoutCents: number | null
}

/** The money terms of a call, frozen at its arrival. */
export interface TermsModel extends Omit<PayoutModel, 'mode'> {
  readonly payoutMode: 'none' | 'fixed' | 'revshare'
  readonly payoutWithheld: string | null
  readonly bufferSeconds: number
  readonly usageRateCents: number
  /** What a publisher was offered for the call. */
  readonly promise: { readonly payoutCents: number; readonly thresholdSeconds: number } | null
}

export interface PlannedModel {
  readonly target: string
  readonly revenueCents: number
  readonly thresholdSeconds: number
}
