import { z } from 'zod'
import { type OwnVertical, verticalChanges } from '../../src/domain/campaigns/vertical.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { diff } from '../../src/domain/shared/patch.ts'
import { refuseEmptyChange, refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Deactivates or reactivates a workspace's own vertical. Campaigns that use it keep it. */
export const changeVertical = defineCommand({
  name: 'change-vertical',
  entity: workspace,
  input: z.object({ verticalId: id, changes: verticalChanges }),
  rejects: ['vertical-not-found', 'bad-request'],
  decide({ verticalId, changes }, { verticals }) {
    const vertical = verticals.get(verticalId)
    if (!vertical) return refuseNotFound('vertical')
    if (Object.keys(changes).length === 0) return refuseEmptyChange()
    const difference = diff<Pick<OwnVertical, 'active'>>(vertical, changes)
    return difference ? [{ type: 'VerticalChanged', data: { verticalId, name: vertical.name, ...difference } }] : []
  },
})
