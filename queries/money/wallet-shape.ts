import { z } from 'zod'
import type { walletEntries } from '../../projections/money/wallet-entries.ts'
import { walletEntry } from '../../src/domain/money/wallet.ts'
import { id, instant } from '../../src/kernel/wire.ts'
import type { Filter } from '../../src/ports/read-store.ts'
import type { DocOf } from '../shared/documents.ts'
import { timeWindowFields, timeWindowFilter } from '../shared/time-window.ts'

/** A wallet entry in a response. */
export const entryShape = walletEntry
  .pick({ kind: true, amountCents: true, balanceCents: true, reference: true, note: true })
  .extend({ id, at: instant })
  .meta({ id: 'WalletEntry' })
export type EntryShape = z.infer<typeof entryShape>

/** An entry in a response. */
export function entryShapeOf(doc: DocOf<typeof walletEntries>): EntryShape {
  const { eventId, at, kind, amountCents, balanceCents, reference, note } = doc
  return { id: eventId, at, kind, amountCents, balanceCents, reference, note }
}

/** The filters of wallet entries, to be spread into a query. */
export const entryFilters = {
  kind: walletEntry.shape.kind.optional(),
  ...timeWindowFields,
}

/** A query for entries without pages. */
export const entriesQuery = z.object(entryFilters)

/** The entries of a workspace that match a query; the window includes `from` and excludes `to`. */
export function entriesFilter(workspaceId: string, { kind, from, to }: z.infer<typeof entriesQuery>): Filter {
  return { workspaceId, ...(kind && { kind }), ...timeWindowFilter({ from, to }) }
}
