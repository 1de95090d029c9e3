import { createHash } from 'node:crypto'
import { SIGN_IN_FAILURES } from '../domain/shared/limits.ts'
import { sourceOf } from '../kernel/ip-address.ts'
import { isRefusal, type Refusal, refuse } from '../kernel/refusal.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { Random } from '../ports/random.ts'
import { createFailureUpdate, type FailureUpdate, WINDOW_MS } from './sign-in-failures.ts'

/** How often an attempt that must wait for others looks for their outcome. */
const POLL_MS = 20

/** An e-mail address, a source, or both together, and how many failures it may have within the window. */
interface Subject {
  readonly key: string
  readonly max: number
}

/** The subjects of a sign-in: its e-mail address from its source, the address from any source, and the source for any address. */
export function signInSubjects(address: string, ip: string): readonly Subject[] {
  const source = sourceOf(ip)
  const addressHash = createHash('sha256').update(address.trim().toLowerCase()).digest('hex')
  return [
    { key: `sign-in:pair:${addressHash}:${source}`, max: SIGN_IN_FAILURES.pair },
    { key: `sign-in:address:${addressHash}`, max: SIGN_IN_FAILURES.address },
    { key: `sign-in:source:${source}`, max: SIGN_IN_FAILURES.source },
  ]
}

export interface SignInLimiterPorts {
  readonly ops: OperationalStore
  readonly clock: Clock
  readonly random: Random
}

/**
 * Checks a password: `attempt` answers whether it was right. Where a subject has too many failures the password is not
 * checked, and `rate-limited` (429) says how long to wait. @throws StoreUnavailable
 */
export type SignInLimiter = (
  subjects: readonly Subject[],
  attempt: () => Promise<boolean>,
) => Promise<boolean | Refusal<'rate-limited'>>

function tooManyFailures(leftMs: number): Refusal<'rate-limited'> {
  const retryAfterSeconds = Math.max(1, Math.ceil(leftMs / 1_000))
  return refuse('rate-limited', { retryAfterSeconds }, 'Too many failed sign-ins: wait as long as Retry-After says.')
}

/** Counts an attempt as pending; null when it must wait for the outcome of others, a refusal when it may not be made. */
function begin(update: FailureUpdate, { key, max }: Subject, attemptId: string) {
  return update(key, ({ failures, underWay }, now) => {
    const oldest = failures.at(-max)
    if (oldest !== undefined) return tooManyFailures(oldest + WINDOW_MS - now)
    if (failures.length + Object.keys(underWay).length >= max) return null
    return { failures, underWay: { ...underWay, [attemptId]: now } }
  })
}

/** Ends a pending attempt; a failed one counts from now on. */
async function end(update: FailureUpdate, { key }: Subject, attemptId: string, hasFailed: boolean): Promise<void> {
  await update(key, ({ failures, underWay: { [attemptId]: startedAt, ...others } }, now) => ({
    failures: hasFailed && startedAt !== undefined ? [...failures, now] : failures,
    underWay: others,
  }))
}

/**
 * Creates the sign-in limiter of a process; all processes over one store share the counts. A pending attempt counts as a
 * failure beforehand, so that concurrent attempts get no further than sequential ones: one that might be too many waits
 * for the outcome of the others. A success does not count.
 */
export function createSignInLimiter({ ops, clock, random }: SignInLimiterPorts): SignInLimiter {
  const update = createFailureUpdate(ops, clock)
  const poll = () => new Promise<void>((resolve) => clock.schedule(clock.now() + POLL_MS, resolve))

  async function beginOrWait(subject: Subject, attemptId: string): Promise<Refusal<'rate-limited'> | null> {
    for (;;) {
      const outcome = await begin(update, subject, attemptId)
      if (outcome !== null) return isRefusal(outcome) ? outcome : null
      await poll()
    }
  }

  return async (subjects, attempt) => {
    const attemptId = random.uuid()
    const pending: Subject[] = []
    let hasFailed = false
    try {
      for (const subject of subjects) {
        const refusal = await beginOrWait(subject, attemptId)
        if (refusal) return refusal
        pending.push(subject)
      }
      hasFailed = true
      hasFailed = !(await attempt())
      return !hasFailed
    } finally {
      for (const subject of pending) await end(update, subject, attemptId, hasFailed)
    }
  }
}
