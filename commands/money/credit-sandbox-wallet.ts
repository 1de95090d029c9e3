import { workspace } from '../../src/domain/configuration/workspace.ts'
import { entryLookups, wallet } from '../../src/domain/money/wallet.ts'
import { creditInput, decideCredit } from '../../src/domain/money/wallet-credit.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'

/** Credits play money to a sandbox workspace's wallet. Other workspaces cannot credit themselves (Supplement §3, "Wallet"). */
export const creditSandboxWallet = defineCommand({
  name: 'credit-sandbox-wallet',
  entity: wallet,
  input: creditInput,
  reads: { workspace },
  lookups: ({ reference }, state) => entryLookups(state, reference),
  rejects: ['sandbox-only', 'conflict'],
  decide: (input, state, context) =>
    context.reads.workspace.workspace?.sandbox ? decideCredit(input, state, context) : refuse('sandbox-only'),
})
