import { describe, expect, it } from 'vitest'
import { creditWallet } from '../../../commands/money/credit-wallet.ts'
import { chargeSetupFee } from '../../../commands/supply/charge-setup-fee.ts'
import { declineNumberOrder } from '../../../commands/supply/decline-number-order.ts'
import { placeNumberOrder } from '../../../commands/supply/place-number-order.ts'
import { provisionNumber } from '../../../commands/supply/provision-number.ts'
import { recordNumberOrder } from '../../../commands/supply/record-number-order.ts'
import { releaseSetupFee } from '../../../commands/supply/release-setup-fee.ts'
import { reserveSetupFee } from '../../../commands/supply/reserve-setup-fee.ts'
import { resolveNumberOrder } from '../../../commands/supply/resolve-number-order.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { wallet } from '../../../src/domain/money/wallet.ts'
import { setupReference } from '../../../src/domain/supply/number-order.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { given, idOf, mintedId, stateOf } from '../../support/fixtures/spec.ts'
import { emptyWorkspace, type SetupStep } from '../../support/fixtures/workspace-fixture.ts'

const [requestId, another] = [idOf(50), idOf(51)]
const e164 = '+14155550188'
const wanted = {
  e164,
  type: 'local',
  region: 'CA',
  locality: null,
  setupCents: 100,
  monthlyCents: 250,
  label: 'Billboard',
  tags: ['spring'],
  customerReference: null,
  requestId,
}
const funded = given(wallet).when(creditWallet, { amountCents: 150, reference: 'opening' })
const reads = { wallet: funded.state }
const place = (sent: object = {}, events = emptyWorkspace('growth'), more: object = {}) =>
  given(workspace, events).when(placeNumberOrder, { ...wanted, ...sent }, { reads, ...more })
const placed = place()
const orderId = mintedId(0)
const moved = (events: readonly NewEvent[], ...news: readonly object[]) =>
  news.reduce<readonly NewEvent[]>(
    (before, told) =>
      given(workspace, before).when(
        recordNumberOrder,
        { orderId, error: null, carrierOrderId: null, ...told },
        { firstId: 200 },
      ).events,
    events,
  )

describe('place-number-order', () => {
  it('places a pending order as requested', () => {
    placed.gives([
      {
        type: 'NumberOrderPlaced',
        data: { order: { ...wanted, id: orderId, userId: idOf(1), status: 'pending', error: null, numberId: null } },
      },
    ])
  })

  it('is the same order for the same request, and refuses it for another number or person', () => {
    place({}, placed.events).gives([])
    place({ e164: '+14155550189' }, placed.events).gives({ refused: 'conflict', details: { requestId } })
    const theirs = placed.events.map((event) =>
      event.type === 'NumberOrderPlaced'
        ? { ...event, data: { order: { ...wanted, ...placed.state.orders.get(orderId), userId: idOf(2) } } }
        : event,
    )
    place({}, theirs).gives({ refused: 'conflict', details: { requestId } })
  })

  it('refuses a number that the workspace holds, or has an order in progress for', () => {
    place({ requestId: another }, placed.events).gives({ refused: 'conflict', details: { e164 } })
    const held = emptyWorkspace('growth', [provisionNumber, () => ({ e164, type: 'local' })])
    place({}, held).gives({ refused: 'conflict', details: { e164 } })
    const over = moved(placed.events, { status: 'failed', error: 'Gone.' })
    place({ requestId: another }, over, { firstId: 9 }).gives([{ type: 'NumberOrderPlaced' }])
  })

  it('counts the orders in flight against the plan, on both sides of its ceiling', () => {
    const step = (n: number): SetupStep => [provisionNumber, () => ({ e164: `+1415555020${n}`, type: 'local' })]
    const nine = emptyWorkspace('starter', ...Array.from({ length: 9 }, (_, n) => step(n)))
    const tenth = place({}, nine)
    tenth.gives([{ type: 'NumberOrderPlaced' }])
    const eleventh = { requestId: another, e164: '+14155550190' }
    place(eleventh, tenth.events).gives({
      refused: 'plan-upgrade-required',
      details: { feature: 'maxNumbers', limit: 10, current: 10 },
    })
    place({}, tenth.events).gives([])
    place(eleventh, moved(tenth.events, { status: 'failed', error: 'Gone.' }), { firstId: 9 }).gives([
      { type: 'NumberOrderPlaced' },
    ])
  })

  it('refuses a setup fee that the wallet does not cover beside those of other orders', () => {
    const poor = given(wallet).when(creditWallet, { amountCents: 99, reference: 'opening' })
    place({}, emptyWorkspace('growth'), { reads: { wallet: poor.state } }).gives({
      refused: 'insufficient-funds',
      details: { setupCents: 100, availableCents: 99 },
    })
    place({ requestId: another, e164: '+14155550190' }, placed.events).gives({
      refused: 'insufficient-funds',
      details: { setupCents: 100, availableCents: 50 },
    })
    const reserved = given(wallet, funded.events).when(
      reserveSetupFee,
      { orderId },
      { reads: { workspace: placed.state } },
    )
    place({ requestId: another, e164: '+14155550190' }, placed.events, { reads: { wallet: reserved.state } }).gives({
      refused: 'insufficient-funds',
      details: { availableCents: 50 },
    })
  })

  it('needs no balance without a setup fee', () => {
    place({ setupCents: 0 }, emptyWorkspace('scale'), { reads: { wallet: wallet.initial } }).gives([
      { type: 'NumberOrderPlaced' },
    ])
  })
})

