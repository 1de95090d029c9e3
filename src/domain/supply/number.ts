import type { Map as PersistentMap } from 'immutable'
import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { e164, nullableText } from '../shared/fields.ts'
import { NUMBER } from '../shared/limits.ts'
import { createRecordUpdate, type SliceOf } from '../shared/slice.ts'
import { initialRenewal, type Renewal } from './renewal.ts'

export const numberType = z.enum(['local', 'toll_free', 'mobile', 'national', 'shared_cost'])
export const numberStatus = z.enum(['active', 'past_due', 'suspended', 'released', 'draft'])
/** Allowed transitions of a number's status, except its release (Supplement §3). */
export const NUMBER_TRANSITIONS: Readonly<
  Record<z.infer<typeof numberStatus>, readonly z.infer<typeof numberStatus>[]>
> = {
  draft: ['active'],
  active: ['past_due'],
  past_due: ['active', 'suspended'],
  suspended: ['active'],
  released: [],
}
export const numberRole = z.enum(['unassigned', 'tracking', 'ingress', 'agent', 'quarantine'])
export const webhookStatus = z.enum(['pending', 'ready', 'failed', 'skipped'])

/** A rented number (Document 1, Tracking number). */
export const trackingNumber = z.object({
  id,
  e164,
  national: z.string(),
  formatted: z.string(),
  type: numberType,
  status: numberStatus,
  role: numberRole,
  label: nullableText(NUMBER.label),
  region: z.string().nullable(),
  locality: z.string().nullable(),
  campaignId: id.nullable(),
  publisherId: id.nullable(),
  poolId: id.nullable(),
  webhookStatus,
  webhookError: z.string().nullable(),
  monthlyCents: z.int().min(0),
  renewsAt: instant.nullable(),
  purchasedAt: instant.nullable(),
  releaseRequestedAt: instant.nullable(),
  createdAt: instant,
})
export type TrackingNumber = Readonly<z.infer<typeof trackingNumber>>

/** The fields of an attribution. */
export const attribution = z.object({ campaignId: id.nullable(), publisherId: id.nullable(), poolId: id.nullable() })
export type Attribution = Readonly<z.infer<typeof attribution>>

/** These names are the storage format. */
export const numberEvents = {
  NumberProvisioned: z.object({ number: trackingNumber }),
  NumberAssigned: z.object({
    numberId: id,
    e164,
    before: attribution,
    after: attribution,
    campaignName: z.string().nullable(),
    publisherName: z.string().nullable(),
  }),
  NumberLabelled: z.object({
    numberId: id,
    e164,
    before: nullableText(NUMBER.label),
    after: nullableText(NUMBER.label),
  }),
  NumberDeliveryReported: z.object({
    numberId: id,
    e164,
    webhookStatus: webhookStatus.extract(['ready', 'failed']),
    webhookError: z.string().nullable(),
  }),
  /** Asks for the carrier to deliver the number's calls to the platform. */
  NumberDeliveryRequested: z.object({ numberId: id, e164 }),
  NumberReleaseRequested: z.object({ numberId: id, e164, before: attribution }),
  /** A month's rent was paid: `before` is the start of that month, `after` the start of the next. */
  NumberRenewed: z.object({
    numberId: id,
    e164,
    before: instant,
    after: instant,
    amountCents: z.int().min(1),
    reference: z.string(),
  }),
  /** The wallet balance did not cover a month's rent. */
  NumberRenewalFailed: z.object({
    numberId: id,
    e164,
    renewsAt: instant,
    amountCents: z.int().min(1),
    availableCents: z.int(),
    retryAt: instant,
  }),
  /** Every status transition, including the release. `note` is the reason in words. */
  NumberStatusChanged: z.object({
    numberId: id,
    e164,
    before: numberStatus,
    after: numberStatus,
    note: nullableText(NUMBER.statusNote),
  }),
}

export interface Numbers {
  readonly numbers: PersistentMap<string, TrackingNumber>
  /** Number id by E.164, of numbers that are not released. */
  readonly numberIds: PersistentMap<string, string>
  /** Rent of each number, by its id. */
  readonly renewals: PersistentMap<string, Renewal>
}

/** A number after an assignment. Delivery is requested again unless it is already `ready`. */
export function withAttribution<
  N extends Pick<TrackingNumber, 'role' | 'webhookStatus' | 'webhookError'> & Attribution,
>(number: N, { campaignId, publisherId, poolId }: Attribution): N {
  const delivers = campaignId === null || number.webhookStatus === 'ready'
  return {
    ...number,
    campaignId,
    publisherId,
    poolId,
    role: campaignId === null ? 'unassigned' : 'tracking',
    webhookStatus: delivers ? number.webhookStatus : 'pending',
    webhookError: delivers ? number.webhookError : null,
  }
}

