import { describe, expect, it } from 'vitest'
import { createWorkspace } from '../../../commands/access/create-workspace.ts'
import { creditWallet } from '../../../commands/money/credit-wallet.ts'
import { billRenewal } from '../../../commands/supply/bill-renewal.ts'
import { missRenewal } from '../../../commands/supply/miss-renewal.ts'
import { provisionNumber } from '../../../commands/supply/provision-number.ts'
import { renewNumber } from '../../../commands/supply/renew-number.ts'
import { requestNumberRelease } from '../../../commands/supply/request-number-release.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { entryId, wallet } from '../../../src/domain/money/wallet.ts'
import {
  initialRenewal,
  monthAfter,
  numbersOwingRent,
  paidMonth,
  renewalReference,
  renewalRetryAt,
} from '../../../src/domain/supply/renewal.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { timers } from '../../../src/main/registry.ts'
import { project } from '../../support/fixtures/project.ts'
import { given, NOW, recordedEvents, stateOf, WORKSPACE } from '../../support/fixtures/spec.ts'
import { emptyWorkspace, eventsOfSteps, numberIn, type SetupStep } from '../../support/fixtures/workspace-fixture.ts'

const DAY_MS = 86_400_000
const days = (n: number, from = NOW) => new Date(Date.parse(from) + n * DAY_MS).toISOString()

const rentedNumber = (renewsAt: string | null, ...more: readonly SetupStep[]) =>
  emptyWorkspace('growth', [provisionNumber, () => ({ e164: '+14155550123', type: 'local', renewsAt })], ...more)

const OWED = rentedNumber(NOW)
const numberId = numberIn(OWED)
const reference = renewalReference(numberId, NOW)
const RENT = 250

const holding = (amountCents: number): readonly NewEvent[] =>
  amountCents === 0 ? [] : given(wallet).when(creditWallet, { amountCents, reference: 'first' }).events
const funded = (amountCents: number) => ({ wallet: stateOf(wallet, holding(amountCents)) })
const configured = (events: readonly NewEvent[]) => ({ workspace: stateOf(workspace, events) })

const bill = (cents: number, events = OWED, at = NOW) =>
  given(wallet, holding(cents)).when(billRenewal, { numberId }, { reads: configured(events), at })
const miss = (events = OWED, at = NOW, cents = 0) =>
  given(workspace, events, at).when(missRenewal, { numberId }, { reads: funded(cents), at })
const paid = (events = OWED, at = NOW, sent = reference) =>
  given(workspace, events, at).when(renewNumber, { reference: sent, amountCents: RENT }, { at })
const numberAfter = (events: readonly NewEvent[]) => stateOf(workspace, events).numbers.get(numberId)

describe('a month after', () => {
  it.each([
    ['2026-01-31T10:20:30.456Z', '2026-02-28T10:20:30.456Z'],
    ['2028-01-31T00:00:00.000Z', '2028-02-29T00:00:00.000Z'],
    ['2026-12-15T23:59:59.999Z', '2027-01-15T23:59:59.999Z'],
    ['2026-11-30T12:00:00.000Z', '2026-12-30T12:00:00.000Z'],
  ])('%s is %s', (instant, next) => {
    expect(monthAfter(instant)).toBe(next)
  })

  it('keeps the day of the month after short months', () => {
    const { day } = initialRenewal({ purchasedAt: '2026-01-31T10:00:00.000Z', renewsAt: '2026-02-28T10:00:00.000Z' })
    let at = '2026-02-28T10:00:00.000Z'
    const dates = Array.from({ length: 4 }, () => {
      at = monthAfter(at, day)
      return at.slice(0, 10)
    })
    expect(dates).toEqual(['2026-03-31', '2026-04-30', '2026-05-31', '2026-06-30'])
  })

  it('keeps the day of the first date, where that does not follow from the purchase', () => {
    expect(initialRenewal({ purchasedAt: '2026-01-31T10:00:00.000Z', renewsAt: '2026-03-05T00:00:00.000Z' }).day).toBe(
      5,
    )
    expect(initialRenewal({ purchasedAt: null, renewsAt: '2026-03-30T00:00:00.000Z' }).day).toBe(30)
  })
})

