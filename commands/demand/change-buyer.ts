import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { type BuyerSettings, buyerChanges, buyerNameTaken } from '../../src/domain/demand/buyer.ts'
import { changesOf } from '../../src/domain/shared/changes.ts'
import { archived, missing, nameTaken, nothingToChange } from '../../src/domain/shared/refusals.ts'
import { zoneProblem } from '../../src/domain/shared/zones.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes what is set of a buyer; a cap lowered below its use reverses nothing. */
export const changeBuyer = defineCommand({
  name: 'change-buyer',
  entity: workspace,
  input: z.object({ buyerId: id, changes: buyerChanges }),
  rejects: ['validation-error', 'bad-request', 'buyer-not-found', 'conflict'],
  decide({ buyerId, changes }, state) {
    const buyer = state.buyers.get(buyerId)
    if (!buyer) return missing('buyer')
    if (Object.keys(changes).length === 0) return nothingToChange()
    const problem = changes.timezone === undefined ? null : zoneProblem(changes.timezone)
    if (problem) return refuse('validation-error', { timezone: problem })
    if (buyer.status === 'archived') return archived('Buyer')
    const difference = changesOf<BuyerSettings>(buyer, changes)
    if (!difference) return []
    const { name } = changes
    if (name !== undefined && buyerNameTaken(state, name, buyerId)) return nameTaken('buyer', name)
    return [{ type: 'BuyerChanged', data: { buyerId, name: buyer.name, ...difference } }]
  },
})
