import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { monthAfter, nextBillingAt, paidMonth } from '../../src/domain/supply/renewal.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Records a paid month of rent. The number becomes active again once it owes nothing. */
export const renewNumber = defineCommand({
  name: 'renew-number',
  entity: workspace,
  input: z.object({ reference: z.string(), amountCents: z.int().min(1) }),
  decide({ reference, amountCents }, { numbers, renewals }, { now }) {
    const paid = paidMonth(reference)
    const number = numbers.get(paid?.numberId ?? '')
    const before = number ? nextBillingAt(number) : null
    if (!number || before === null || !before.startsWith(paid?.date ?? '')) return []
    const { id: numberId, e164, status } = number
    const after = monthAfter(before, renewals.get(numberId)?.day)
    const renewed = { type: 'NumberRenewed' as const, data: { numberId, e164, before, after, amountCents, reference } }
    if (status === 'active' || after <= now) return [renewed]
    const moved = { numberId, e164, before: status, after: 'active' as const, note: 'The rent has been paid.' }
    return [renewed, { type: 'NumberStatusChanged', data: moved }]
  },
})