describe('a reference', () => {
  it('names the number and the month that it pays', () => {
    expect(reference).toBe(`renewal:${numberId}:2026-03-10`)
    expect(paidMonth(reference)).toEqual({ numberId, date: '2026-03-10' })
    for (const other of ['usage:x', `renewal:${numberId}`, `renewal:${numberId}:soon`]) {
      expect(paidMonth(other)).toBeNull()
    }
  })
})

describe('bill-renewal', () => {
  it('charges the month that is due, by its reference', () => {
    bill(RENT).gives([
      { type: 'WalletCharged', data: { reference, kind: 'renewal', amountCents: RENT, balanceCents: 0, callId: null } },
    ])
  })

  it('charges a month once, whether the fold or the memory knows of it', () => {
    const once = bill(1_000)
    given(wallet, once.events)
      .when(billRenewal, { numberId }, { reads: configured(OWED) })
      .gives([])
    const entry = {
      workspaceId: WORKSPACE,
      reference,
      eventId: numberId,
      revision: 3,
      at: NOW,
      kind: 'renewal',
      amountCents: -RENT,
      balanceCents: 0,
      note: null,
      callId: null,
    }
    const memory = { [`wallet-entries/${entryId(WORKSPACE, reference)}`]: entry }
    given(wallet, holding(1_000))
      .when(billRenewal, { numberId }, { reads: configured(OWED), memory })
      .gives([])
  })

  it('does not charge a rent that the balance does not cover', () => {
    bill(RENT - 1).gives({ refused: 'insufficient-funds', details: { amountCents: RENT, availableCents: RENT - 1 } })
    bill(0).gives({ refused: 'insufficient-funds' })
  })

  it('does not spend what is reserved', () => {
    const reserved = { reference: 'setup:1', amountCents: 100, reservedCents: 100, occurredAt: NOW }
    const events = [...holding(RENT + 99), { type: 'WalletReserved', data: reserved }]
    given(wallet, events)
      .when(billRenewal, { numberId }, { reads: configured(OWED) })
      .gives({ refused: 'insufficient-funds' })
  })

  it('bills nothing before the due date, without one, or after the release', () => {
    bill(1_000, rentedNumber(days(1))).gives([])
    bill(1_000, rentedNumber(null)).gives([])
    const released = { numberId, e164: '+14155550123', before: 'active', after: 'released', note: null }
    bill(1_000, [...OWED, { type: 'NumberStatusChanged', data: released }]).gives([])
  })

  it('still bills a number whose release is requested', () => {
    bill(RENT, eventsOfSteps(...asSteps(NOW, [requestNumberRelease, () => ({ numberId })]))).gives([
      { type: 'WalletCharged' },
    ])
  })
})

/** The steps of a workspace with a rented number, and more. */
function asSteps(renewsAt: string, ...more: readonly SetupStep[]): readonly SetupStep[] {
  return [
    [createWorkspace, () => ({ name: 'Acme Media', timezone: 'UTC', planId: 'growth', sandbox: true })],
    [provisionNumber, () => ({ e164: '+14155550123', type: 'local', renewsAt })],
    ...more,
  ]
}

describe('renew-number', () => {
  it('moves the due date to the same day of the next month', () => {
    const renewed = paid()
    const after = '2026-04-10T15:00:00.000Z'
    renewed.gives([{ type: 'NumberRenewed', data: { before: NOW, after, amountCents: RENT, reference } }])
    expect(numberAfter(renewed.events)).toMatchObject({ renewsAt: after, status: 'active' })
    paid(renewed.events).gives([])
  })

  it('reactivates a number that owes nothing more', () => {
    const late = miss().events
    const renewed = paid(late, days(1))
    renewed.gives([
      { type: 'NumberRenewed' },
      { type: 'NumberStatusChanged', data: { before: 'past_due', after: 'active' } },
    ])
    expect(stateOf(workspace, renewed.events).renewals.get(numberId)).toMatchObject({
      pastDueSince: null,
      retryAt: null,
    })
  })

  it('keeps a number past due that owes another month', () => {
    const first = paid(miss().events, days(40))
    first.gives([{ type: 'NumberRenewed' }])
    expect(numberAfter(first.events)?.status).toBe('past_due')
    const second = renewalReference(numberId, '2026-04-10T15:00:00.000Z')
    paid(first.events, days(40), second).gives([{ type: 'NumberRenewed' }, { type: 'NumberStatusChanged' }])
  })

  it('ignores a charge for another month or number, or for a released one', () => {
    paid(OWED, NOW, `renewal:${numberId}:2026-03-11`).gives([])
    paid(OWED, NOW, 'usage:1').gives([])
  })
})

