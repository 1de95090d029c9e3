import { wallet, type walletEvents } from '../domain/money/wallet.ts'
import { parseStreamName } from '../kernel/entity.ts'
import type { EventOf, RecordedEvent } from '../kernel/event.ts'
import { fine, type KeyedCheck, type Step, stepOf } from './keyed-check.ts'

type WalletEvent = EventOf<typeof walletEvents> & Pick<RecordedEvent, 'revision'>

const isWallet = ({ stream }: RecordedEvent): boolean => parseStreamName(stream).category === wallet.name

interface Balance {
  readonly balanceCents: number
  readonly reservations: Readonly<Record<string, number>>
}

const reservedIn = ({ reservations }: Balance): number =>
  Object.values(reservations).reduce((sum, amount) => sum + amount, 0)

function without(reservations: Balance['reservations'], reference: string): Balance['reservations'] {
  const { [reference]: _released, ...others } = reservations
  return others
}

function entered(state: Balance, by: number, stated: number, reservations = state.reservations): Step<Balance> {
  const balanceCents = state.balanceCents + by
  return stepOf(
    // From the stated balance on, so that one wrong entry is one finding.
    { balanceCents: stated, reservations },
    stated !== balanceCents && `leaves a balance of ${stated} cents, and the entries up to it sum to ${balanceCents}`,
  )
}

function reserved(state: Balance, stated: number): Step<Balance> {
  const sum = reservedIn(state)
  return stepOf(state, stated !== sum && `leaves ${stated} cents reserved, and the open reservations sum to ${sum}`)
}

function balanceAfter(state: Balance, { type, data }: WalletEvent): Step<Balance> {
  const { reference, amountCents } = data
  const open = state.reservations[reference]
  switch (type) {
    case 'WalletCredited':
      return entered(state, amountCents, data.balanceCents)
    case 'WalletCharged':
      return entered(state, -amountCents, data.balanceCents, without(state.reservations, reference))
    case 'WalletReserved': {
      const after = { ...state, reservations: { ...state.reservations, [reference]: amountCents } }
      const { problems } = reserved(after, data.reservedCents)
      return { state: after, problems: open === undefined ? problems : [`reserves "${reference}" a second time`] }
    }
    case 'WalletReservationReleased': {
      const after = { ...state, reservations: without(state.reservations, reference) }
      const { problems } = reserved(after, data.reservedCents)
      if (open === amountCents) return { state: after, problems }
      return {
        state: after,
        problems: [`releases ${amountCents} cents of "${reference}", and ${open ?? 0} were reserved`],
      }
    }
    default:
      return fine(state)
  }
}

/** Balances and reservations are the sums of the entries before them. */
export const walletBalances: KeyedCheck<Balance> = {
  name: 'wallet-balances',
  proves: 'Each balance and each sum of reservations that a wallet states is the sum of its entries.',
  keys: (event) => (isWallet(event) ? [event.stream] : []),
  initial: { balanceCents: 0, reservations: {} },
  step: (state, event) => balanceAfter(state, event as WalletEvent),
}

/** Revision of the entry of a reference; null before it. */
type EntryOfReference = number | null

/** Each reference has one entry. */
export const walletReferences: KeyedCheck<{ readonly revision: EntryOfReference }> = {
  name: 'wallet-references',
  proves: 'Each reference of a wallet is credited or charged once.',
  keys: (event) => {
    const { type, data } = event as WalletEvent
    const isEntry = isWallet(event) && (type === 'WalletCredited' || type === 'WalletCharged')
    return isEntry ? [`${event.stream} ${data.reference}`] : []
  },
  initial: { revision: null },
  step: ({ revision }, event) => {
    const { data } = event as WalletEvent
    return stepOf(
      { revision: revision ?? event.revision },
      revision !== null && `enters the reference "${data.reference}" a second time, after revision ${revision}`,
    )
  },
}
