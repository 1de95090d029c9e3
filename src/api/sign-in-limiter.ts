import { createHash } from 'node:crypto'
import { SIGN_IN_FAILURES } from '../domain/shared/limits.ts'
import { type Refusal, refuse } from '../kernel/refusal.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { Random } from '../ports/random.ts'

const WINDOW_MS = SIGN_IN_FAILURES.minutes * 60_000
/** After this long an attempt without an outcome counts as failed: its process has died. */
const PENDING_TIMEOUT_MS = 10_000
const POLL_MS = 20

/** What is kept of one address or one source. */
interface FailureRecord {
  /** Instants (ms) of the failures within the window, oldest first. */
  readonly failures: readonly number[]
  /** Instants at which attempts without an outcome began, by the attempt. */
  readonly underWay: Readonly<Record<string, number>>
}

const NO_FAILURES: FailureRecord = { failures: [], underWay: {} }

/** What is left of it at an instant. */
function dropExpired({ failures, underWay }: FailureRecord, now: number): FailureRecord {
  const attempts = Object.entries(underWay)
  const dead = attempts.filter(([, at]) => now - at >= PENDING_TIMEOUT_MS).map(([, at]) => at)
  return {
    failures: [...failures, ...dead].filter((at) => now - at < WINDOW_MS).toSorted((one, other) => one - other),
    underWay: Object.fromEntries(attempts.filter(([, at]) => now - at < PENDING_TIMEOUT_MS)),
  }
}

/** Something that may fail only so often in a while. */
interface Subject {
  readonly key: string
  readonly max: number
}

/** What failures are counted by: the e-mail address that was named, and where the request came from. */
export function signInSubjects(address: string, source: string): readonly Subject[] {
  const named = createHash('sha256').update(address.trim().toLowerCase()).digest('hex')
  return [
    { key: `sign-in:address:${named}`, max: SIGN_IN_FAILURES.address },
    { key: `sign-in:source:${source}`, max: SIGN_IN_FAILURES.source },
  ]
}

export interface SignInLimiterPorts {
  readonly ops: OperationalStore
  readonly clock: Clock
  readonly random: Random
}

/**
 * Tries a password: `attempt` answers whether it was right. Where a subject has failed too often it is not tried, and
 * `rate-limited` says for how long.
 */
export type SignInLimiter = (
  subjects: readonly Subject[],
  attempt: () => Promise<boolean>,
) => Promise<boolean | Refusal<'rate-limited'>>

/**
 * Makes the throttle of a process; those of all processes over one store are one. Attempts under way are counted
 * beforehand, so that many at once get no further than one after another; one that might be too many waits for the
 * outcome of the others. A success does not count.
 */
export function createSignInLimiter({ ops, clock, random }: SignInLimiterPorts): SignInLimiter {
  const turns = new Map<string, Promise<unknown>>()
  const later = () => new Promise<void>((resolve) => clock.schedule(clock.now() + POLL_MS, resolve))

  /** Does one thing to a key after the other: a crowd would only get into its own way at the store. */
  async function serialize<Done>(key: string, task: () => Promise<Done>): Promise<Done> {
    const mine = (turns.get(key) ?? Promise.resolve()).then(task)
    const settled = mine.catch(() => undefined)
    turns.set(key, settled)
    try {
      return await mine
    } finally {
      if (turns.get(key) === settled) turns.delete(key)
    }
  }

  /** Changes what is kept by compare-and-set; a change that is a refusal, or null, changes nothing. */
  async function changed<Said>(
    key: string,
    change: (kept: FailureRecord, now: number) => FailureRecord | Said,
  ): Promise<FailureRecord | Said> {
    for (;;) {
      const now = clock.now()
      const entry = await ops.get(key, now)
      const next = change(dropExpired(failureRecordIn(entry?.value), now), now)
      if (!isFailureRecord(next)) return next
      if (await ops.putIf(key, entry?.version ?? 0, next, now + WINDOW_MS, now)) return next
    }
  }

  const change = <Said>(key: string, next: (kept: FailureRecord, now: number) => FailureRecord | Said) =>
    serialize(key, () => changed(key, next))

  async function begin({ key, max }: Subject, id: string): Promise<Refusal<'rate-limited'> | null> {
    for (;;) {
      const began = await change(key, (kept, now) => {
        const { failures, underWay } = kept
        const oldest = failures.at(-max)
        if (oldest !== undefined) return tooMany(oldest + WINDOW_MS - now)
        if (failures.length + Object.keys(underWay).length >= max) return null
        return { failures, underWay: { ...underWay, [id]: now } }
      })
      if (began !== null) return isFailureRecord(began) ? null : began
      await later()
    }
  }

  async function end({ key }: Subject, id: string, failed: boolean): Promise<void> {
    await change(key, ({ failures, underWay: { [id]: began, ...others } }, now) => ({
      failures: failed && began !== undefined ? [...failures, now] : failures,
      underWay: others,
    }))
  }

  return async (subjects, attempt) => {
    const id = random.uuid()
    const begun: Subject[] = []
    let failed = false
    try {
      for (const subject of subjects) {
        const refused = await begin(subject, id)
        if (refused) return refused
        begun.push(subject)
      }
      failed = true
      failed = !(await attempt())
      return !failed
    } finally {
      for (const subject of begun) await end(subject, id, failed)
    }
  }
}

function tooMany(leftMs: number): Refusal<'rate-limited'> {
  const retryAfterSeconds = Math.max(1, Math.ceil(leftMs / 1_000))
  return refuse('rate-limited', { retryAfterSeconds }, 'Too many failed sign-ins: wait as long as Retry-After says.')
}

function isFailureRecord(value: unknown): value is FailureRecord {
  return typeof value === 'object' && value !== null && 'failures' in value && 'underWay' in value
}

function failureRecordIn(value: unknown): FailureRecord {
  return isFailureRecord(value) ? value : NO_FAILURES
}
