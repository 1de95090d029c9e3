import { billRenewal } from '../../commands/supply/bill-renewal.ts'
import { missRenewal } from '../../commands/supply/miss-renewal.ts'
import { renewNumber } from '../../commands/supply/renew-number.ts'
import { walletEvents } from '../domain/money/wallet.ts'
import { numbersOwingRent } from '../domain/supply/renewal.ts'
import { defineReaction } from '../kernel/reaction.ts'
import type { NumberTools } from './number-orders.ts'
import type { Causation, FlowTools } from './tools.ts'

const { WalletCredited, WalletCharged } = walletEvents

/** Bills the month that a number owes; where the wallet does not hold it, the number is past due, in time suspended. */
export async function billNumber({ run }: FlowTools, numberId: string, cause: Causation): Promise<void> {
  const refusal = await run(billRenewal, { numberId }, cause)
  if (refusal) await run(missRenewal, { numberId }, cause)
}

/** What follows from the wallet's entries for the rent of numbers. */
export const renewals = defineReaction({
  name: 'renewals',
  events: { WalletCredited, WalletCharged },
  on: {
    async WalletCharged({ run }: NumberTools, event) {
      const { kind, reference, amountCents } = event.data
      if (kind === 'renewal') await run(renewNumber, { reference, amountCents }, event)
    },
    // What was owed for want of money is paid at once; what is still missing is tried again in its turn.
    async WalletCredited({ run, configuration, now }, event) {
      const { numbers } = await configuration(event.meta.workspaceId ?? '')
      const owed = numbersOwingRent(numbers.values(), new Date(now()).toISOString())
      for (const numberId of owed) await run(billRenewal, { numberId }, event)
    },
  },
})
