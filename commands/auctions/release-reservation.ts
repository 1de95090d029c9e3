import { z } from 'zod'
import { ledger } from '../../src/domain/routing/ledger.ts'
import { ledgerEvents } from '../../src/domain/routing/ledger-events.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const input = z.object({
  auctionId: id,
  reason: ledgerEvents.ReservationReleased.shape.reason.exclude(['claimed']),
  occurredAt: instant,
})

/** Gives back the slots of a post whose call did not come in time, or whose bid was voided. Idempotent by auction. */
export const releaseReservation = defineCommand({
  name: 'release-reservation',
  entity: ledger,
  input,
  decide({ auctionId, reason, occurredAt }, { reservations }) {
    const held = reservations.get(auctionId)
    return held ? [{ type: 'ReservationReleased', data: { ...held, reason, occurredAt } }] : []
  },
})
