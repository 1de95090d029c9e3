import type { z } from 'zod'
import { callEvents } from '../../../src/domain/calls/call.ts'
import { walletEvents } from '../../../src/domain/money/wallet.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { emptyFold, foldEvents } from '../../../src/runtime/write/fold.ts'
import type { Rule } from './rule.ts'

/** Rounds half a cent up, past the errors of floating-point arithmetic. */
export const halfUp = (cents: number): number => Math.floor(Math.round(cents * 1_000) / 1_000 + 0.5)

/** What the platform charges for a call's talk: every minute that has begun, at the rate frozen at the arrival. */
export const usageCentsOf = (talkSeconds: number, usageRateCents: number): number =>
  halfUp(Math.ceil(talkSeconds / 60) * usageRateCents)

/** The wallet's balance follows from its entries: no money appears or disappears. */
export function walletRule(): Rule {
  let balance = 0
  return {
    see({ type, data }) {
      if (type === 'WalletCredited') balance += walletEvents.WalletCredited.parse(data).amountCents
      if (type !== 'WalletCharged') return []
      const { reference, amountCents, balanceCents } = walletEvents.WalletCharged.parse(data)
      balance -= amountCents
      return balanceCents === balance ? [] : [`The wallet has ${balanceCents} after ${reference}, not ${balance}`]
    },
  }
}

/** Data of all events of a type, as a schema reads them. */
function dataOf<Schema extends z.ZodType>(events: readonly RecordedEvent[], type: string, schema: Schema) {
  return events.filter((event) => event.type === type).map(({ data }): z.infer<Schema> => schema.parse(data))
}

/** Usage is charged for every call that talked, in the wallet and on the call, at the frozen rate. */
export function usageViolations(events: readonly RecordedEvent[]): readonly string[] {
  const rates = new Map(
    dataOf(events, 'CallArrived', callEvents.CallArrived).map(({ arrival, terms }) => [
      arrival.callId,
      terms.usageRateCents,
    ]),
  )
  const charged = new Map(
    dataOf(events, 'WalletCharged', walletEvents.WalletCharged).map(({ reference, amountCents }) => [
      reference,
      amountCents,
    ]),
  )
  const recorded = new Map(
    dataOf(events, 'UsageCharged', callEvents.UsageCharged).map(({ callId, usageCents }) => [callId, usageCents]),
  )
  return dataOf(events, 'CallEnded', callEvents.CallEnded).flatMap(({ callId, connected, talkSeconds }) => {
    const owed = connected ? usageCentsOf(talkSeconds, rates.get(callId) ?? 0) : 0
    const paid = [charged.get(`usage:${callId}`) ?? 0, recorded.get(callId) ?? 0]
    return paid.every((cents) => cents === owed) ? [] : [`${callId} owes ${owed} for its usage, and paid ${paid}`]
  })
}

const settled = callEvents.CallSettled.pick({
  callId: true,
  occurredAt: true,
  campaignId: true,
  publisherId: true,
  laneKeyId: true,
  buyerId: true,
  revenueCents: true,
  payoutCents: true,
})
const changed = callEvents.BooksChanged.pick({ callId: true, revenueCents: true, payoutCents: true })
type Books = z.infer<typeof settled>

/** The books of each settled call after all changes, by call. */
export function finalBooks(events: readonly RecordedEvent[]): ReadonlyMap<string, Books> {
  const books = new Map(dataOf(events, 'CallSettled', settled).map((one) => [one.callId, one]))
  for (const { callId, ...figures } of dataOf(events, 'BooksChanged', changed)) {
    const before = books.get(callId)
    if (before) books.set(callId, { ...before, ...figures })
  }
  return books
}

/** The ledger counts for each buyer, lane and day exactly what the calls have in their books. */
export function ledgerMoneyViolations(events: readonly RecordedEvent[]): readonly string[] {
  const ownEvents = events.filter(({ type }) => type in ledger.events)
  const { counters } = foldEvents(ledger, emptyFold(ledger), ownEvents).state
  const booked = new Map<string, number>()
  const add = (subject: string, day: string, cents: number) =>
    booked.set(`${subject} ${day}`, (booked.get(`${subject} ${day}`) ?? 0) + cents)
  for (const { occurredAt, campaignId, publisherId, laneKeyId, buyerId, ...books } of finalBooks(events).values()) {
    const day = occurredAt.slice(0, 10)
    if (buyerId) add(`buyer:${buyerId}`, day, books.revenueCents)
    if (campaignId && publisherId)
      add(['lane', campaignId, publisherId, ...(laneKeyId ? [laneKeyId] : [])].join(':'), day, books.payoutCents)
  }
  const counted = new Map<string, number>(
    [...counters]
      .filter(([key]) => /^(buyer|lane):/.test(key))
      .flatMap(([key, { cents }]) => [...cents].map(([day, sum]) => [`${key} ${day}`, sum] as const)),
  )
  return [...new Set([...booked.keys(), ...counted.keys()])].flatMap((key) => {
    const [inBooks, inLedger] = [booked.get(key) ?? 0, counted.get(key) ?? 0]
    return inBooks === inLedger ? [] : [`${key}: the calls' books hold ${inBooks} cents, the ledger ${inLedger}`]
  })
}
