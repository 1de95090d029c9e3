import { wallets } from '../../projections/money/wallets.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { readOne } from '../shared/documents.ts'

/** Balance and reservations of a workspace's wallet, in cents; zero before its first entry. */
export async function walletFigures(views: ReadStore, workspaceId: string) {
  const wallet = await readOne(views, wallets, workspaceId, workspaceId)
  const reservedCents = (wallet?.reservations ?? []).reduce((sum, { amountCents }) => sum + amountCents, 0)
  return { balanceCents: wallet?.balanceCents ?? 0, reservedCents }
}
