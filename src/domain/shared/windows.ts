import { Map as PersistentMap } from 'immutable'

/** The UTC windows that an instant falls in, by name: `2026-11-21T07`, `2026-11-21`, `2026-11` (Document 1, convention 3). */
export interface Windows {
  readonly hour: string
  readonly day: string
  readonly month: string
}

/** What was read of an instant last: one decision asks the same one of hundreds of targets. */
let latest = { instant: '', ms: Number.NaN, windows: { hour: '', day: '', month: '' } }

function parseInstant(instant: string): typeof latest {
  if (latest.instant !== instant) {
    const windows = { hour: instant.slice(0, 13), day: instant.slice(0, 10), month: instant.slice(0, 7) }
    latest = { instant, ms: Date.parse(instant), windows }
  }
  return latest
}

/** Windows of an instant (ISO 8601, UTC). */
export function windowsOf(instant: string): Windows {
  return parseInstant(instant).windows
}

/** Milliseconds of an instant since the epoch. */
export function msOf(instant: string): number {
  return parseInstant(instant).ms
}

const HOUR_MS = 3_600_000
/** How long the counts of a window are kept, by the length of its name: hours 48 h, days 62 days, months 13 (Supplement §6). */
const RETENTION_MS: Readonly<Record<number, number>> = {
  13: 48 * HOUR_MS,
  10: 62 * 24 * HOUR_MS,
  7: 13 * 31 * 24 * HOUR_MS,
}

/** Counts by window name. */
export type Counts = PersistentMap<string, number>

/** No counts. */
export const NO_COUNTS: Counts = PersistentMap()

/** Counts with `by` added in the given windows; windows that nobody can ask for any more at `now` are dropped when a new one begins. */
export function addToCounts(counts: Counts, windows: readonly string[], by: number, now: string): Counts {
  const begins = windows.some((window) => !counts.has(window))
  const kept = begins ? counts.filter((_count, window) => isRetained(window, now)) : counts
  return kept.withMutations((draft) => {
    for (const window of windows) draft.update(window, 0, (count) => Math.max(0, count + by))
  })
}

/** The oldest windows that were kept at the instant asked about last, by the length of their names: one asks for many. */
let oldest = { now: '', names: new Map<number, string>() }

function oldestRetained(length: number, now: string): string {
  if (oldest.now !== now) oldest = { now, names: new Map() }
  const known = oldest.names.get(length)
  if (known !== undefined) return known
  const name = new Date(Date.parse(now) - (RETENTION_MS[length] ?? 0)).toISOString().slice(0, length)
  oldest.names.set(length, name)
  return name
}

/** Whether anyone can still ask for a window at `now`. */
export function isRetained(window: string, now: string): boolean {
  return window >= oldestRetained(window.length, now)
}
