import { z } from 'zod'
import { walletEvents } from '../../src/domain/money/wallet.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'

const doc = z.object({
  workspaceId: z.string(),
  balanceCents: z.int(),
  /** What is put aside for charges to come. */
  reservations: z.array(z.object({ reference: z.string(), amountCents: z.int() })),
})
type Doc = z.infer<typeof doc>

function without({ reservations }: Doc, reference: string): Doc['reservations'] {
  return reservations.filter((reserved) => reserved.reference !== reference)
}

/** The balance of each workspace's wallet in cents, and what of it is reserved, by workspace. */
export const wallets = defineProjection({
  name: 'wallets',
  version: 2,
  events: walletEvents,
  doc,
  indexes: [],
  key: workspaceIdOf,
  starts: {
    WalletCredited: (event) => ({
      workspaceId: workspaceIdOf(event),
      balanceCents: event.data.balanceCents,
      reservations: [],
    }),
    WalletCharged: (event) => ({
      workspaceId: workspaceIdOf(event),
      balanceCents: event.data.balanceCents,
      reservations: [],
    }),
  },
  on: {
    WalletCredited: (doc, { data }) => ({ ...doc, balanceCents: data.balanceCents }),
    WalletCharged: (doc, { data: { balanceCents, reference } }) => ({
      ...doc,
      balanceCents,
      reservations: without(doc, reference),
    }),
    WalletReserved: (doc, { data: { reference, amountCents } }) => ({
      ...doc,
      reservations: [...without(doc, reference), { reference, amountCents }],
    }),
    WalletReservationReleased: (doc, { data }) => ({ ...doc, reservations: without(doc, data.reference) }),
  },
})
