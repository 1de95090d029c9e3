import { expect } from 'vitest'
import { callStatsOf } from '../../../queries/calls/call-stats.ts'
import { countersOf, healthOf, laneUsageOf, usageOf as shownUsageOf } from '../../../queries/routing/usage-figures.ts'
import { counterOf } from '../../../src/domain/routing/counters.ts'
import type { LedgerState } from '../../../src/domain/routing/ledger.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import type { ReadStore } from '../../../src/ports/read-store.ts'
import { byWindow, centsByDay, isTaken, liveCalls } from '../oracle/slots.ts'
import { expectOffers, expectPostsEnded } from './audit-offers.ts'
import { callSlotsOf, type Subject, slotsOf, usageOf } from './counts.ts'
import { rowOf, shownRowOf } from './expectations.ts'
import { healthWord, isSuppressed } from './health.ts'
import type { Ids } from './records.ts'
import { iso, laneName, type Model } from './state.ts'
import type { System } from './system.ts'
import { BUYERS, CAMPAIGNS, LANES, TARGETS } from './world.ts'

const SUBJECTS: readonly Subject[] = [
  ...TARGETS.map(({ name }): Subject => ({ kind: 'target', name })),
  ...BUYERS.map((name): Subject => ({ kind: 'buyer', name })),
  ...CAMPAIGNS.map((name): Subject => ({ kind: 'campaign', name })),
  ...LANES.map(({ campaign, publisher }): Subject => ({ kind: 'lane', name: laneName(campaign, publisher) })),
]

const HOUR = 3_600_000
/**
 * How long (ms) the counts of an hour, a day and a month are kept, by the length of the window's name (Supplement §6).
 */
const RETENTION_MS: Readonly<Record<number, number>> = { 13: 48 * HOUR, 10: 62 * 24 * HOUR, 7: 13 * 28 * 24 * HOUR }

/** The counts that are not zero and within their retention. */
function withinRetention(counts: Iterable<readonly [string, number]>, now: number) {
  const known = [...counts].filter(([window, count]) => {
    const oldest = iso(now - (RETENTION_MS[window.length] ?? 0)).slice(0, window.length)
    return count !== 0 && window > oldest
  })
  return Object.fromEntries(known.toSorted())
}

function idOf({ kind, name }: Subject, ids: Ids): string {
  if (kind !== 'lane') return ids.get(name) ?? ''
  return name
    .split('/')
    .map((part) => ids.get(part))
    .join(':')
}

/** Compares the ledger's own counters. */
function expectLedger(model: Model, ids: Ids, state: LedgerState): void {
  for (const subject of SUBJECTS) {
    const { live, taken, total, cents } = counterOf(state, subject.kind, idOf(subject, ids))
    const slots = slotsOf(model, subject)
    const used = slots.filter(isTaken)
    const shown = { live, total, taken: withinRetention(taken, model.now), cents: withinRetention(cents, model.now) }
    expect(shown, `the ledger's ${subject.kind} ${subject.name}`).toEqual({
      live: liveCalls(slots),
      total: used.length,
      taken: withinRetention(byWindow(used), model.now),
      cents: withinRetention(centsByDay(slots), model.now),
    })
  }
}

/** Compares the usage that the records show. */
async function expectUsage(model: Model, ids: Ids, views: ReadStore): Promise<void> {
  for (const subject of SUBJECTS) {
    const id = idOf(subject, ids)
    const counters = await countersOf(views, subject.kind, [id])
    const { total, dayCents, ...counted } = usageOf(model, subject)
    // A post is no call: what it holds is not shown as one.
    const calls = { liveCalls: liveCalls(callSlotsOf(model, subject)), ...counted }
    const now = iso(model.now)
    if (subject.kind === 'lane') {
      expect(laneUsageOf(counters, id, now), subject.name).toEqual({ ...calls, dayPayoutCents: dayCents })
    } else {
      expect(shownUsageOf(counters, id, now), subject.name).toEqual({ ...calls, total, dayRevenueCents: dayCents })
    }
    if (subject.kind === 'target') {
      const known = model.health.get(subject.name)
      const off = isSuppressed(model, subject.name, model.now)
      expect(healthOf(counters, id, now), subject.name).toMatchObject({
        health: healthWord(known),
        consecutiveFailures: known?.failures ?? 0,
        suppressedUntil: off && known?.suppression ? iso(known.suppression.until) : null,
      })
    }
  }
}

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)

