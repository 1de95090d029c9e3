import { z } from 'zod'
import { planLimitExceeded } from '../../src/domain/access/plan-limits.ts'
import { monthlyRent } from '../../src/domain/access/plans.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { e164, nullableText } from '../../src/domain/shared/fields.ts'
import { NUMBER, TEXT } from '../../src/domain/shared/limits.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { newNumber, numberCount, numberType } from '../../src/domain/supply/number.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { instant } from '../../src/kernel/wire.ts'

/** Adds a number that the carrier delivered: active, unassigned, at the plan's monthly rent. */
export const provisionNumber = defineCommand({
  name: 'provision-number',
  entity: workspace,
  input: z.object({
    e164,
    type: numberType,
    label: nullableText(NUMBER.label).default(null),
    region: nullableText(TEXT.contact).default(null),
    locality: nullableText(TEXT.contact).default(null),
    renewsAt: instant.nullable().default(null),
  }),
  rejects: ['workspace-not-found', 'conflict', 'plan-upgrade-required'],
  decide(input, state, { now, newId }) {
    const { workspace } = state
    if (!workspace) return refuseNotFound('workspace')
    if (state.numberIds.has(input.e164))
      return refuse('conflict', { e164: input.e164 }, `The workspace already holds ${input.e164}.`)
    const over = planLimitExceeded(workspace.planId, 'maxNumbers', numberCount(state))
    if (over) return over
    const monthlyCents = monthlyRent(workspace.planId, input.type)
    return [
      { type: 'NumberProvisioned', data: { number: newNumber({ ...input, monthlyCents }, { id: newId(), now }) } },
    ]
  },
})
