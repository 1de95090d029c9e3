import { z } from 'zod'
import type { Clock } from '../../ports/clock.ts'
import type { DueJob } from '../../ports/job-runner.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { type Attempts, attempts } from './attempts.ts'

/** Key prefix of the entries: other processes find by it what a crashed one left behind. */
const PREFIX = 'telnyx-session:'
/** Milliseconds for which a session is left to the process that appended to it. */
const LEASE_MS = 10_000
const MAX_ENTRIES = 10_000

/** An entry: when (ms) the session is to be looked at, and the failed attempts of its steps by their names. */
const entryValue = z.object({ due: z.number(), attempts: z.record(z.string(), attempts).default({}) })
type EntryValue = z.infer<typeof entryValue>
const EMPTY: EntryValue = { due: 0, attempts: {} }
const parseValue = (value: unknown): EntryValue => entryValue.safeParse(value).data ?? EMPTY

/** Failed attempts by the names of steps. */
export type AttemptsByStep = Readonly<Record<string, Attempts>>

/** A session with work left, as it was read. */
export interface QueuedSession {
  readonly attempts: AttemptsByStep
  /** Grows with each change. */
  readonly version: number
}

/** The sessions that have work left, each with an entry in the operational store. Methods throw StoreUnavailable. */
export function createSessionQueue({ ops, clock }: { readonly ops: OperationalStore; readonly clock: Clock }) {
  const keyOf = (id: string) => `${PREFIX}${id}`

  return {
    /** Marks a session that was appended to: this process continues it, or any other once the lease has expired. */
    async mark(id: string): Promise<void> {
      for (let isWritten = false; !isWritten; ) {
        const now = clock.now()
        const entry = await ops.get(keyOf(id), now)
        const value = { ...parseValue(entry?.value), due: now + LEASE_MS }
        isWritten = await ops.putIf(keyOf(id), entry?.version ?? 0, value, null, now)
      }
    },
    /** The entry of a session; null when nothing is left to do. */
    async read(id: string): Promise<QueuedSession | null> {
      const entry = await ops.get(keyOf(id), clock.now())
      return entry && { attempts: parseValue(entry.value).attempts, version: entry.version }
    },
    /** Schedules a session, or removes it (`due` is null); false when it was marked after `version` was read. */
    schedule(id: string, version: number, due: number | null, failed: AttemptsByStep): Promise<boolean> {
      const now = clock.now()
      const value = { due: due ?? now, attempts: failed }
      return ops.putIf(keyOf(id), version, value, due === null ? now : null, now)
    },
    /** All sessions with work left, earliest first. */
    async list(): Promise<readonly DueJob[]> {
      const entries = await ops.list(PREFIX, clock.now(), { limit: MAX_ENTRIES })
      const jobs = entries.map(({ key, value }) => ({ id: key.slice(PREFIX.length), dueAt: parseValue(value).due }))
      return jobs.toSorted((one, other) => one.dueAt - other.dueAt)
    },
  }
}

export type SessionQueue = ReturnType<typeof createSessionQueue>