/** Compares every row of the call log, and the statistics of all rows. */
async function expectCalls(model: Model, system: System, views: ReadStore): Promise<void> {
  const log = system.docs('call-log')
  expect(log.size).toBe(model.calls.length)
  for (const call of model.calls) expect(shownRowOf(log.get(call.id)), call.ref).toEqual(rowOf(call))
  const rows = model.calls.map(rowOf)
  expect(await callStatsOf(views, {})).toMatchObject({
    count: rows.length,
    connected: rows.filter(({ outcome }) => outcome === 'connected' || outcome === 'converted').length,
    converted: rows.filter(({ converted }) => converted).length,
    unrouted: rows.filter(({ outcome }) => outcome === 'unrouted').length,
    revenueCents: sum(rows.map(({ revenueCents }) => revenueCents)),
    payoutCents: sum(rows.map(({ payoutCents }) => payoutCents)),
    profitCents: sum(rows.map(({ profitCents }) => profitCents)),
    usageCents: sum(rows.map(({ usageCents }) => usageCents)),
    totalTalkSeconds: sum(rows.map(({ talkSeconds }) => talkSeconds)),
  })
}

/** Compares the dials, each sent once, and the wallet entry by entry. */
function expectMoney(model: Model, system: System): void {
  const claims = model.calls.flatMap(({ id, claims }) => claims.map(({ attempt }) => `${id}#${attempt}`))
  expect(system.dials.map(({ callId, attempt }) => `${callId}#${attempt}`).toSorted()).toEqual(claims.toSorted())
  const entries = [...system.docs('wallet-entries').values()]
  const charged = entries.flatMap(({ kind, callId, amountCents }) =>
    kind === 'usage' ? [[callId, amountCents].join()] : [],
  )
  const due = model.calls.flatMap((call) => (call.usageChargedAt === null ? [] : [[call.id, -call.usageCents].join()]))
  expect(charged.toSorted()).toEqual(due.toSorted())
  expect(sum(entries.map(({ amountCents }) => Number(amountCents)))).toBe(model.balanceCents)
  const [wallet] = system.docs('wallets').values()
  expect(wallet).toMatchObject({ balanceCents: model.balanceCents, reservations: [] })
}

/** Compares the notices of reached caps and of targets that went down, each sent once. */
function expectNotices(model: Model, { log }: System): void {
  const received = log.events.flatMap(({ type, data }) => {
    if (type === 'TargetWentDown') return [`${ledgerEvents.TargetWentDown.parse(data).target.name} is down`]
    if (type !== 'TargetCapped') return []
    const capped = ledgerEvents.TargetCapped.parse(data)
    const { scope, window, countedAt, figures } = capped
    const at = countedAt.slice(0, { hourly: 13, daily: 10, monthly: 7, lifetime: 0, 'daily revenue': 10 }[window])
    const reached = 'cap' in figures ? `${figures.count} of ${figures.cap}` : `${figures.cents} of ${figures.capCents}`
    return [`${scope} ${capped[scope].name} ${`${window} ${at}`.trim()}: ${reached}`]
  })
  expect(received.toSorted()).toEqual(model.notices.toSorted())
}

/** Expects that the engine and the model agree on everything. */
export async function expectAgreement(model: Model, system: System, ids: Ids): Promise<void> {
  const views = await system.store()
  const state = await system.ledger()
  expectLedger(model, ids, state)
  expectOffers(model, system, state)
  await expectUsage(model, ids, views)
  await expectCalls(model, system, views)
  expectMoney(model, system)
  expectNotices(model, system)
}

/** Expects that every call has ended and settled, that every post has ended, and that no job, dial or slot is left. */
export async function expectAllEnded(model: Model, system: System): Promise<void> {
  const state = await system.ledger()
  const { counters, calls } = state
  expectPostsEnded(model, state)
  expect([...calls.keys()]).toEqual([])
  expect([...counters].filter(([, { live }]) => live !== 0)).toEqual([])
  expect([...system.docs('timers').keys()]).toEqual([])
  expect(model.calls.filter(({ end, settledAt }) => !end || settledAt === null)).toEqual([])
}
