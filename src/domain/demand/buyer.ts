import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { cap, id, instant } from '../../kernel/wire.ts'
import { named, nameSchema, nullableText, statusNote, timezone } from '../shared/fields.ts'
import { CALL_CAP, CENTS, NAME, TEXT } from '../shared/limits.ts'
import { isSameName } from '../shared/names.ts'
import { applyPatch } from '../shared/patch.ts'
import { createRecordUpdate, type SliceOf } from '../shared/slice.ts'
import { zoneOrUtc } from '../shared/zones.ts'

export const buyerStatus = z.enum(['active', 'paused', 'archived'])
export type BuyerStatus = z.infer<typeof buyerStatus>

/** A buyer where another record refers to it. */
export const buyerReference = named.extend({ status: buyerStatus }).meta({ id: 'BuyerReference' })

/** The settings of a buyer (Document 1, Buyer). */
export const buyerSettings = z.object({
  name: nameSchema(NAME.buyer),
  company: nullableText(TEXT.contact),
  contactName: nullableText(TEXT.contact),
  contactEmail: nullableText(TEXT.email),
  contactPhone: nullableText(TEXT.phone),
  timezone,
  externalRef: nullableText(TEXT.reference),
  notes: nullableText(TEXT.notes),
  concurrencyCap: cap(CALL_CAP.concurrency),
  hourlyCap: cap(CALL_CAP.hourly),
  dailyCap: cap(CALL_CAP.daily),
  monthlyCap: cap(CALL_CAP.monthly),
  dailyRevenueCapCents: cap(CENTS.dailyRevenueCap),
})
export type BuyerSettings = Readonly<z.infer<typeof buyerSettings>>
export const buyerChanges = buyerSettings.partial()

export const buyer = buyerSettings.extend({ id, status: buyerStatus, createdAt: instant, updatedAt: instant })
export type Buyer = Readonly<z.infer<typeof buyer>>

/** These names are the storage format. */
export const buyerEvents = {
  BuyerCreated: z.object({ buyer }),
  BuyerChanged: z.object({ buyerId: id, name: z.string(), before: buyerChanges, after: buyerChanges }),
  BuyerStatusChanged: z.object({
    buyerId: id,
    name: z.string(),
    from: buyerStatus,
    to: buyerStatus,
    note: statusNote.nullable(),
    targetsAffected: z.int(),
  }),
}

export interface Buyers {
  readonly buyers: PersistentMap<string, Buyer>
}

const updateBuyer = createRecordUpdate<Buyer, 'buyers'>('buyers')

export const evolveBuyers: SliceOf<Buyers, typeof buyerEvents> = {
  BuyerCreated: (state, { data }) => ({ ...state, buyers: state.buyers.set(data.buyer.id, data.buyer) }),
  BuyerChanged: (state, { data, meta }) =>
    updateBuyer(state, data.buyerId, (old) => applyPatch({ ...old, updatedAt: meta.at }, data.after)),
  BuyerStatusChanged: (state, { data, meta }) =>
    updateBuyer(state, data.buyerId, (old) => ({ ...old, status: data.to, updatedAt: meta.at })),
}

/** The settings of a new buyer, in the workspace's time zone. */
export function defaultBuyer(name: string, zone: string): BuyerSettings {
  return {
    name,
    company: null,
    contactName: null,
    contactEmail: null,
    contactPhone: null,
    timezone: zoneOrUtc(zone),
    externalRef: null,
    notes: null,
    concurrencyCap: 0,
    hourlyCap: 0,
    dailyCap: 0,
    monthlyCap: 0,
    dailyRevenueCapCents: 0,
  }
}

/** Whether a non-archived buyer other than `exceptId` has this name. */
export function isBuyerNameTaken({ buyers }: Buyers, name: string, exceptId: string | null): boolean {
  return buyers.some((other) => other.id !== exceptId && other.status !== 'archived' && isSameName(other.name, name))
}

/** Number of buyers that count against the plan's limit. */
export function buyerCount({ buyers }: Buyers): number {
  return buyers.count(({ status }) => status !== 'archived')
}
