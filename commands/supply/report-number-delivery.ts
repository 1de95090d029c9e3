import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { TEXT } from '../../src/domain/shared/limits.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Records whether the carrier delivers a number's calls to the platform; `error` is the reason when it does not. */
export const reportNumberDelivery = defineCommand({
  name: 'report-number-delivery',
  entity: workspace,
  input: z.object({ numberId: id, error: z.string().min(1).max(TEXT.statusNote).nullable() }),
  rejects: ['number-not-found'],
  decide({ numberId, error: webhookError }, { numbers }) {
    const number = numbers.get(numberId)
    if (!number) return refuseNotFound('number')
    const webhookStatus = webhookError === null ? ('ready' as const) : ('failed' as const)
    if (number.webhookStatus === webhookStatus && number.webhookError === webhookError) return []
    return [{ type: 'NumberDeliveryReported', data: { numberId, e164: number.e164, webhookStatus, webhookError } }]
  },
})
