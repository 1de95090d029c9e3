import { z } from 'zod'
import { fallbackLostEvents, immovableReason } from '../../src/domain/configuration/attribution.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { attributionOf } from '../../src/domain/supply/number.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Requests the release of a number: it leaves its campaign, takes no calls, and is billed until staff complete the release. */
export const requestNumberRelease = defineCommand({
  name: 'request-number-release',
  entity: workspace,
  input: z.object({ numberId: id }),
  rejects: ['number-not-found', 'conflict'],
  decide({ numberId }, state) {
    const number = state.numbers.get(numberId)
    if (!number) return refuseNotFound('number')
    const problem = immovableReason(number)
    if (problem) return refuse('conflict', null, problem)
    const { e164 } = number
    return [
      { type: 'NumberReleaseRequested', data: { numberId, e164, before: attributionOf(number) } },
      ...fallbackLostEvents(state, number, null),
    ]
  },
})
