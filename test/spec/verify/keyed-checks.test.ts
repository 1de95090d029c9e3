import { describe, expect, test } from 'vitest'
import { streamOf } from '../../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { callBooks } from '../../../src/verify/call-check.ts'
import { liveCounters, offerReservations } from '../../../src/verify/counter-checks.ts'
import { streams } from '../../../src/verify/stream-check.ts'
import { walletBalances, walletReferences } from '../../../src/verify/wallet-checks.ts'
import { runCheck } from '../../support/fixtures/run-check.ts'
import { metaAt } from '../../support/fixtures/sample.ts'

const WORKSPACE = '01900000-0000-7000-8000-000000000001'
const CALL = '01900000-0000-7000-8000-0000000000c1'
const NOW = Date.UTC(2026, 10, 25)

/** Events of any types, each as the next revision of its stream, a second after the one before. */
function recorded(
  ...events: readonly (readonly [stream: string, type: string, data: unknown])[]
): readonly RecordedEvent[] {
  const revisions = new Map<string, number>()
  return events.map(([stream, type, data], position) => {
    const revision = (revisions.get(stream) ?? -1) + 1
    revisions.set(stream, revision)
    return { stream, revision, position, type, version: 1, data, meta: metaAt(NOW + position * 1_000, `e${position}`) }
  })
}

const [wallet, ledger, call] = ['wallet', 'ledger', 'call'].map((name) => streamOf({ name }, WORKSPACE)) as [
  string,
  string,
  string,
]
const callStream = call.replace(WORKSPACE, CALL)

describe('streams', () => {
  const three = recorded([wallet, 'A', {}], [wallet, 'B', {}], [wallet, 'C', {}])
  const at = (index: number, change: Partial<RecordedEvent>) =>
    three.map((event, n) => (n === index ? { ...event, ...change } : event))

  test.each<readonly [string, readonly RecordedEvent[], readonly string[]]>([
    ['nothing in a whole stream', three, []],
    ['a missing event', three.filter((_, n) => n !== 1), ['@2 follows revision 0: revision 1 is missing']],
    ['several missing events', at(2, { revision: 5 }), ['@5 follows revision 1: revisions 2 to 4 are missing']],
    ['a missing beginning', three.slice(1), ['@1 follows nothing: revision 0 is missing']],
    [
      'a repeated revision',
      at(2, { revision: 1 }),
      ['@1 repeats or goes back behind revision 1, which came before it'],
    ],
    [
      'a recorded time that goes back',
      at(2, { meta: metaAt(NOW, 'e2') }),
      ['@2 was recorded at 2026-11-25T00:00:00.000Z, and an earlier one of its stream at 2026-11-25T00:00:01.000Z'],
    ],
  ])('finds %s', (_name, events, problems) => {
    expect(runCheck(streams, events)).toEqual(problems.map((problem) => `${wallet}${problem}`))
  })

  test('allows the same instant twice', () => {
    expect(runCheck(streams, at(2, { meta: metaAt(NOW + 1_000, 'e2') }))).toEqual([])
  })
})

describe('wallets', () => {
  const credit = (reference: string, amountCents: number, balanceCents: number) =>
    [wallet, 'WalletCredited', { reference, amountCents, balanceCents, kind: 'credit' }] as const
  const charge = (reference: string, amountCents: number, balanceCents: number) =>
    [wallet, 'WalletCharged', { reference, amountCents, balanceCents, kind: 'setup', callId: null }] as const
  const reserve = (reference: string, amountCents: number, reservedCents: number) =>
    [wallet, 'WalletReserved', { reference, amountCents, reservedCents }] as const
  const release = (reference: string, amountCents: number, reservedCents: number) =>
    [wallet, 'WalletReservationReleased', { reference, amountCents, reservedCents }] as const

  test.each<readonly [string, readonly (readonly [string, string, unknown])[], readonly string[]]>([
    [
      'nothing where all sums are right',
      [
        credit('a', 500, 500),
        reserve('b', 100, 100),
        reserve('c', 50, 150),
        charge('b', 100, 400),
        release('c', 50, 0),
      ],
      [],
    ],
    ['nothing where a balance goes below zero', [charge('a', 300, -300)], []],
    [
      'one wrong balance, once',
      [credit('a', 500, 501), charge('b', 1, 500)],
      ['@0 leaves a balance of 501 cents, and the entries up to it sum to 500'],
    ],
    [
      'a wrong sum of reservations',
      [reserve('a', 10, 11)],
      ['@0 leaves 11 cents reserved, and the open reservations sum to 10'],
    ],
    ['a reservation made twice', [reserve('a', 10, 10), reserve('a', 10, 20)], ['@1 reserves "a" a second time']],
    [
      'a release of what was not reserved',
      [reserve('a', 10, 10), charge('a', 10, -10), release('a', 10, 0)],
      ['@2 releases 10 cents of "a", and 0 were reserved'],
    ],
  ])('finds %s', (_name, events, problems) => {
    expect(runCheck(walletBalances, recorded(...events))).toEqual(problems.map((problem) => `${wallet}${problem}`))
  })

  test('finds a reference that is entered twice', () => {
    const events = recorded(credit('a', 1, 1), charge('b', 1, 0), credit('a', 1, 1))
    expect(runCheck(walletReferences, events)).toEqual([
      `${wallet}@2 enters the reference "a" a second time, after revision 0`,
    ])
  })
})

