import { z } from 'zod'
import { fallbackLostEvents, immovableReason } from '../../src/domain/configuration/attribution.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { attributionOf } from '../../src/domain/supply/number.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Asks for a number to be given up: it leaves its campaign and takes no more calls, and is billed until staff complete it. */
export const requestNumberRelease = defineCommand({
  name: 'request-number-release',
  entity: workspace,
  input: z.object({ numberId: id }),
  rejects: ['number-not-found', 'conflict'],
  decide({ numberId }, state) {
    const number = state.numbers.get(numberId)
    if (!number) return refuseNotFound('number')
    const fixed = immovableReason(number)
    if (fixed) return refuse('conflict', null, fixed)
    const { e164 } = number
    return [
      { type: 'NumberReleaseRequested', data: { numberId, e164, before: attributionOf(number) } },
      ...fallbackLostEvents(state, number, null),
    ]
  },
})
