import { z } from 'zod'
import { walletEvents } from '../../src/domain/money/wallet.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'

const doc = z.object({
  workspaceId: z.string(),
  balanceCents: z.int(),
  /** Reserved amounts by the reference of the later charge. */
  reservations: z.array(z.object({ reference: z.string(), amountCents: z.int() })),
})
type Doc = z.infer<typeof doc>

function otherReservations({ reservations }: Doc, reference: string): Doc['reservations'] {
  return reservations.filter((reserved) => reserved.reference !== reference)
}

/** Balance and reservations of each workspace's wallet, in cents, by workspace. */
export const wallets = defineProjection({
  name: 'wallets',
  version: 2,
  events: walletEvents,
  doc,
  indexes: [],
  key: workspaceIdOf,
  create: {
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
  update: {
    WalletCredited: (doc, { data }) => ({ ...doc, balanceCents: data.balanceCents }),
    WalletCharged: (doc, { data: { balanceCents, reference } }) => ({
      ...doc,
      balanceCents,
      reservations: otherReservations(doc, reference),
    }),
    WalletReserved: (doc, { data: { reference, amountCents } }) => ({
      ...doc,
      reservations: [...otherReservations(doc, reference), { reference, amountCents }],
    }),
    WalletReservationReleased: (doc, { data }) => ({ ...doc, reservations: otherReservations(doc, data.reference) }),
  },
})