describe('record-number-order', () => {
  const record = (told: object, events = placed.events) =>
    given(workspace, events).when(
      recordNumberOrder,
      { orderId, error: null, carrierOrderId: 'co_1', ...told },
      { firstId: 200 },
    )

  it('provisions the number with rent due in a month, and requests its delivery', () => {
    record({ status: 'completed' }).gives([
      { type: 'NumberOrderCompleted', data: { orderId, from: 'pending', numberId: mintedId(200), setupCents: 100 } },
      {
        type: 'NumberProvisioned',
        data: {
          number: {
            id: mintedId(200),
            e164,
            role: 'unassigned',
            status: 'active',
            label: 'Billboard',
            region: 'CA',
            monthlyCents: 250,
            renewsAt: '2026-04-10T15:00:00.000Z',
            webhookStatus: 'pending',
          },
        },
      },
      { type: 'NumberDeliveryRequested', data: { numberId: mintedId(200), e164 } },
    ])
  })

  it('moves through submitted and review, never backwards', () => {
    record({ status: 'submitted' }).gives([
      { type: 'NumberOrderAdvanced', data: { to: 'submitted', carrierOrderId: 'co_1' } },
    ])
    const submitted = moved(placed.events, { status: 'submitted', carrierOrderId: 'co_1' })
    record({ status: 'pending' }, submitted).gives([])
    record({ status: 'submitted' }, submitted).gives([])
    const review = moved(submitted, { status: 'review' })
    record({ status: 'submitted' }, review).gives([])
    expect(record({ status: 'completed' }, review).state.orders.get(orderId)?.status).toBe('completed')
  })

  it('stores the carrier’s order id as soon as it is known', () => {
    record({ status: 'pending' }).gives([
      { type: 'NumberOrderAdvanced', data: { to: 'pending', carrierOrderId: 'co_1' } },
    ])
  })

  it('records why an order failed, and nothing after its end', () => {
    const failed = record({ status: 'failed', error: 'No longer available.' })
    failed.gives([{ type: 'NumberOrderFailed', data: { error: 'No longer available.' } }])
    record({ status: 'completed' }, failed.events).gives([])
    expect(failed.state.orders.get(orderId)).toMatchObject({ status: 'failed', error: 'No longer available.' })
    expect(failed.state.numbers.size).toBe(0)
    const completed = record({ status: 'completed' })
    record({ status: 'failed', error: 'Late.' }, completed.events).gives([])
    record({ status: 'completed' }, completed.events).gives([])
  })

  it('refuses an unknown order', () => {
    given(workspace, placed.events)
      .when(recordNumberOrder, { orderId: idOf(9), status: 'completed', error: null, carrierOrderId: null })
      .gives({ refused: 'order-not-found' })
  })
})

