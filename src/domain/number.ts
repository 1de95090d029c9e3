import type { Map as PersistentMap } from 'immutable'
import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { z } from 'zod'
import { id, instant } from '../kernel/wire.ts'
import { e164, text } from './fields.ts'
import { NUMBER } from './limits.ts'
import type { SliceOf } from './slice.ts'

export const numberType = z.enum(['local', 'toll_free', 'mobile', 'national', 'shared_cost'])
export const numberStatus = z.enum(['active', 'past_due', 'suspended', 'released', 'draft'])
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
  label: text(NUMBER.label),
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

const attribution = z.object({ campaignId: id.nullable(), publisherId: id.nullable(), poolId: id.nullable() })
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
  NumberLabelled: z.object({ numberId: id, e164, before: text(NUMBER.label), after: text(NUMBER.label) }),
  NumberDeliveryReported: z.object({
    numberId: id,
    e164,
    webhookStatus: webhookStatus.extract(['ready', 'failed']),
    webhookError: z.string().nullable(),
  }),
  NumberReleaseRequested: z.object({ numberId: id, e164, before: attribution }),
}

export interface Numbers {
  readonly numbers: PersistentMap<string, TrackingNumber>
  /** Number id by E.164, of numbers that are not released. */
  readonly numberIds: PersistentMap<string, string>
}

/** A number after an assignment: the carrier is pointed at the platform again, unless it already was. */
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

/** No campaign, publisher or pool. */
export const UNATTRIBUTED: Attribution = { campaignId: null, publisherId: null, poolId: null }

const on = <State extends Numbers>(
  state: State,
  numberId: string,
  change: (number: TrackingNumber) => TrackingNumber,
): State => ({ ...state, numbers: state.numbers.update(numberId, (old) => old && change(old)) })

export const evolveNumbers: SliceOf<Numbers, typeof numberEvents> = {
  NumberProvisioned: (state, { data: { number } }) => ({
    ...state,
    numbers: state.numbers.set(number.id, number),
    numberIds: state.numberIds.set(number.e164, number.id),
  }),
  NumberAssigned: (state, { data }) => on(state, data.numberId, (old) => withAttribution(old, data.after)),
  NumberLabelled: (state, { data }) => on(state, data.numberId, (old) => ({ ...old, label: data.after })),
  NumberDeliveryReported: (state, { data: { numberId, webhookStatus, webhookError } }) =>
    on(state, numberId, (old) => ({ ...old, webhookStatus, webhookError })),
  NumberReleaseRequested: (state, { data, meta }) =>
    on(state, data.numberId, (old) => ({ ...withAttribution(old, UNATTRIBUTED), releaseRequestedAt: meta.at })),
}

/** National display form of an E.164 number; the number itself where none is known. */
export function nationalOf(number: string): string {
  return parsePhoneNumberFromString(number)?.formatNational() ?? number
}

/** Whether calls on the number are delivered: paid for or nearly, ours to keep, and the carrier pointed at us. */
export function delivers({
  status,
  webhookStatus,
  releaseRequestedAt,
}: Pick<TrackingNumber, 'status' | 'webhookStatus' | 'releaseRequestedAt'>): boolean {
  return (status === 'active' || status === 'past_due') && webhookStatus === 'ready' && releaseRequestedAt === null
}

/** How many numbers count against the plan. */
export function numbersHeld({ numbers }: Numbers): number {
  return numbers.count(({ status }) => status !== 'released')
}

/** A number's attribution alone. */
export function attributionOf({ campaignId, publisherId, poolId }: Attribution): Attribution {
  return { campaignId, publisherId, poolId }
}

/** The attribution after a request; undefined keeps, and another campaign drops the publisher and pool not named again. */
export function attributionAfter(
  old: Attribution,
  sent: { readonly campaignId?: string | null | undefined; readonly publisherId?: string | null | undefined },
): Attribution {
  const campaignId = sent.campaignId === undefined ? old.campaignId : sent.campaignId
  if (campaignId === null) return UNATTRIBUTED
  const kept = campaignId === old.campaignId ? attributionOf(old) : UNATTRIBUTED
  return { ...kept, campaignId, publisherId: sent.publisherId === undefined ? kept.publisherId : sent.publisherId }
}

/** Why a number cannot be moved or given up, as a sentence; null when it can. */
export function unmovable({
  status,
  role,
  releaseRequestedAt,
}: Pick<TrackingNumber, 'status' | 'role' | 'releaseRequestedAt'>): string | null {
  if (status === 'released') return 'The number has been released.'
  if (releaseRequestedAt !== null) return 'The release of the number has been requested.'
  return role === 'unassigned' || role === 'tracking' ? null : 'The number does another feature’s job.'
}