describe('miss-renewal', () => {
  it('sets the number past due and retries in a day', () => {
    const missed = miss()
    missed.gives([
      {
        type: 'NumberRenewalFailed',
        data: { renewsAt: NOW, amountCents: RENT, availableCents: 0, retryAt: days(1) },
      },
      { type: 'NumberStatusChanged', data: { before: 'active', after: 'past_due' } },
    ])
    miss(missed.events, days(0.9)).gives([])
  })

  it('suspends the number seven days later and keeps retrying', () => {
    let events = miss().events
    for (let day = 1; day < 7; day += 1) {
      const tried = given(workspace, events).when(missRenewal, { numberId }, { reads: funded(0), at: days(day) })
      tried.gives([{ type: 'NumberRenewalFailed', data: { retryAt: days(day + 1) } }])
      events = tried.events
    }
    const suspended = given(workspace, events).when(missRenewal, { numberId }, { reads: funded(0), at: days(7) })
    suspended.gives([
      { type: 'NumberRenewalFailed', data: { retryAt: days(8) } },
      { type: 'NumberStatusChanged', data: { before: 'past_due', after: 'suspended' } },
    ])
    const later = given(workspace, suspended.events).when(missRenewal, { numberId }, { reads: funded(0), at: days(8) })
    later.gives([{ type: 'NumberRenewalFailed', data: { retryAt: days(9) } }])
    paid(later.events, days(8)).gives([
      { type: 'NumberRenewed' },
      { type: 'NumberStatusChanged', data: { before: 'suspended', after: 'active' } },
    ])
  })

  it('retries no later than the suspension', () => {
    expect(renewalRetryAt(days(6.5), days(7))).toBe(days(7))
    expect(renewalRetryAt(days(7), days(7))).toBe(days(8))
  })

  it('writes nothing when the wallet now covers the rent, or nothing is owed', () => {
    miss(OWED, NOW, RENT).gives([])
    miss(rentedNumber(days(1))).gives([])
    miss(paid().events).gives([])
  })
})

describe('what is owed', () => {
  it('is listed with the longest overdue first', () => {
    const events = rentedNumber(
      days(-1),
      [provisionNumber, () => ({ e164: '+14155550124', type: 'local', renewsAt: days(-3) })],
      [provisionNumber, () => ({ e164: '+14155550125', type: 'local', renewsAt: days(1) })],
    )
    expect(numbersOwingRent(stateOf(workspace, events).numbers.values(), NOW)).toEqual([
      numberIn(events, 1),
      numberIn(events, 0),
    ])
  })
})

describe('the timer of a number', () => {
  const dueAt = async (events: readonly NewEvent[]) => {
    const rows = await project(timers, recordedEvents(workspace, events))
    return Object.values(rows)
      .filter(({ kind }) => kind === 'renewal')
      .map(({ dueAt }) => new Date(Number(dueAt)).toISOString())
  }

  it('is due with the rent, moves with each payment and retry, and is removed with the number', async () => {
    expect(await dueAt(OWED)).toEqual([NOW])
    expect(await dueAt(rentedNumber(null))).toEqual([])
    expect(await dueAt(paid().events)).toEqual(['2026-04-10T15:00:00.000Z'])
    expect(await dueAt(miss().events)).toEqual([days(1)])
    const data = { numberId, e164: '+14155550123', before: 'active', after: 'released', note: null }
    expect(await dueAt([...OWED, { type: 'NumberStatusChanged', data }])).toEqual([])
  })
})
