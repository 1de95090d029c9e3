import type { RecordedEvent } from '../kernel/event.ts'
import type { DocumentWrite, ReadStore } from '../ports/read-store.ts'
import type { AnyKeyedCheck, CheckTime } from './keyed-check.ts'

/** States in memory, at most, between two pages; the rest are in the store. */
const MAX_STATES = 20_000
/** States that are read from the store at once. */
const BATCH = 500

interface KeptState {
  state: unknown
  /** Position of the last event that changed it; null where the store has it so. */
  changedAt: number | null
}

/** A problem with an event, or with a key at the end of the log. */
export interface KeyedProblem {
  readonly event: RecordedEvent
  readonly problem: string
}

/** One check over the pages of a log. */
export interface KeyedRun {
  readonly check: AnyKeyedCheck
  /** Checks the events of a page. */
  readonly take: (events: readonly RecordedEvent[]) => Promise<readonly KeyedProblem[]>
  /** Sentences of the states at the end, in batches. */
  readonly end: (time: CheckTime) => AsyncGenerator<readonly string[]>
}

/** Runs a check with its states in a collection of a scratch store. */
export function createKeyedRun(store: ReadStore, check: AnyKeyedCheck): KeyedRun {
  const collection = `check_${check.name}`
  const kept = new Map<string, KeptState>()
  let commits = 0

  async function load(keys: ReadonlySet<string>): Promise<void> {
    const missing = [...keys].filter((key) => !kept.has(key))
    for (let from = 0; from < missing.length; from += BATCH) {
      const stored = await store.getMany(collection, missing.slice(from, from + BATCH))
      for (const { id, doc } of stored) kept.set(id, { state: doc.state, changedAt: null })
    }
    for (const key of missing) if (!kept.has(key)) kept.set(key, { state: check.initial, changedAt: null })
  }

  /** Writes the states that were not touched last until few enough are left. */
  async function evict(most: number): Promise<void> {
    if (kept.size <= most) return
    const writes: DocumentWrite[] = []
    for (const [key, { state, changedAt }] of kept) {
      if (kept.size <= most / 2) break
      if (changedAt !== null) writes.push({ collection, id: key, position: changedAt, doc: { state } })
      kept.delete(key)
    }
    const expected = commits === 0 ? null : commits
    commits += 1
    await store.commit(writes, { name: collection, expected, next: { position: commits, at: null } })
  }

  return {
    check,
    async take(events) {
      const touches = events.flatMap((event) => check.keys(event).map((key) => ({ event, key })))
      await load(new Set(touches.map(({ key }) => key)))
      const found: KeyedProblem[] = []
      for (const { event, key } of touches) {
        const { state, problems } = check.step(kept.get(key)?.state ?? check.initial, event, key)
        // Put last, so that what was touched longest ago is written first.
        kept.delete(key)
        kept.set(key, { state, changedAt: event.position })
        for (const problem of problems) found.push({ event, problem })
      }
      await evict(MAX_STATES)
      return found
    },
    async *end(time) {
      const { end } = check
      if (!end) return
      await evict(0)
      for (let last = ''; ; ) {
        const page = await store.find(collection, { filter: { _id: { $gt: last } }, sort: { _id: 1 }, limit: BATCH })
        yield page.flatMap(({ id, doc }) => end(doc.state, id, time))
        last = page.at(-1)?.id ?? last
        if (page.length < BATCH) return
      }
    },
  }
}

/** Collections that the checks keep their states in. */
export function stateCollections(checks: readonly AnyKeyedCheck[]) {
  return checks.map(({ name }) => ({ name: `check_${name}`, indexes: [], columns: [] }))
}
