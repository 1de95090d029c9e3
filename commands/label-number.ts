import { z } from 'zod'
import { text } from '../src/domain/fields.ts'
import { NUMBER } from '../src/domain/limits.ts'
import { missing } from '../src/domain/refusals.ts'
import { workspace } from '../src/domain/workspace.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { id } from '../src/kernel/wire.ts'

/** Gives a number the owner's own name, or takes it away. */
export const labelNumber = defineCommand({
  name: 'label-number',
  entity: workspace,
  input: z.object({ numberId: id, label: text(NUMBER.label) }),
  rejects: ['number-not-found'],
  decide({ numberId, label: after }, { numbers }) {
    const number = numbers.get(numberId)
    if (!number) return missing('number')
    const { e164, label: before } = number
    return before === after ? [] : [{ type: 'NumberLabelled', data: { numberId, e164, before, after } }]
  },
})
