import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { availableCents, entryLookups, findEntry, wallet } from '../../src/domain/money/wallet.ts'
import type { TrackingNumber } from '../../src/domain/supply/number.ts'
import {
  type Renewal,
  renewalReference,
  renewalRetryAt,
  rentOwedSince,
  suspensionAt,
} from '../../src/domain/supply/renewal.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** The transition of a number whose rent is not covered; null when it keeps its status. */
function transitionWhenUnpaid(status: TrackingNumber['status'], since: string, now: string) {
  if (status === 'active') return { after: 'past_due' as const, note: 'The wallet balance does not cover the rent.' }
  if (status !== 'past_due' || now < suspensionAt(since)) return null
  return { after: 'suspended' as const, note: 'The rent has not been paid for seven days.' }
}

const NOT_MISSED: Pick<Renewal, 'pastDueSince' | 'retryAt'> = { pastDueSince: null, retryAt: null }

/** Records that the wallet does not cover a number's rent: past due, later suspended; the charge is tried again. */
export const missRenewal = defineCommand({
  name: 'miss-renewal',
  entity: workspace,
  input: z.object({ numberId: id }),
  reads: { wallet },
  lookups({ numberId }, { numbers }, reads) {
    const renewsAt = numbers.get(numberId)?.renewsAt
    return renewsAt ? entryLookups(reads.wallet, renewalReference(numberId, renewsAt)) : []
  },
  decide({ numberId }, { numbers, renewals }, context) {
    const { now, reads } = context
    const number = numbers.get(numberId)
    const renewsAt = rentOwedSince(number, now)
    if (!number || renewsAt === null) return []
    const { e164, status, monthlyCents: amountCents } = number
    const renewal = renewals.get(numberId) ?? NOT_MISSED
    const reference = renewalReference(numberId, renewsAt)
    const charged = findEntry(reads.wallet, reference, context)
    const available = availableCents(reads.wallet)
    // Already tried today, paid in the meantime, or covered by now.
    if ((renewal.retryAt !== null && now < renewal.retryAt) || charged || available >= amountCents) return []
    const since = renewal.pastDueSince ?? now
    const failed = { numberId, e164, renewsAt, amountCents, availableCents: available }
    const failure = {
      type: 'NumberRenewalFailed' as const,
      data: { ...failed, retryAt: renewalRetryAt(now, suspensionAt(since)) },
    }
    const transition = transitionWhenUnpaid(status, since, now)
    if (transition === null) return [failure]
    return [failure, { type: 'NumberStatusChanged', data: { numberId, e164, before: status, ...transition } }]
  },
})
