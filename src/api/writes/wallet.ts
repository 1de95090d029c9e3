import { creditSandboxWallet } from '../../../commands/money/credit-sandbox-wallet.ts'
import { creditWallet } from '../../../commands/money/credit-wallet.ts'
import { walletEntries } from '../../../projections/money/wallet-entries.ts'
import { getWalletEntry } from '../../../queries/money/get-wallet-entry.ts'
import { entryBatches, entryColumns } from '../../../queries/money/wallet-export.ts'
import { entriesQuery } from '../../../queries/money/wallet-shape.ts'
import { timeWindowProblem } from '../../../queries/shared/time-window.ts'
import { creditInput } from '../../domain/money/wallet-credit.ts'
import { defineWrite } from './define-write.ts'
import { defineExport } from './exports.ts'
import { operatorWorkspaceRoute } from './operator-workspaces.ts'
import type { Write } from './write-route.ts'

const credit = defineWrite({
  ...operatorWorkspaceRoute,
  name: 'credit-wallet',
  summary: "Add money that was paid to a workspace's wallet",
  method: 'POST',
  mounts: [{ surface: 'operator', path: '/api/operator/workspaces/:id/credits' }],
  body: creditInput,
  responses: { 200: getWalletEntry.response },
  rejects: ['workspace-not-found'],
  command: creditWallet,
  input: ({ body }) => body,
  answer: { query: getWalletEntry, params: ({ body }) => ({ reference: body.reference }) },
})

const creditSandbox = defineWrite({
  name: 'credit-sandbox-wallet',
  summary: "Add play money to a sandbox workspace's wallet",
  method: 'POST',
  mounts: [{ surface: 'console', path: '/api/tracking/wallet/credits' }],
  body: creditInput.omit({ note: true }),
  responses: { 200: getWalletEntry.response },
  command: creditSandboxWallet,
  input: ({ body }) => body,
  // Overdue rent is paid before the response, so that the numbers it restores can be read.
  runsEffects: true,
  answer: { query: getWalletEntry, params: ({ body }) => ({ reference: body.reference }) },
})

const exportWallet = defineExport({
  name: 'export-wallet',
  summary: "Export the wallet's book",
  kind: 'wallet',
  mounts: [{ surface: 'console', path: '/api/tracking/wallet/export.csv' }],
  query: entriesQuery,
  problem: timeWindowProblem,
  reads: [walletEntries],
  columns: entryColumns,
  batches: entryBatches,
})

/** Writes and exports of the wallet (Supplement §3, "Wallet"). */
export const walletWrites: readonly Write[] = [credit, creditSandbox, exportWallet]
