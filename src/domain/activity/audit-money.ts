import type { walletEvents } from '../money/wallet.ts'
import type { blocklistEvents } from '../routing/blocklist.ts'
import type { ledgerEvents } from '../routing/ledger-events.ts'
import { formatDollars } from '../shared/format.ts'
import { changesBetween } from './activity-changes.ts'
import type { AuditEntry, AuditFormatters } from './audit-formatter.ts'
import { auditEntry, created } from './audit-formatter.ts'

/** Wording of charges and credits by kind; usage is not logged, since each call's books show it. */
const MONEY = {
  credit: { action: 'credited', severity: 'medium', became: 'credited' },
  refund: { action: 'refunded', severity: 'medium', became: 'refunded' },
  setup: { action: 'charged', severity: 'medium', became: 'charged a setup fee of' },
  renewal: { action: 'charged', severity: 'low', became: 'charged a renewal of' },
  usage: null,
} as const

interface WalletEntryData {
  readonly kind: keyof typeof MONEY
  readonly reference: string
  readonly amountCents: number
  readonly balanceCents: number
  readonly note: string | null
}

function walletEntry(
  { kind, reference, amountCents, balanceCents, note }: WalletEntryData,
  sign: 1 | -1,
): AuditEntry | null {
  const row = MONEY[kind]
  if (row === null) return null
  const balance = changesBetween({ balanceCents: balanceCents - sign * amountCents }, { balanceCents, reference, note })
  const became = `${row.became} ${formatDollars(amountCents)}${note ? `: ${note}` : '.'}`
  return auditEntry({ kind: 'wallet', id: reference, name: reference }, row.action, row.severity, became, balance)
}

type MoneyEvents = typeof walletEvents & typeof blocklistEvents & Pick<typeof ledgerEvents, 'TargetCapsReset'>

/** Entries of the wallet, of blocked callers and of cap resets. */
export const moneyAudit: AuditFormatters<MoneyEvents> = {
  WalletCredited: ({ data }) => walletEntry(data, 1),
  WalletCharged: ({ data }) => walletEntry(data, -1),
  // Reserved for a number order, which is logged itself.
  WalletReserved: () => null,
  WalletReservationReleased: () => null,
  CallerBlocked: ({ data: { block, campaignName } }) =>
    created({ kind: 'blocked_caller', id: block.id, name: block.callerLast10 }, 'blocked', 'low', {
      ...block,
      campaignName,
    }),
  CallerUnblocked: ({ data: { blockId, callerLast10, campaignId } }) =>
    auditEntry(
      { kind: 'blocked_caller', id: blockId, name: callerLast10 },
      'unblocked',
      'low',
      'was unblocked.',
      changesBetween({ campaignId }, null),
    ),
  TargetCapsReset: ({ data: { targetId, targetName, cleared } }) => {
    const zeros = Object.fromEntries(Object.keys(cleared).map((figure) => [figure, 0]))
    const entity = { kind: 'target', id: targetId, name: targetName } as const
    return auditEntry(entity, 'caps_reset', 'medium', 'had its cap counters reset.', changesBetween(cleared, zeros))
  },
}
