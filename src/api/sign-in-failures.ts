import { SIGN_IN_FAILURES } from '../domain/shared/limits.ts'
import { createKeyedMutex } from '../kernel/async/mutex.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'

/** A failure counts for this long. */
export const WINDOW_MS = SIGN_IN_FAILURES.minutes * 60_000
/** After this long an attempt without an outcome counts as failed: its process has died. */
const PENDING_TIMEOUT_MS = 10_000

/** The stored failures of an e-mail address, a source, or both together. */
export interface FailureRecord {
  /** Instants (ms) of the failures within the window, oldest first. */
  readonly failures: readonly number[]
  /** Start instants (ms) of the attempts without an outcome, by attempt id. */
  readonly underWay: Readonly<Record<string, number>>
}

const NO_FAILURES: FailureRecord = { failures: [], underWay: {} }

function isFailureRecord(value: unknown): value is FailureRecord {
  return typeof value === 'object' && value !== null && 'failures' in value && 'underWay' in value
}

/** The record at an instant: failures outside the window dropped, attempts that timed out counted as failures. */
function recordAt({ failures, underWay }: FailureRecord, now: number): FailureRecord {
  const attempts = Object.entries(underWay)
  const timedOut = attempts.filter(([, at]) => now - at >= PENDING_TIMEOUT_MS).map(([, at]) => at)
  return {
    failures: [...failures, ...timedOut].filter((at) => now - at < WINDOW_MS).toSorted((one, other) => one - other),
    underWay: Object.fromEntries(attempts.filter(([, at]) => now - at < PENDING_TIMEOUT_MS)),
  }
}

/** Changes the record of a key, given the present one and the instant; a change to something else is not stored. */
export type FailureUpdate = <Other>(
  key: string,
  change: (record: FailureRecord, now: number) => FailureRecord | Other,
) => Promise<FailureRecord | Other>

/**
 * Updates failure records in the operational store by compare-and-set. Updates of one key in this process run one after
 * another, because concurrent ones would only fail each other's compare-and-set.
 */
export function createFailureUpdate(ops: OperationalStore, clock: Clock): FailureUpdate {
  const serialize = createKeyedMutex()
  return (key, change) =>
    serialize(key, async () => {
      for (;;) {
        const now = clock.now()
        const entry = await ops.get(key, now)
        const present = isFailureRecord(entry?.value) ? entry.value : NO_FAILURES
        const next = change(recordAt(present, now), now)
        if (!isFailureRecord(next)) return next
        if (await ops.putIf(key, entry?.version ?? 0, next, now + WINDOW_MS, now)) return next
      }
    })
}
