import { billRenewal } from '../../commands/supply/bill-renewal.ts'
import { missRenewal } from '../../commands/supply/miss-renewal.ts'
import { renewNumber } from '../../commands/supply/renew-number.ts'
import { walletEvents } from '../domain/money/wallet.ts'
import { numbersOwingRent } from '../domain/supply/renewal.ts'
import { defineReaction } from '../kernel/reaction.ts'
import type { NumberTools } from './number-orders.ts'
import type { Causation, FlowTools } from './tools.ts'

const { WalletCredited, WalletCharged } = walletEvents

/** Bills the month that a number owes. If the wallet does not cover it, records a missed renewal: the number is past due, and later suspended. */
export async function billNumber({ run }: FlowTools, numberId: string, cause: Causation): Promise<void> {
  const refusal = await run(billRenewal, { numberId }, cause)
  if (refusal) await run(missRenewal, { numberId }, cause)
}

/** Renews numbers whose rent was charged, and bills overdue rent after a credit. */
export const renewals = defineReaction({
  name: 'renewals',
  events: { WalletCredited, WalletCharged },
  from: 'start',
  doneBy: { WalletCharged: ['NumberRenewed'] },
  on: {
    async WalletCharged({ run }: NumberTools, event) {
      const { kind, reference, amountCents } = event.data
      if (kind === 'renewal') await run(renewNumber, { reference, amountCents }, event)
    },
    // Rent that the credit does not cover is billed again by its `renewal` job.
    async WalletCredited({ run, configuration, now }, event) {
      const { numbers } = await configuration(event.meta.workspaceId ?? '')
      const owed = numbersOwingRent(numbers.values(), new Date(now()).toISOString())
      for (const numberId of owed) await run(billRenewal, { numberId }, event)
    },
  },
})
