import { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import type { DecisionContext, DecisionMemory } from '../../kernel/command.ts'
import { defineEntity, workspaceIdOf } from '../../kernel/entity.ts'
import { createWindowedMap, getEntry, type WindowedMap } from '../../kernel/windowed-map.ts'
import { id, instant } from '../../kernel/wire.ts'
import { WALLET } from '../shared/limits.ts'
import { setEntry } from '../shared/windowed-map.ts'

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
  /** Reserved for a later charge with the same reference; `reservedCents` is the sum of all reservations after. */
  WalletReserved: z.object({ reference, amountCents: z.int().min(1), reservedCents: z.int(), occurredAt: instant }),
  /** A reservation that is released, because nothing will be charged. */
  WalletReservationReleased: z.object({
    reference,
    amountCents: z.int().min(1),
    reservedCents: z.int(),
    occurredAt: instant,
  }),
}

/** One wallet entry. `amountCents` is negative for a charge; `balanceCents` is the balance after. */
export const walletEntry = z.object({
  workspaceId: z.string(),
  reference,
  /** The entry's id on the wire: that of its event. */
  eventId: z.string(),
  /** Position in the wallet's stream: orders entries of the same millisecond. */
  revision: z.int().min(0),
  at: instant,
  kind: z.enum(['credit', 'setup', 'renewal', 'usage', 'refund']),
  amountCents: z.int(),
  balanceCents: z.int(),
  note,
  callId: id.nullable(),
})
export type WalletEntry = Readonly<z.infer<typeof walletEntry>>

/** Look-up of entries older than the fold remembers, in the projection of this name. */
export const walletEntries: DecisionMemory<WalletEntry> = { name: 'wallet-entries', doc: walletEntry }

/** Id of an entry's document in the read model. */
export function entryId(workspaceId: string, reference: string): string {
  return `${workspaceId}:${reference}`
}

export interface WalletState {
  /** Null before the first entry. */
  readonly workspaceId: string | null
  readonly balanceCents: number
  /** Sum of the reservations. */
  readonly reservedCents: number
  /** Reserved amounts by the reference of the later charge. */
  readonly reservations: PersistentMap<string, number>
  /** Entries of the last hour at least, by reference. */
  readonly references: WindowedMap<WalletEntry>
}

const addEntry = (state: WalletState, entry: WalletEntry): WalletState => ({
  ...state,
  workspaceId: entry.workspaceId,
  balanceCents: entry.balanceCents,
  references: setEntry(state.references, entry.reference, entry, entry.at),
})

const initial: WalletState = {
  workspaceId: null,
  balanceCents: 0,
  reservedCents: 0,
  reservations: PersistentMap(),
  references: createWindowedMap(),
}

/** The wallet without the reservation of a reference: it was charged, or released. */
function withoutReservation(state: WalletState, reference: string): WalletState {
  const amountCents = state.reservations.get(reference) ?? 0
  return {
    ...state,
    reservations: state.reservations.delete(reference),
    reservedCents: state.reservedCents - amountCents,
  }
}

/** A workspace's wallet, stream `wallet-<pp>-<workspaceId>`; each reference has one entry. */
export const wallet = defineEntity({
  name: 'wallet',
  version: 3,
  longLived: true,
  events: walletEvents,
  initial,
  evolve: {
    WalletCredited: (state, event) => addEntry(state, creditEntry(event)),
    WalletCharged: (state, event) => withoutReservation(addEntry(state, chargeEntry(event)), event.data.reference),
    WalletReserved: (state, { data: { reference, amountCents } }) => ({
      ...state,
      reservations: state.reservations.set(reference, amountCents),
      reservedCents: state.reservedCents + amountCents,
    }),
    WalletReservationReleased: (state, { data }) => withoutReservation(state, data.reference),
  },
})

interface RecordedWalletEvent<Data> {
  readonly stream: string
  readonly revision: number
  readonly meta: { readonly at: string; readonly eventId: string }
  readonly data: Data
}

const entryOrigin = (event: Omit<RecordedWalletEvent<unknown>, 'data'>) => ({
  workspaceId: workspaceIdOf(event),
  eventId: event.meta.eventId,
  revision: event.revision,
  at: event.meta.at,
})

/** The entry of a credit event. */
export function creditEntry(event: RecordedWalletEvent<z.infer<typeof walletEvents.WalletCredited>>): WalletEntry {
  const { reference, kind, amountCents, balanceCents, note } = event.data
  return { ...entryOrigin(event), reference, kind, amountCents, balanceCents, note, callId: null }
}

/** The entry of a charge event. */
export function chargeEntry(event: RecordedWalletEvent<z.infer<typeof walletEvents.WalletCharged>>): WalletEntry {
  const { reference, kind, amountCents, balanceCents, note, callId } = event.data
  return { ...entryOrigin(event), reference, kind, amountCents: -amountCents, balanceCents, note, callId }
}

/** What can be spent, in cents: the balance less the reservations. */
export function availableCents({ balanceCents, reservedCents }: WalletState): number {
  return balanceCents - reservedCents
}

/** The entry of a reference, if the fold still remembers it. */
export function recentEntry(state: WalletState, reference: string): WalletEntry | null {
  return getEntry(state.references, reference)
}

/** The entry of a reference: from the fold, else by the look-up that the command declares with `entryLookups`. */
export function findEntry(
  state: WalletState,
  reference: string,
  { workspaceId, lookUp }: Pick<DecisionContext, 'workspaceId' | 'lookUp'>,
): WalletEntry | null {
  return recentEntry(state, reference) ?? lookUp(walletEntries, entryId(workspaceId, reference))
}

/** The event of a charge, with the balance after it. */
export function chargedEvent(
  { balanceCents }: WalletState,
  charge: Omit<z.infer<typeof walletEvents.WalletCharged>, 'balanceCents'>,
) {
  return { type: 'WalletCharged' as const, data: { ...charge, balanceCents: balanceCents - charge.amountCents } }
}

/** The look-ups needed to know the entry of a reference: none when the fold remembers it, or the wallet is empty. */
export function entryLookups(state: WalletState, reference: string) {
  if (state.workspaceId === null || recentEntry(state, reference)) return []
  return [{ memory: walletEntries, id: entryId(state.workspaceId, reference) }]
}

/** Prefixes of references reserved for the platform (`setupReference`, `renewalReference`, `usageReference`). */
export const PLATFORM_REFERENCE = /^(setup|renewal|usage):/

/** The reference of a call's usage charge. */
export function usageReference(callId: string): string {
  return `usage:${callId}`
}
