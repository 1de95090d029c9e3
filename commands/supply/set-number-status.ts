import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound, refuseTransition } from '../../src/domain/shared/refusals.ts'
import { NUMBER_TRANSITIONS, numberStatus } from '../../src/domain/supply/number.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes a number's status on request of the platform's staff. A release has its own command. */
export const setNumberStatus = defineCommand({
  name: 'set-number-status',
  entity: workspace,
  input: z.object({ numberId: id, status: numberStatus }),
  rejects: ['number-not-found', 'conflict'],
  decide({ numberId, status: after }, { numbers }) {
    const number = numbers.get(numberId)
    if (!number) return refuseNotFound('number')
    const { e164, status: before } = number
    if (before === after) return []
    const allowed = NUMBER_TRANSITIONS[before]
    if (!allowed.includes(after)) return refuseTransition('Number', before, allowed)
    return [{ type: 'NumberStatusChanged', data: { numberId, e164, before, after, note: null } }]
  },
})
