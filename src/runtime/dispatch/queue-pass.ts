import { Unavailable } from '../../kernel/async/errors.ts'
import type { Slots } from './slots.ts'

/** An item of a queue that is due. */
export interface DueItem {
  readonly id: string
  /** Which attempt of it waits: grows with each. */
  readonly n: number
}

/** What came of sending an item: the receiver answered, or it did not; nothing had to be sent; or nothing may be sent now. */
export type SendResult = 'answered' | 'silent' | 'skipped' | 'waits'

/** How a pass ended. */
export type PassEnd = 'all' | 'silent' | 'waits'

/** An item that cannot be sent: the others of its queue go on without it. */
export type ItemFailure = (item: DueItem, error: unknown) => void

/** A queue's present receiver, for one pass. */
export interface Receiver {
  readonly send: (item: DueItem) => Promise<SendResult>
}

/** How far a queue's receiver may be trusted to answer: it is asked one thing at a time until it does. */
export interface Trust {
  isProven: boolean
}

/**
 * Sends the items of one pass, in order, at most `inFlight` at the same time; one at a time while the receiver has not shown
 * that it answers. No further item is sent once one was not answered, a dependency is unavailable or the signal aborts.
 * Resolves to `all` when all were sent and answered, else to what ended it. @throws Unavailable
 */
export async function runPass(
  items: readonly DueItem[],
  receiver: Receiver,
  {
    inFlight,
    trust,
    slots,
    signal,
    onSent,
    onItemFailure,
  }: {
    readonly inFlight: number
    readonly trust: Trust
    /** Of proven receivers, and of those that are not. */
    readonly slots: { readonly proven: Slots; readonly unproven: Slots }
    readonly signal: AbortSignal
    readonly onSent: (item: DueItem) => void
    readonly onItemFailure: ItemFailure
  },
): Promise<PassEnd> {
  const left = [...items]
  let end: PassEnd = 'all'
  const isOver = () => end !== 'all' || signal.aborted

  async function sendOne(item: DueItem): Promise<void> {
    const release = await (trust.isProven ? slots.proven : slots.unproven).take()
    try {
      // The pass may have ended while this item waited for its slot.
      if (isOver()) return
      const result = await receiver.send(item)
      if (result !== 'waits') onSent(item)
      if (result === 'answered') trust.isProven = true
      if (result === 'silent') trust.isProven = false
      if (result === 'silent' || (result === 'waits' && end === 'all')) end = result
    } catch (error) {
      if (error instanceof Unavailable) {
        end = 'waits'
        throw error
      }
      onItemFailure(item, error)
    } finally {
      release()
    }
  }

  async function sendInTurn(): Promise<void> {
    for (let item = left.shift(); item && !isOver(); item = left.shift()) await sendOne(item)
  }

  while (!trust.isProven && !isOver()) {
    const item = left.shift()
    if (!item) return end
    await sendOne(item)
  }
  const turns = await Promise.allSettled(Array.from({ length: Math.min(inFlight, left.length) }, sendInTurn))
  for (const turn of turns) if (turn.status === 'rejected') throw turn.reason
  return end === 'all' && signal.aborted ? 'waits' : end
}
