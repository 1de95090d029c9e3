import { entryLookups, wallet } from '../../src/domain/money/wallet.ts'
import { creditInput, decideCredit } from '../../src/domain/money/wallet-credit.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Credits a payment to the wallet, once for each reference; requested by the platform's staff. */
export const creditWallet = defineCommand({
  name: 'credit-wallet',
  entity: wallet,
  input: creditInput,
  lookups: ({ reference }, state) => entryLookups(state, reference),
  rejects: ['conflict'],
  decide: decideCredit,
})
