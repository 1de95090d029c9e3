import { z } from 'zod'
import { walletEvents } from '../src/domain/wallet.ts'
import { workspaceIdOf } from '../src/domain/workspace.ts'
import { defineProjection } from '../src/kernel/projection.ts'

/** The balance of each workspace's wallet in cents, by workspace. */
export const wallets = defineProjection({
  name: 'wallets',
  version: 1,
  events: walletEvents,
  doc: z.object({ workspaceId: z.string(), balanceCents: z.int() }),
  indexes: [],
  key: workspaceIdOf,
  starts: {
    WalletCredited: (event) => ({ workspaceId: workspaceIdOf(event), balanceCents: event.data.balanceCents }),
    WalletCharged: (event) => ({ workspaceId: workspaceIdOf(event), balanceCents: event.data.balanceCents }),
  },
  on: {
    WalletCredited: (doc, { data }) => ({ ...doc, balanceCents: data.balanceCents }),
    WalletCharged: (doc, { data }) => ({ ...doc, balanceCents: data.balanceCents }),
  },
})
