import { entryLookups, wallet } from '../../src/domain/money/wallet.ts'
import { creditInput, decideCredit } from '../../src/domain/money/wallet-credit.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Adds money to the wallet, once for each reference: by the platform's staff, to whom it was paid. */
export const creditWallet = defineCommand({
  name: 'credit-wallet',
  entity: wallet,
  input: creditInput,
  lookups: ({ reference }, state) => entryLookups(state, reference),
  rejects: ['conflict'],
  decide: decideCredit,
})
