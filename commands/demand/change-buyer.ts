import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { type BuyerSettings, buyerChanges, isBuyerNameTaken } from '../../src/domain/demand/buyer.ts'
import { diff } from '../../src/domain/shared/patch.ts'
import {
  refuseArchived,
  refuseEmptyChange,
  refuseNameTaken,
  refuseNotFound,
  refuseUnknownZone,
} from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes the settings of a buyer. A cap below the current use reverses nothing. */
export const changeBuyer = defineCommand({
  name: 'change-buyer',
  entity: workspace,
  input: z.object({ buyerId: id, changes: buyerChanges }),
  rejects: ['validation-error', 'bad-request', 'buyer-not-found', 'conflict'],
  decide({ buyerId, changes }, state) {
    const buyer = state.buyers.get(buyerId)
    if (!buyer) return refuseNotFound('buyer')
    if (Object.keys(changes).length === 0) return refuseEmptyChange()
    const unknownZone = refuseUnknownZone(changes.timezone)
    if (unknownZone) return unknownZone
    if (buyer.status === 'archived') return refuseArchived('Buyer')
    const difference = diff<BuyerSettings>(buyer, changes)
    if (!difference) return []
    const { name } = changes
    if (name !== undefined && isBuyerNameTaken(state, name, buyerId)) return refuseNameTaken('buyer', name)
    return [{ type: 'BuyerChanged', data: { buyerId, name: buyer.name, ...difference } }]
  },
})
