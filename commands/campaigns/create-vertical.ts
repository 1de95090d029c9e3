import { isVerticalNameTaken, vertical } from '../../src/domain/campaigns/vertical.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { VERTICAL } from '../../src/domain/shared/limits.ts'
import { refuseNameTaken } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'

/** Adds a vertical of the workspace's own, active. */
export const createVertical = defineCommand({
  name: 'create-vertical',
  entity: workspace,
  input: vertical.omit({ id: true }),
  rejects: ['conflict'],
  decide({ name, short }, state, { now, newId }) {
    if (isVerticalNameTaken(state, name)) return refuseNameTaken('vertical', name)
    if (state.verticals.size >= VERTICAL.max)
      return refuse(
        'conflict',
        { limit: VERTICAL.max, current: state.verticals.size },
        `A workspace has at most ${VERTICAL.max} verticals of its own.`,
      )
    return [{ type: 'VerticalCreated', data: { vertical: { id: newId(), name, short, active: true, createdAt: now } } }]
  },
})
