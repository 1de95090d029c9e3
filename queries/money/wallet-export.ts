import type { z } from 'zod'
import { walletEntries } from '../../projections/money/wallet-entries.ts'
import type { CsvColumn } from '../../src/domain/shared/csv.ts'
import { WALLET } from '../../src/domain/shared/limits.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { readAll } from '../shared/documents.ts'
import { type EntryShape, entriesFilter, type entriesQuery, entryShapeOf } from './wallet-shape.ts'

/** The columns of the wallet's export. */
export const entryColumns: readonly CsvColumn<EntryShape>[] = [
  { heading: 'id', of: ({ id }) => id },
  { heading: 'at', of: ({ at }) => at },
  { heading: 'kind', of: ({ kind }) => kind },
  { heading: 'amountCents', of: ({ amountCents }) => amountCents },
  { heading: 'balanceCents', of: ({ balanceCents }) => balanceCents },
  { heading: 'reference', of: ({ reference }) => reference },
  { heading: 'note', of: ({ note }) => note },
]

/** All entries that match a query, newest first, in batches. Entries written during the export shift none of them. */
export async function* entryBatches(
  views: Pick<ReadStore, 'find'>,
  workspaceId: string,
  request: z.infer<typeof entriesQuery>,
): AsyncGenerator<readonly EntryShape[]> {
  const filter = entriesFilter(workspaceId, request)
  for (let below = Number.MAX_SAFE_INTEGER; ; ) {
    const older: Filter = { $and: [filter, { revision: { $lt: below } }] }
    const batch = await readAll(views, walletEntries, {
      filter: older,
      sort: { revision: -1 },
      limit: WALLET.exportBatch,
    })
    if (batch.length > 0) yield batch.map(entryShapeOf)
    const last = batch.at(-1)
    if (!last || batch.length < WALLET.exportBatch) return
    below = last.revision
  }
}
