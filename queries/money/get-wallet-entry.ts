import { z } from 'zod'
import { walletEntries } from '../../projections/money/wallet-entries.ts'
import { wallets } from '../../projections/money/wallets.ts'
import { entryId } from '../../src/domain/money/wallet.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { walletFigures } from './wallet-figures.ts'
import { entryShape, entryShapeOf } from './wallet-shape.ts'

/** The entry of a reference with the current balance: the response of a credit. It has no route of its own. */
export const getWalletEntry = defineQuery({
  name: 'get-wallet-entry',
  summary: 'Read an entry of the wallet',
  mounts: [],
  params: z.object({ reference: z.string() }),
  query: z.object({}),
  response: z.object({ entry: entryShape, balanceCents: z.int() }),
  reads: [wallets, walletEntries],
  rejects: ['not-found'],
  async run({ views }: QueryPorts, { params: { reference }, tenant: { workspaceId } }) {
    const [entry, { balanceCents }] = await Promise.all([
      readOne(views, walletEntries, workspaceId, entryId(workspaceId, reference)),
      walletFigures(views, workspaceId),
    ])
    return entry ? { entry: entryShapeOf(entry), balanceCents } : refuse('not-found', null, 'Entry not found.')
  },
})
