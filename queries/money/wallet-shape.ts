import { z } from 'zod'
import type { walletEntries } from '../../projections/money/wallet-entries.ts'
import { wallets } from '../../projections/money/wallets.ts'
import { walletEntry } from '../../src/domain/money/wallet.ts'
import { id, instant, queryInstant } from '../../src/kernel/wire.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { windowOf } from '../shared/activity-filter.ts'
import { type DocOf, readOne } from '../shared/documents.ts'

/** An entry of the wallet's book, as it is answered. */
export const entryShape = walletEntry
  .pick({ kind: true, amountCents: true, balanceCents: true, reference: true, note: true })
  .extend({ id, at: instant })
export type EntryShape = z.infer<typeof entryShape>

/** An entry as it is answered. */
export function entryShapeOf(doc: DocOf<typeof walletEntries>): EntryShape {
  const { eventId, at, kind, amountCents, balanceCents, reference, note } = doc
  return { id: eventId, at, kind, amountCents, balanceCents, reference, note }
}

/** The filters of the wallet's book, to be spread into a query. */
export const entryFilters = {
  kind: walletEntry.shape.kind.optional(),
  from: queryInstant.optional(),
  to: queryInstant.optional(),
}

/** A question for entries alone, all of them. */
export const entriesQuery = z.object(entryFilters)

/** Entries of a workspace that a query asks for; the window takes in `from` and leaves out `to`. */
export function entriesFilter(workspaceId: string, { kind, from, to }: z.infer<typeof entriesQuery>): Filter {
  return { workspaceId, ...(kind && { kind }), ...windowOf({ from, to }) }
}

/** Figures of a workspace's wallet; zero before its first entry. */
export async function walletFigures(views: ReadStore, workspaceId: string) {
  const wallet = await readOne(views, wallets, workspaceId, workspaceId)
  const reservedCents = (wallet?.reservations ?? []).reduce((sum, { amountCents }) => sum + amountCents, 0)
  return { balanceCents: wallet?.balanceCents ?? 0, reservedCents }
}
