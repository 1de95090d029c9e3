import { counterKey, type EventCounts } from '../domain/routing/counters.ts'
import { countsOf, type LedgerEvent } from '../domain/routing/counts.ts'
import { ledger } from '../domain/routing/ledger.ts'
import { laneCounterId } from '../domain/supply/lane.ts'
import { parseStreamName } from '../kernel/entity.ts'
import type { RecordedEvent } from '../kernel/event.ts'
import { type KeyedCheck, stepOf } from './keyed-check.ts'

const isLedger = ({ stream }: RecordedEvent): boolean => parseStreamName(stream).category === ledger.name

/** Counters that an event counts on, and by how many calls in progress. */
function liveChanges(counts: EventCounts | null): Readonly<Record<string, number>> {
  if (!counts) return {}
  const { campaignId, publisherId, laneKeyId, targetId, buyerId, campaign, lane, target, buyer } = counts
  const laneId = campaignId && publisherId ? laneCounterId(campaignId, publisherId, laneKeyId) : null
  const all = [
    { kind: 'campaign', id: campaignId, change: campaign },
    { kind: 'lane', id: laneId, change: lane },
    { kind: 'target', id: targetId, change: target },
    { kind: 'buyer', id: buyerId, change: buyer },
  ] as const
  return Object.fromEntries(
    all.flatMap(({ kind, id, change }) =>
      id && change && change.live !== 0 ? [[counterKey(kind, id), change.live]] : [],
    ),
  )
}

const changesOf = (event: RecordedEvent) =>
  isLedger(event) ? liveChanges(countsOf(event as unknown as LedgerEvent)) : {}

const SEPARATOR = ' '

/** No counter of calls in progress goes below zero: nothing is released that was not claimed. */
export const liveCounters: KeyedCheck<{ readonly live: number }> = {
  name: 'live-counters',
  proves: 'Each release of a campaign, lane, target or buyer follows a claim on it.',
  keys: (event) => Object.keys(changesOf(event)).map((key) => `${event.stream}${SEPARATOR}${key}`),
  initial: { live: 0 },
  step({ live }, event, key) {
    const counter = key.slice(event.stream.length + SEPARATOR.length)
    const after = live + (changesOf(event)[counter] ?? 0)
    return stepOf(
      { live: Math.max(0, after) },
      after < 0 && `releases a call on ${counter}, which has none in progress`,
    )
  },
}

/** Each slot that an offer reserves is given back once. */
export const offerReservations: KeyedCheck<{ readonly state: 'none' | 'reserved' | 'released' }> = {
  name: 'offer-reservations',
  proves: 'Each reservation for an offer is made once and released once at most.',
  keys(event) {
    const isReservation = event.type === 'OfferReserved' || event.type === 'ReservationReleased'
    return isReservation && isLedger(event)
      ? [`${event.stream}${SEPARATOR}${(event as unknown as { data: { auctionId: string } }).data.auctionId}`]
      : []
  },
  initial: { state: 'none' },
  step({ state }, { type }) {
    if (type === 'OfferReserved')
      return stepOf({ state: 'reserved' }, state !== 'none' && 'reserves the slots of an offer a second time')
    return stepOf(
      { state: 'released' },
      state !== 'reserved' &&
        `releases the slots of an offer, which were ${state === 'none' ? 'never reserved' : 'released before'}`,
    )
  },
}