/** A number after a status transition. A released number leaves its campaign. */
export function withNumberStatus<
  N extends Pick<TrackingNumber, 'status' | 'role' | 'webhookStatus' | 'webhookError'> & Attribution,
>(number: N, status: TrackingNumber['status']): N {
  const leaves = status === 'released' && number.role === 'tracking'
  return { ...(leaves ? withAttribution(number, NO_ATTRIBUTION) : number), status }
}

/** No campaign, publisher or pool. */
export const NO_ATTRIBUTION: Attribution = { campaignId: null, publisherId: null, poolId: null }

const updateNumber = createRecordUpdate<TrackingNumber, 'numbers'>('numbers')

export const evolveNumbers: SliceOf<Numbers, typeof numberEvents> = {
  NumberProvisioned: (state, { data: { number } }) => ({
    ...state,
    numbers: state.numbers.set(number.id, number),
    numberIds: state.numberIds.set(number.e164, number.id),
    renewals: state.renewals.set(number.id, initialRenewal(number)),
  }),
  NumberAssigned: (state, { data }) => updateNumber(state, data.numberId, (old) => withAttribution(old, data.after)),
  NumberLabelled: (state, { data }) => updateNumber(state, data.numberId, (old) => ({ ...old, label: data.after })),
  NumberDeliveryRequested: (state, { data: { numberId } }) =>
    updateNumber(state, numberId, (old) => ({ ...old, webhookStatus: 'pending', webhookError: null })),
  NumberDeliveryReported: (state, { data: { numberId, webhookStatus, webhookError } }) =>
    updateNumber(state, numberId, (old) => ({ ...old, webhookStatus, webhookError })),
  NumberReleaseRequested: (state, { data, meta }) =>
    updateNumber(state, data.numberId, (old) => ({
      ...withAttribution(old, NO_ATTRIBUTION),
      releaseRequestedAt: meta.at,
    })),
  NumberRenewed: (state, { data: { numberId, after } }) => ({
    ...updateNumber(state, numberId, (old) => ({ ...old, renewsAt: after })),
    renewals: state.renewals.update(numberId, (old) => old && { ...old, retryAt: null }),
  }),
  NumberRenewalFailed: (state, { data: { numberId, retryAt } }) => ({
    ...state,
    renewals: state.renewals.update(numberId, (old) => old && { ...old, retryAt }),
  }),
  NumberStatusChanged: (state, { data: { numberId, e164, after }, meta }) => ({
    ...updateNumber(state, numberId, (old) => withNumberStatus(old, after)),
    numberIds: after === 'released' ? state.numberIds.delete(e164) : state.numberIds,
    renewals: state.renewals.update(numberId, (old) => old && renewalAfter(old, after, meta.at)),
  }),
}

/** The rent record after a number's transition to a status. */
function renewalAfter(renewal: Renewal, status: TrackingNumber['status'], at: string): Renewal {
  if (status === 'suspended') return { ...renewal, pastDueSince: renewal.pastDueSince ?? at }
  return { ...renewal, pastDueSince: status === 'past_due' ? at : null }
}

/** National display form of an E.164 number; the number itself when it has none. */
export function nationalFormat(number: string): string {
  return parsePhoneNumberFromString(number)?.formatNational() ?? number
}

/** A number delivered by the carrier: active, unassigned, with delivery pending. */
export function newNumber(
  purchase: Pick<TrackingNumber, 'e164' | 'type' | 'label' | 'region' | 'locality' | 'monthlyCents' | 'renewsAt'>,
  { id, now }: { readonly id: string; readonly now: string },
): TrackingNumber {
  const { e164, type, label, region, locality, monthlyCents, renewsAt } = purchase
  const national = nationalFormat(e164)
  return {
    id,
    e164,
    national,
    formatted: national,
    type,
    status: 'active',
    role: 'unassigned',
    label,
    region,
    locality,
    ...NO_ATTRIBUTION,
    webhookStatus: 'pending',
    webhookError: null,
    monthlyCents,
    renewsAt,
    purchasedAt: now,
    releaseRequestedAt: null,
    createdAt: now,
  }
}

/** Whether the number's calls are delivered: active or past due, `ready`, and no release requested. */
export function isDelivering({
  status,
  webhookStatus,
  releaseRequestedAt,
}: Pick<TrackingNumber, 'status' | 'webhookStatus' | 'releaseRequestedAt'>): boolean {
  return (status === 'active' || status === 'past_due') && webhookStatus === 'ready' && releaseRequestedAt === null
}

/** Number of numbers that count against the plan's limit. */
export function numberCount({ numbers }: Numbers): number {
  return numbers.count(({ status }) => status !== 'released')
}

/** The attribution fields of a number. */
export function attributionOf({ campaignId, publisherId, poolId }: Attribution): Attribution {
  return { campaignId, publisherId, poolId }
}