describe('counters', () => {
  const claim = {
    target: { id: 't1' },
    buyer: { id: 'b1' },
    capCountsOn: 'claimed',
    occurredAt: '2026-11-25T00:00:00.000Z',
    attempt: 1,
  }
  const arrival = { callId: CALL, campaign: { id: 'c1' }, publisher: null, occurredAt: '2026-11-25T00:00:00.000Z' }
  const admitted = [ledger, 'CallAdmitted', { arrival, claim }] as const
  const released = [
    ledger,
    'CallReleased',
    { callId: CALL, campaignId: 'c1', publisherId: null, targetId: 't1', buyerId: 'b1' },
  ] as const

  test('go up and down with the calls', () => {
    expect(runCheck(liveCounters, recorded(admitted, released, admitted, released))).toEqual([])
  })

  test('never go below zero: each counter of a second release is named', () => {
    expect(runCheck(liveCounters, recorded(admitted, released, released))).toEqual(
      ['campaign:c1', 'target:t1', 'buyer:b1'].map(
        (counter) => `${ledger}@2 releases a call on ${counter}, which has none in progress`,
      ),
    )
  })

  const offer = (type: string) => [ledger, type, { auctionId: 'a1' }] as const
  test.each([
    [['OfferReserved', 'ReservationReleased'], []],
    [['OfferReserved', 'OfferReserved'], ['@1 reserves the slots of an offer a second time']],
    [['ReservationReleased'], ['@0 releases the slots of an offer, which were never reserved']],
    [
      ['OfferReserved', 'ReservationReleased', 'ReservationReleased'],
      ['@2 releases the slots of an offer, which were released before'],
    ],
  ])('reservations %j: %j', (types, problems) => {
    expect(runCheck(offerReservations, recorded(...types.map(offer)))).toEqual(
      problems.map((problem) => `${ledger}${problem}`),
    )
  })
})

