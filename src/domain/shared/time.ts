/** Milliseconds of the units of time that rules compute with. */
export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** The end of what has none, as an instant that is after all others. */
export const NEVER = '9999-12-31T23:59:59.999Z'
