import type { DueItem, Trust } from './queue-pass.ts'

/** What this process knows of a queue. */
export interface QueueState {
  readonly trust: Trust
  /** Version at which nothing more was due before `nextAt` (ms since the epoch). */
  version: number
  nextAt: number
  /** Looks in a row at this version that found nothing due. */
  idleLooks: number
  /** End of the time (ms since the epoch) for which a silent receiver is set aside. */
  asideUntil: number
  failures: number
  /** Items that are due and were read ahead, for the next passes under the same claim. */
  ready: readonly DueItem[]
  /** Attempts that were made, by item, while rows do not show them. */
  readonly sent: Map<string, number>
  /** Items that could not be sent: how often, and until when (ms since the epoch) they are left alone. */
  readonly held: Map<string, { readonly times: number; readonly until: number }>
}

/** The state of a queue that is not known yet. */
export const newQueueState = (): QueueState => ({
  trust: { isProven: false },
  version: -1,
  nextAt: 0,
  idleLooks: 0,
  asideUntil: 0,
  failures: 0,
  ready: [],
  sent: new Map(),
  held: new Map(),
})

/** How many of the due rows have to be read to find so many items to send. */
export function rowsToRead({ sent, held }: QueueState, items: number): number {
  return items + sent.size + held.size
}

/** Of the due rows those that have not been sent since they were written, and are not held. Forgets what the rows show. */
export function unsentItems({ sent, held }: QueueState, rows: readonly DueItem[], now: number): readonly DueItem[] {
  const shown = new Set(rows.map(({ id }) => id))
  for (const known of [sent, held]) for (const id of known.keys()) if (!shown.has(id)) known.delete(id)
  for (const { id, n } of rows) if ((sent.get(id) ?? n) < n) sent.delete(id)
  return rows.filter(({ id }) => !sent.has(id) && (held.get(id)?.until ?? 0) <= now)
}