describe('books of calls', () => {
  const figures = { converted: true, revenueCents: 2_000, payoutCents: 900 }
  const books = { ...figures, source: 'duration', reason: 'duration' }
  const terms = {
    payoutMode: 'fixed',
    payoutCents: 900,
    revsharePct: null,
    minPayoutCents: null,
    maxPayoutCents: null,
    payoutWithheld: null,
    bufferSeconds: 0,
    usageRateCents: 4,
  }
  const claim = {
    attempt: 1,
    target: { id: 't1', name: 'T' },
    buyer: { id: 'b1', name: 'B' },
    revenueCents: 2_000,
    durationThresholdSeconds: 30,
    capCountsOn: 'connected',
    occurredAt: '2026-11-25T00:00:00.000Z',
  }
  type Row = readonly [string, string, unknown]
  const rows = {
    admitted: [ledger, 'CallAdmitted', { arrival: { callId: CALL }, claim }],
    arrived: [callStream, 'CallArrived', { arrival: { callId: CALL }, terms }],
    dialed: [callStream, 'TargetDialed', { callId: CALL, claim }],
    answered: [callStream, 'TargetAnswered', { callId: CALL, attempt: 1 }],
    connected: [ledger, 'ClaimConnected', { callId: CALL, attempt: 1 }],
    ended: [
      callStream,
      'CallEnded',
      { callId: CALL, talkSeconds: 61, usageCents: 8, usageDueAt: '2026-11-25T00:05:00.000Z' },
    ],
    settled: [callStream, 'CallSettled', { callId: CALL, ...books }],
    released: [ledger, 'CallReleased', { callId: CALL }],
    counted: [ledger, 'CallCounted', { callId: CALL, ...figures }],
    charged: [wallet, 'WalletCharged', { callId: CALL, reference: `usage:${CALL}`, amountCents: 8, balanceCents: 0 }],
    used: [callStream, 'UsageCharged', { callId: CALL, usageCents: 8 }],
    adjusted: [callStream, 'CallAdjusted', { callId: CALL, corrections: { payoutCents: 700 } }],
    changed: [callStream, 'BooksChanged', { callId: CALL, change: 1, before: figures, ...books, payoutCents: 700 }],
    recounted: [
      ledger,
      'CallRecounted',
      { callId: CALL, change: 1, before: figures, after: { ...figures, payoutCents: 700 } },
    ],
  } satisfies Readonly<Record<string, Row>>
  type Name = keyof typeof rows
  const names = Object.keys(rows) as readonly Name[]
  const without = (...left: readonly Name[]): readonly Row[] =>
    names.filter((name) => !left.includes(name)).map((name) => rows[name])
  const withChange = (changed: Name, change: object): readonly Row[] =>
    names.map((name) =>
      name === changed ? [rows[name][0], rows[name][1], { ...rows[name][2], ...change }] : rows[name],
    )
  const found = (events: readonly Row[], now?: string) => runCheck(callBooks, recorded(...events), now)

  test('agree over the call, the ledger and the wallet', () => {
    expect(found(without())).toEqual([])
  })

  test.each<readonly [string, readonly Row[], RegExp]>([
    [
      'a settlement of another amount',
      withChange('settled', { revenueCents: 1_999 }),
      /books "duration" \(converted, 1999 cents.*the facts of the call give "duration" \(converted, 2000/,
    ],
    [
      'a settlement that is not converted',
      withChange('settled', { converted: false }),
      /books "duration" \(not converted/,
    ],
    [
      'a change of other books',
      withChange('changed', { before: { ...figures, payoutCents: 1 } }),
      /changes books of ".* 1 cents payout", and they were ".* 900 cents payout"/,
    ],
    ['a change out of order', withChange('changed', { change: 2 }), /is change 2 of the books, and 1 is due/],
    [
      'a change that no correction explains',
      without('adjusted'),
      /books "duration" .* 700 cents payout\), and the facts of the call give .* 900 cents payout/,
    ],
    [
      'a dial at another price than its claim',
      withChange('dialed', { claim: { ...claim, revenueCents: 1 } }),
      /dials at 1 cents, and the ledger's claim is of 2000 cents/,
    ],
    ['a dial without a claim', without('admitted'), /dials at 2000 cents, and the ledger's claim is missing/],
    ['an answer without a dial', without('dialed'), /is of attempt 1, which was never dialed/],
    ['a count of other figures', withChange('counted', { revenueCents: 5 }), /counts "converted, 5 cents revenue/],
    [
      'a recount of other figures',
      withChange('recounted', { after: figures }),
      /recounts change 1 as .* 900 cents payout", and the call has .* 700 cents payout/,
    ],
    [
      'a recount from other figures',
      withChange('recounted', { before: { ...figures, revenueCents: 3 } }),
      /recounts "converted, 3 cents revenue.*was counted/,
    ],
    [
      'a connection without a claim',
      withChange('connected', { attempt: 2 }),
      /connects attempt 2, which was never claimed/,
    ],
    ['a call that is counted twice', [...without(), rows.counted], /counts a call a second time/],
    ['a call that is released twice', [...without(), rows.released], /releases a call a second time/],
    [
      'a call that is settled twice',
      [...without('changed', 'recounted', 'adjusted'), rows.settled],
      /settles a call that is settled already/,
    ],
    [
      'a claim that is made twice',
      [...without(), [ledger, 'TargetClaimed', { callId: CALL, claim }]],
      /claims attempt 1 a second time/,
    ],
    ['usage of another amount', withChange('ended', { usageCents: 9 }), /owes 9 cents usage, and 61 s of talk cost 8/],
    [
      'a wallet charged another amount',
      withChange('charged', { amountCents: 9 }),
      /charges 9 cents for a call that owes 8/,
    ],
    ['a wallet charged twice', [...without(), rows.charged], /charges a call a second time/],
    ['usage charged twice', [...without(), rows.used], /charges usage a second time/],
  ])('finds %s', (_name, events, problem) => {
    expect(found(events)).toContainEqual(expect.stringMatching(problem))
  })

  test.each<readonly [Name, RegExp]>([
    ['counted', /^Call \S+ is settled, and the ledger has not counted it\.$/],
    ['recounted', /^Call \S+ has change 1 of its books, and the ledger counted change 0 last\.$/],
    ['released', /^Call \S+ has ended, and the ledger still holds its slots\.$/],
    ['used', /^Call \S+ owes 8 cents usage, which its stream has not charged\.$/],
    ['charged', /^Call \S+ was charged 8 cents usage, and its wallet has no such entry\.$/],
  ])('finds that %s is missing an hour later, and not before', (name, sentence) => {
    const events = name === 'counted' ? without('counted', 'recounted', 'changed', 'adjusted') : without(name)
    const last = NOW + (events.length - 1) * 1_000
    expect(found(events, new Date(last + 3_599_000).toISOString())).toEqual([])
    expect(found(events, new Date(last + 3_600_000).toISOString())).toEqual([expect.stringMatching(sentence)])
  })
})
