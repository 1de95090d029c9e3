import {
  chargeEntry,
  creditEntry,
  entryId,
  walletEntries as memory,
  walletEvents,
} from '../../src/domain/money/wallet.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'

/** Wallet entries by `entryId`; also the decision memory for references that the fold no longer remembers. */
export const walletEntries = defineProjection({
  name: memory.name,
  version: 2,
  events: walletEvents,
  doc: memory.doc,
  indexes: [{ workspaceId: 1, revision: -1 }],
  key: (event) => entryId(workspaceIdOf(event), event.data.reference),
  create: { WalletCredited: creditEntry, WalletCharged: chargeEntry },
})
