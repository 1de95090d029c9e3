import { z } from 'zod'
import { planLimitExceeded } from '../../src/domain/access/plan-limits.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { buyerCount, buyerStatus, isBuyerNameTaken } from '../../src/domain/demand/buyer.ts'
import { statusNote } from '../../src/domain/shared/fields.ts'
import { refuseNameTaken, refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Activates, pauses, archives or restores a buyer. Its targets stay as they are; a buyer that is not active makes them ineligible. */
export const setBuyerStatus = defineCommand({
  name: 'set-buyer-status',
  entity: workspace,
  input: z.object({ buyerId: id, status: buyerStatus, note: statusNote.nullish() }),
  rejects: ['buyer-not-found', 'conflict', 'plan-upgrade-required'],
  decide({ buyerId, status: to, note }, state) {
    const { workspace } = state
    const buyer = state.buyers.get(buyerId)
    if (!workspace || !buyer) return refuseNotFound('buyer')
    const { name, status: from } = buyer
    if (from === to) return []
    if (from === 'archived' && isBuyerNameTaken(state, name, buyerId)) return refuseNameTaken('buyer', name)
    const over = from === 'archived' ? planLimitExceeded(workspace.planId, 'maxBuyers', buyerCount(state)) : null
    if (over) return over
    const targetsAffected = state.targets.count((target) => target.buyerId === buyerId && target.status === 'active')
    return [{ type: 'BuyerStatusChanged', data: { buyerId, name, from, to, note: note ?? null, targetsAffected } }]
  },
})
