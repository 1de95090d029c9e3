import { createSingleFlight } from '../../kernel/async/single-flight.ts'
import { upcast } from '../../kernel/entity.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import { type AnyProjection, keysOf } from '../../kernel/projection.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { StoreUnavailable } from '../../ports/read-store.ts'
import type { Upcasts } from '../upcasts.ts'
import { createKeyPositions } from './key-positions.ts'

/**
 * How old a reading of the log may be (ms) so that it and one hour's fold cover every recorded event: the rest of the
 * hour is for clocks that differ.
 */
export const COVERED_MS = 50 * 60_000
/** Events of a page. */
const PAGE = 1_000
/** Maximum entries of an index: 16 bytes for each key of each event, 32 MB. */
export const MAX_ENTRIES = 2_097_152

/**
 * The events that a projection has not folded yet, by the ids of their documents. One reader of the process reads them
 * once; each decision then reads the few events of its keys.
 */
export interface GapIndex {
  /** Events after this position are indexed. It rises when events that the projection has folded meanwhile are dropped. */
  readonly from: () => number
  /**
   * Events that touch the ids, in log order, and maybe some others. `folded`: the projection's position by now.
   * @throws LogUnavailable; StoreUnavailable when there are more than the index takes
   */
  readonly eventsOf: (ids: readonly string[], folded: number) => Promise<readonly RecordedEvent[]>
}

/** What gaps are read with. `maxEntries`: where an index is full (default `MAX_ENTRIES`). */
export interface GapPorts {
  readonly log: Pick<EventLog, 'readAll'>
  readonly clock: Pick<Clock, 'now'>
  readonly upcasts: Upcasts
  readonly maxEntries?: number
}

/** Creates the index of a projection's events after a position. It reads nothing before it is asked. */
export function createGapIndex(
  { log, clock, upcasts, maxEntries = MAX_ENTRIES }: GapPorts,
  projection: AnyProjection,
  start: number,
): GapIndex {
  const filter = { types: new Set(Object.keys(projection.events)) }
  const index = createKeyPositions()
  const flight = createSingleFlight<void>()
  let from = start
  let read = start
  let readAt = Number.NEGATIVE_INFINITY

  /** Makes room when there is none. The log is then read on from here by a later look-up. */
  function requireRoom(folded: number): void {
    if (index.size() < maxEntries) return
    index.drop(folded)
    from = Math.max(from, folded)
    if (index.size() < maxEntries) return
    throw new StoreUnavailable(`The projection ${projection.name} is too far behind for decisions that look it up.`)
  }

  async function readOn(folded: number): Promise<void> {
    const beganAt = clock.now()
    for (let end = false; !end; ) {
      requireRoom(folded)
      const page = await log.readAll(read, PAGE, filter)
      let before = read
      for (const event of page.events) {
        for (const key of keysOf(projection, upcast({ upcasts }, event))) index.add(key, before, event.position)
        before = event.position
      }
      read = page.position
      end = page.end
    }
    readAt = beganAt
  }

  async function eventAfter(position: number): Promise<readonly RecordedEvent[]> {
    for (let after = position; ; ) {
      const page = await log.readAll(after, 1, filter)
      if (page.events.length > 0 || page.end) return page.events
      after = page.position
    }
  }

  return {
    from: () => from,
    async eventsOf(ids, folded) {
      while (clock.now() - readAt >= COVERED_MS) await flight('', () => readOn(folded))
      const positions = new Set(ids.flatMap((id) => index.find(id)))
      return (await Promise.all([...positions].toSorted((a, b) => a - b).map(eventAfter))).flat()
    },
  }
}
