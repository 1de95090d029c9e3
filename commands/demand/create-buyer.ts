import { overCeiling } from '../../src/domain/access/ceilings.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { buyerNameTaken, buyerSettings, buyersHeld, plainBuyer } from '../../src/domain/demand/buyer.ts'
import { changed } from '../../src/domain/shared/changes.ts'
import { missing, nameTaken } from '../../src/domain/shared/refusals.ts'
import { zoneProblem } from '../../src/domain/shared/zones.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'

/** Adds a buyer, active and without targets. */
export const createBuyer = defineCommand({
  name: 'create-buyer',
  entity: workspace,
  input: buyerSettings.partial().required({ name: true }),
  rejects: ['validation-error', 'workspace-not-found', 'conflict', 'plan-upgrade-required'],
  decide(sent, state, { now, newId }) {
    const { workspace } = state
    if (!workspace) return missing('workspace')
    const settings = changed(plainBuyer(sent.name, workspace.timezone), sent)
    const problem = zoneProblem(settings.timezone)
    if (problem) return refuse('validation-error', { timezone: problem })
    if (buyerNameTaken(state, settings.name, null)) return nameTaken('buyer', settings.name)
    const over = overCeiling(workspace.planId, 'maxBuyers', buyersHeld(state))
    if (over) return over
    const buyer = { ...settings, id: newId(), status: 'active', createdAt: now, updatedAt: now } as const
    return [{ type: 'BuyerCreated', data: { buyer } }]
  },
})
