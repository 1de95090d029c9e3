import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Completes a requested release: the number is free and can be rented again. */
export const completeNumberRelease = defineCommand({
  name: 'complete-number-release',
  entity: workspace,
  input: z.object({ numberId: id }),
  rejects: ['number-not-found', 'conflict'],
  decide({ numberId }, { numbers }) {
    const number = numbers.get(numberId)
    if (!number) return refuseNotFound('number')
    const { e164, status: before, releaseRequestedAt } = number
    if (before === 'released') return []
    if (releaseRequestedAt === null) {
      return refuse('conflict', { status: before }, 'No release of the number has been requested.')
    }
    const after = 'released' as const
    return [{ type: 'NumberStatusChanged', data: { numberId, e164, before, after, note: null } }]
  },
})
