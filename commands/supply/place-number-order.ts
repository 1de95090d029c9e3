import { planLimitExceeded } from '../../src/domain/access/plan-limits.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { availableCents, wallet } from '../../src/domain/money/wallet.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { numberCount } from '../../src/domain/supply/number.ts'
import {
  orderByRequest,
  orderedNumber,
  orderNotes,
  ordersInFlight,
  unreservedCents,
} from '../../src/domain/supply/number-order.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/**
 * Places an order of a number, once for each `requestId`. A refused order leaves nothing behind, so that the same request
 * can be repeated.
 */
export const placeNumberOrder = defineCommand({
  name: 'place-number-order',
  entity: workspace,
  input: orderedNumber.extend(orderNotes.shape).extend({ requestId: id }),
  reads: { wallet },
  rejects: ['workspace-not-found', 'conflict', 'plan-upgrade-required', 'insufficient-funds'],
  decide({ requestId, ...ordered }, state, { now, newId, actor, reads }) {
    const { workspace } = state
    const { e164, setupCents } = ordered
    if (!workspace) return refuseNotFound('workspace')
    const existing = orderByRequest(state, requestId)
    if (existing?.e164 === e164 && existing.userId === actor.id) return []
    if (existing) return refuse('conflict', { requestId }, 'The requestId is already used by another order.')
    if (state.numberIds.has(e164)) return refuse('conflict', { e164 }, `The workspace already holds ${e164}.`)
    const open = ordersInFlight(state)
    if (open.some((order) => order.e164 === e164)) {
      return refuse('conflict', { e164 }, `An order for ${e164} is in progress.`)
    }
    const over = planLimitExceeded(workspace.planId, 'maxNumbers', numberCount(state) + open.length)
    if (over) return over
    const left = availableCents(reads.wallet) - unreservedCents(open, reads.wallet.reservations)
    if (setupCents > 0 && left < setupCents) return refuse('insufficient-funds', { setupCents, availableCents: left })
    const order = {
      ...ordered,
      id: newId(),
      requestId,
      userId: actor.id,
      status: 'pending' as const,
      error: null,
      carrierOrderId: null,
      numberId: null,
      createdAt: now,
      updatedAt: now,
    }
    return [{ type: 'NumberOrderPlaced', data: { order } }]
  },
})
