import { Map as PersistentMap } from 'immutable'
import { addMs } from '../../kernel/instant.ts'
import { DAY_MS, HOUR_MS } from './time.ts'

/** The names of the UTC windows that contain an instant: `2026-11-21T07`, `2026-11-21`, `2026-11` (Document 1, shared convention 3). */
export interface Windows {
  readonly hour: string
  readonly day: string
  readonly month: string
}

/** The last parsed instant: one decision uses the same instant for hundreds of targets. */
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

/** Retention of a window's counts, by the length of its name: hours 48 hours, days 62 days, months 13 months (Supplement §6). */
const RETENTION_MS: Readonly<Record<number, number>> = {
  13: 48 * HOUR_MS,
  10: 62 * DAY_MS,
  7: 13 * 31 * DAY_MS,
}

/** Counts by window name. */
export type Counts = PersistentMap<string, number>

/** No counts. */
export const NO_COUNTS: Counts = PersistentMap()

/** Counts with `by` added in the given windows, never below zero. When a window is new, expired windows are removed. */
export function addToCounts(counts: Counts, windows: readonly string[], by: number, now: string): Counts {
  const begins = windows.some((window) => !counts.has(window))
  const retained = begins ? counts.filter((_count, window) => isRetained(window, now)) : counts
  return retained.withMutations((draft) => {
    for (const window of windows) draft.update(window, 0, (count) => Math.max(0, count + by))
  })
}

/** The oldest retained windows at the last used instant, by the length of their names. */
let oldest = { now: '', names: new Map<number, string>() }

function oldestRetained(length: number, now: string): string {
  if (oldest.now !== now) oldest = { now, names: new Map() }
  const cached = oldest.names.get(length)
  if (cached !== undefined) return cached
  const name = addMs(now, -(RETENTION_MS[length] ?? 0)).slice(0, length)
  oldest.names.set(length, name)
  return name
}

/** Whether a window's counts are still retained at `now`. */
export function isRetained(window: string, now: string): boolean {
  return window >= oldestRetained(window.length, now)
}