describe('resolve-number-order', () => {
  const review = moved(placed.events, { status: 'review' })
  const resolve = (sent: object, events = review) =>
    given(workspace, events).when(resolveNumberOrder, { orderId, ...sent }, { firstId: 300 })

  it('ends a review either way', () => {
    const done = resolve({ status: 'completed' })
    expect(done.state.numbers.get(mintedId(300))).toMatchObject({ e164, role: 'unassigned' })
    resolve({ status: 'failed', error: 'Papers missing.' }).gives([
      { type: 'NumberOrderFailed', data: { from: 'review', error: 'Papers missing.' } },
    ])
    resolve({ status: 'failed' }).gives([{ type: 'NumberOrderFailed', data: { error: expect.any(String) } }])
    resolve({ status: 'completed' }, done.events).gives([])
  })

  it('refuses an order that is not in review', () => {
    resolve({ status: 'completed' }, placed.events).gives({
      refused: 'conflict',
      details: { status: 'pending', allowed: [] },
    })
    resolve({ status: 'failed' }, resolve({ status: 'completed' }).events).gives({ refused: 'conflict' })
  })
})

describe('decline-number-order', () => {
  it('removes the order, so that the same request can be repeated', () => {
    const declined = given(workspace, placed.events).when(declineNumberOrder, { orderId })
    declined.gives([{ type: 'NumberOrderDeclined', data: { orderId, requestId } }])
    expect([declined.state.orders.size, declined.state.orderIds.size]).toEqual([0, 0])
    place({}, declined.events, { firstId: 9 }).gives([{ type: 'NumberOrderPlaced' }])
  })

  it('does not remove an order that the carrier has', () => {
    const submitted = moved(placed.events, { status: 'submitted', carrierOrderId: 'co_1' })
    given(workspace, submitted).when(declineNumberOrder, { orderId }).gives([])
  })
})

describe('the setup fee', () => {
  const reference = setupReference(orderId)
  const reserve = (events = funded.events, state = placed.state) =>
    given(wallet, events).when(reserveSetupFee, { orderId }, { reads: { workspace: state } })
  const reserved = reserve()
  const charge = { orderId, e164, amountCents: 100, at: '2026-03-10T15:00:01.000Z' }

  it('is reserved once and cannot be spent then', () => {
    reserved.gives([{ type: 'WalletReserved', data: { reference, amountCents: 100, reservedCents: 100 } }])
    expect(reserved.state).toMatchObject({ balanceCents: 150, reservedCents: 100 })
    reserve(reserved.events).gives([])
  })

  it('is refused when the wallet does not cover it, and not reserved for an ended order', () => {
    const poor = given(wallet).when(creditWallet, { amountCents: 99, reference: 'opening' })
    reserve(poor.events).gives({ refused: 'insufficient-funds', details: { setupCents: 100, availableCents: 99 } })
    const over = stateOf(workspace, moved(placed.events, { status: 'failed', error: 'Gone.' }))
    reserve(funded.events, over).gives([])
    reserve(funded.events, workspace.initial).gives({ refused: 'order-not-found' })
  })

  it('is charged once, from its reservation', () => {
    const charged = given(wallet, reserved.events).when(chargeSetupFee, charge)
    charged.gives([{ type: 'WalletCharged', data: { reference, kind: 'setup', amountCents: 100, balanceCents: 50 } }])
    expect(charged.state).toMatchObject({ balanceCents: 50, reservedCents: 0 })
    given(wallet, charged.events).when(chargeSetupFee, charge).gives([])
    given(wallet, reserved.events)
      .when(chargeSetupFee, { ...charge, amountCents: 0 })
      .gives([])
  })

  it('is released once', () => {
    const released = given(wallet, reserved.events).when(releaseSetupFee, { orderId })
    released.gives([{ type: 'WalletReservationReleased', data: { reference, amountCents: 100, reservedCents: 0 } }])
    expect(released.state).toMatchObject({ balanceCents: 150, reservedCents: 0 })
    given(wallet, released.events).when(releaseSetupFee, { orderId }).gives([])
    given(wallet, funded.events).when(releaseSetupFee, { orderId }).gives([])
  })
})
