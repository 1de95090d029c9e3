import { planLimitExceeded } from '../../src/domain/access/plan-limits.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { buyerCount, buyerSettings, defaultBuyer, isBuyerNameTaken } from '../../src/domain/demand/buyer.ts'
import { applyPatch } from '../../src/domain/shared/patch.ts'
import { refuseNameTaken, refuseNotFound, refuseUnknownZone } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Adds a buyer, active and without targets. */
export const createBuyer = defineCommand({
  name: 'create-buyer',
  entity: workspace,
  input: buyerSettings.partial().required({ name: true }),
  rejects: ['validation-error', 'workspace-not-found', 'conflict', 'plan-upgrade-required'],
  decide(input, state, { now, newId }) {
    const { workspace } = state
    if (!workspace) return refuseNotFound('workspace')
    const settings = applyPatch(defaultBuyer(input.name, workspace.timezone), input)
    const unknownZone = refuseUnknownZone(settings.timezone)
    if (unknownZone) return unknownZone
    if (isBuyerNameTaken(state, settings.name, null)) return refuseNameTaken('buyer', settings.name)
    const over = planLimitExceeded(workspace.planId, 'maxBuyers', buyerCount(state))
    if (over) return over
    const buyer = { ...settings, id: newId(), status: 'active', createdAt: now, updatedAt: now } as const
    return [{ type: 'BuyerCreated', data: { buyer } }]
  },
})
