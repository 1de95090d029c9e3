import { workspace } from '../../src/domain/configuration/workspace.ts'
import { entryLookups, wallet } from '../../src/domain/money/wallet.ts'
import { creditInput, decideCredit } from '../../src/domain/money/wallet-credit.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'

/** Adds play money to a sandbox workspace's wallet: no other workspace credits itself (Supplement §3, "Wallet"). */
export const creditSandboxWallet = defineCommand({
  name: 'credit-sandbox-wallet',
  entity: wallet,
  input: creditInput,
  reads: { workspace },
  lookups: ({ reference }, state) => entryLookups(state, reference),
  rejects: ['sandbox-only', 'conflict'],
  decide: (sent, state, context) =>
    context.reads.workspace.workspace?.sandbox ? decideCredit(sent, state, context) : refuse('sandbox-only'),
})
