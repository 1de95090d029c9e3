import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import {
  availableCents,
  entryId,
  entryLookups,
  recentEntry,
  wallet,
  walletEntries,
} from '../../src/domain/money/wallet.ts'
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

/** Where a number that could not be paid for moves at an instant; null where it stays. */
function unpaid(status: TrackingNumber['status'], since: string, now: string) {
  if (status === 'active') return { after: 'past_due' as const, note: 'The wallet does not hold the rent.' }
  if (status !== 'past_due' || now < suspensionAt(since)) return null
  return { after: 'suspended' as const, note: 'The rent has not been paid for seven days.' }
}

const NEVER: Pick<Renewal, 'pastDueSince' | 'retryAt'> = { pastDueSince: null, retryAt: null }

/** The wallet does not hold a number's rent: it is past due, in time suspended, and the charge is tried again. */
export const missRenewal = defineCommand({
  name: 'miss-renewal',
  entity: workspace,
  input: z.object({ numberId: id }),
  reads: { wallet },
  lookups({ numberId }, { numbers }, reads) {
    const renewsAt = numbers.get(numberId)?.renewsAt
    return renewsAt ? entryLookups(reads.wallet, renewalReference(numberId, renewsAt)) : []
  },
  decide({ numberId }, { numbers, renewals }, { now, workspaceId, reads, lookUp }) {
    const number = numbers.get(numberId)
    const renewsAt = rentOwedSince(number, now)
    if (!number || renewsAt === null) return []
    const { e164, status, monthlyCents: amountCents } = number
    const renewal = renewals.get(numberId) ?? NEVER
    const reference = renewalReference(numberId, renewsAt)
    const charged = recentEntry(reads.wallet, reference) ?? lookUp(walletEntries, entryId(workspaceId, reference))
    const available = availableCents(reads.wallet)
    // Tried already today, paid for meanwhile, or about to be.
    if ((renewal.retryAt !== null && now < renewal.retryAt) || charged || available >= amountCents) return []
    const since = renewal.pastDueSince ?? now
    const failed = { numberId, e164, renewsAt, amountCents, availableCents: available }
    const again = {
      type: 'NumberRenewalFailed' as const,
      data: { ...failed, retryAt: renewalRetryAt(now, suspensionAt(since)) },
    }
    const moves = unpaid(status, since, now)
    if (moves === null) return [again]
    return [again, { type: 'NumberStatusChanged', data: { numberId, e164, before: status, ...moves } }]
  },
})
