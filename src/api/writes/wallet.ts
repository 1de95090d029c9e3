import { creditSandboxWallet } from '../../../commands/money/credit-sandbox-wallet.ts'
import { walletEntries } from '../../../projections/money/wallet-entries.ts'
import { getWalletEntry } from '../../../queries/money/get-wallet-entry.ts'
import { entryBatches, entryColumns } from '../../../queries/money/wallet-export.ts'
import { entriesQuery } from '../../../queries/money/wallet-shape.ts'
import { windowProblem } from '../../../queries/shared/activity-filter.ts'
import { creditInput } from '../../domain/money/wallet-credit.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { defineWrite, type Write } from './define-write.ts'
import { defineExport } from './exports.ts'

const credit = defineWrite({
  name: 'credit-sandbox-wallet',
  summary: "Add play money to a sandbox workspace's wallet",
  method: 'POST',
  mounts: [{ surface: 'console', path: '/api/tracking/wallet/credits' }],
  body: creditInput.omit({ note: true }),
  responses: { 200: getWalletEntry.response },
  rejects: creditSandboxWallet.rejects,
  async run({ body, act, ask, runEffects }) {
    const done = await act(creditSandboxWallet, body)
    if (isRefusal(done)) return done
    const answer = await ask(getWalletEntry, { reference: body.reference })
    // Rent that was owed for want of money is paid before the answer, so that what it brings back can be read.
    await runEffects()
    return isRefusal(answer) ? answer : { status: 200, body: answer }
  },
})

const exported = defineExport({
  name: 'export-wallet',
  summary: "Export the wallet's book",
  kind: 'wallet',
  mounts: [{ surface: 'console', path: '/api/tracking/wallet/export.csv' }],
  query: entriesQuery,
  problem: windowProblem,
  reads: [walletEntries],
  columns: entryColumns,
  batches: entryBatches,
})

/** Writes and exports of the wallet (Supplement §3, "Wallet"). */
export const walletWrites: readonly Write[] = [credit, exported]
