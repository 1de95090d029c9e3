import { z } from 'zod'
import type { Memory } from '../kernel/command.ts'
import { defineEntity } from '../kernel/entity.ts'
import { id, instant } from '../kernel/wire.ts'
import { WALLET } from './limits.ts'
import { nothingRecent, type Recent, recentOf, remembered } from './recent.ts'

const reference = z.string().min(1).max(WALLET.reference)
const note = z.string().max(WALLET.note).nullable()

/** These names are the storage format. Amounts are positive cents; `balanceCents` is the balance after. */
export const walletEvents = {
  WalletCredited: z.object({
    reference,
    kind: z.enum(['credit', 'refund']),
    amountCents: z.int().min(1),
    balanceCents: z.int(),
    note,
    occurredAt: instant,
  }),
  WalletCharged: z.object({
    reference,
    kind: z.enum(['setup', 'renewal', 'usage']),
    amountCents: z.int().min(1),
    balanceCents: z.int(),
    note,
    callId: id.nullable(),
    occurredAt: instant,
  }),
}

/** One entry of the wallet's book. `amountCents` is negative for a charge; `balanceCents` is the balance after. */
export const walletEntry = z.object({
  workspaceId: z.string(),
  reference,
  at: instant,
  kind: z.enum(['credit', 'setup', 'renewal', 'usage', 'refund']),
  amountCents: z.int(),
  balanceCents: z.int(),
  note,
  callId: id.nullable(),
})
export type WalletEntry = Readonly<z.infer<typeof walletEntry>>

/** Entries beyond the hour that the fold remembers: documents of the projection of this name. */
export const walletEntries: Memory<WalletEntry> = { name: 'wallet-entries', doc: walletEntry }

/** Key of an entry in the read model. */
export function entryId(workspaceId: string, reference: string): string {
  return `${workspaceId}:${reference}`
}

export interface WalletState {
  /** Null before the first entry. */
  readonly workspaceId: string | null
  readonly balanceCents: number
  readonly reservedCents: number
  /** Entries of the last hour at least, by reference. */
  readonly references: Recent<WalletEntry>
}

const write = (state: WalletState, entry: WalletEntry): WalletState => ({
  ...state,
  workspaceId: entry.workspaceId,
  balanceCents: entry.balanceCents,
  references: remembered(state.references, entry.reference, entry, entry.at),
})

const initial: WalletState = {
  workspaceId: null,
  balanceCents: 0,
  reservedCents: 0,
  references: nothingRecent(),
}

/** The workspace's money: `wallet-<workspaceId>`, each entry once for its reference. */
export const wallet = defineEntity({
  name: 'wallet',
  version: 1,
  longLived: true,
  events: walletEvents,
  initial,
  evolve: {
    WalletCredited: (state, event) => write(state, creditEntry(event)),
    WalletCharged: (state, event) => write(state, chargeEntry(event)),
  },
})

interface Recorded<Data> {
  readonly stream: string
  readonly meta: { readonly at: string }
  readonly data: Data
}

const workspaceOf = (stream: string) => stream.slice(wallet.name.length + 1)

/** The entry that a credit writes. */
export function creditEntry({
  stream,
  meta,
  data: { reference, kind, amountCents, balanceCents, note },
}: Recorded<z.infer<typeof walletEvents.WalletCredited>>): WalletEntry {
  const workspaceId = workspaceOf(stream)
  return { workspaceId, reference, at: meta.at, kind, amountCents, balanceCents, note, callId: null }
}

/** The entry that a charge writes. */
export function chargeEntry({
  stream,
  meta,
  data: { reference, kind, amountCents, balanceCents, note, callId },
}: Recorded<z.infer<typeof walletEvents.WalletCharged>>): WalletEntry {
  const workspaceId = workspaceOf(stream)
  return { workspaceId, reference, at: meta.at, kind, amountCents: -amountCents, balanceCents, note, callId }
}

/** The entry of a reference, where the fold still knows it. */
export function knownEntry(state: WalletState, reference: string): WalletEntry | null {
  return recentOf(state.references, reference)
}

/** The look-ups that make a reference's entry known for certain: none where the fold knows it, or there is nothing yet. */
export function entryRecalls(state: WalletState, reference: string) {
  if (state.workspaceId === null || knownEntry(state, reference)) return []
  return [{ memory: walletEntries, id: entryId(state.workspaceId, reference) }]
}

/** The reference of a call's usage charge. */
export function usageReference(callId: string): string {
  return `usage:${callId}`
}
