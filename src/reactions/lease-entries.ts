import type { CallLease } from '../domain/routing/call-lease.ts'
import { LEASE } from '../domain/shared/limits.ts'
import type { Entries, Entry } from '../ports/operational-store.ts'

/** How the keys of leases begin: who holds a number, who shares it, who came last of those, and numbers that have left their pool. */
export const LEASE_ENTRIES = ['lease:', 'lease-shared:', 'lease-last:', 'lease-left:'] as const

/** How the keys of sessions and visitors begin: they are kept long after a lease, so there may be any number of them. */
export const LEASE_HISTORY = ['lease-session:', 'lease-visitor:'] as const

/** When a lease began, and until when (ms, exclusive) it lives. */
interface SessionTimes {
  readonly sessionId: string
  readonly takenAt: number
  readonly until: number
}

/** Who holds a number, or held it last. It is held until `until`, and free from then on. */
export interface Holder extends SessionTimes {
  /** The lease before: a call may be told late that came before its holder's. */
  readonly before: SessionTimes | null
}

/** A session beside a number's holder. */
export type SharedLease = Omit<SessionTimes, 'sessionId'>

/** Who began last to share a number. */
type LastShared = Pick<SessionTimes, 'sessionId' | 'takenAt'>

/** What is known of a session, whether it is live or has ended. */
export interface Session {
  readonly workspaceId: string
  readonly poolId: string
  readonly numberId: string
  readonly visitorId: string
  readonly isShared: boolean
  readonly takenAt: number
  /** Time to live of the lease when it began. */
  readonly ttlSeconds: number
  readonly params: CallLease['params']
}

/** A visitor's last lease on a pool. */
export interface Visitor {
  readonly sessionId: string
  readonly numberId: string
}

/** A number's pool, which it has left. */
interface LeftPool {
  readonly poolId: string
}

/** Fields by which the values of each kind are known: only this file writes them, so they are checked for no more than that. */
function knownBy<Value extends object>(...fields: readonly (keyof Value & string)[]) {
  return (value: unknown): value is Value =>
    typeof value === 'object' && value !== null && fields.every((field) => field in value)
}

const isHolder = knownBy<Holder>('sessionId', 'takenAt', 'until', 'before')
const isShared = knownBy<SharedLease>('takenAt', 'until')
const isLastShared = knownBy<LastShared>('sessionId', 'takenAt')
const isSession = knownBy<Session>('workspaceId', 'poolId', 'numberId', 'visitorId', 'isShared', 'ttlSeconds', 'params')
const isVisitor = knownBy<Visitor>('sessionId', 'numberId')
const isLeft = knownBy<LeftPool>('poolId')

const MATCHED_MS = LEASE.matchSeconds * 1_000
const SESSION_MS = LEASE.sessionHours * 3_600_000
const VISITOR_MS = LEASE.visitorDays * 86_400_000

/** An entry as it was read: its value, null for none, and the version that a compare-and-set names. */
export interface Read<Value> {
  readonly value: Value | null
  readonly version: number
  readonly expiresAt: number | null
}

const NOTHING = { value: null }

/** The value of an entry. @throws Error for one of another shape */
function typedValue<Value>(isOne: (value: unknown) => value is Value, { key, value }: Entry): Value {
  if (!isOne(value)) throw new Error(`The entry ${key} has another shape than its kind.`)
  return value
}

function readAs<Value>(isOne: (value: unknown) => value is Value, entry: Entry | null): Read<Value> {
  if (entry === null) return { value: null, version: 0, expiresAt: null }
  return { value: typedValue(isOne, entry), version: entry.version, expiresAt: entry.expiresAt }
}

const heldPrefix = (poolId: string) => `lease:${poolId}:`
const sharedPrefix = (poolId: string, numberId: string) => `lease-shared:${poolId}:${numberId}:`
const lastKey = (poolId: string, numberId: string) => `lease-last:${poolId}:${numberId}`
const sessionKey = (sessionId: string) => `lease-session:${sessionId}`
const visitorKey = (poolId: string, visitorId: string) => `lease-visitor:${poolId}:${visitorId}`
const leftKey = (numberId: string) => `lease-left:${numberId}`

/** The entries of leases, each with how long it is kept (ms). Every method throws StoreUnavailable. */
export function leaseEntriesOf(entries: Entries) {
  const shared = async (poolId: string, numberId: string, sessionId: string, now: number) =>
    readAs(isShared, await entries.get(sharedPrefix(poolId, numberId) + sessionId, now))

  /** The sessions beside a number's holder. */
  async function sharing(poolId: string, numberId: string, now: number) {
    const prefix = sharedPrefix(poolId, numberId)
    const found = await entries.list(prefix, now)
    return found.map((entry) => ({ sessionId: entry.key.slice(prefix.length), ...typedValue(isShared, entry) }))
  }

  const lastShared = async (poolId: string, numberId: string, now: number) =>
    readAs(isLastShared, await entries.get(lastKey(poolId, numberId), now))

  return {
    stored: entries.stored,
    holder: async (poolId: string, numberId: string, now: number) =>
      readAs(isHolder, await entries.get(heldPrefix(poolId) + numberId, now)),
    /** Holders of a pool's numbers, by number. */
    async holders(poolId: string, now: number): Promise<ReadonlyMap<string, Holder>> {
      const prefix = heldPrefix(poolId)
      const found = await entries.list(prefix, now)
      return new Map(found.map((entry) => [entry.key.slice(prefix.length), typedValue(isHolder, entry)]))
    },
    /** It stays, one for each number; that of a number which has left its pool (`isLast`) until no call matches it any more. */
    putHolder: (poolId: string, numberId: string, version: number, value: Holder, now: number, isLast = false) =>
      entries.putIf(heldPrefix(poolId) + numberId, version, value, isLast ? now + MATCHED_MS : null, now),
    shared,
    sharing,
    /** Of the sessions beside a number's holder, those that a call at an instant (ms) may match: the newest alone, where it does. */
    async sharingAt(poolId: string, numberId: string, at: number, now: number) {
      const { value: last } = await lastShared(poolId, numberId, now)
      if (!last) return []
      const { value } = last.takenAt <= at ? await shared(poolId, numberId, last.sessionId, now) : NOTHING
      // Its entry is there as long as calls match it.
      return value ? [{ sessionId: last.sessionId, ...value }] : sharing(poolId, numberId, now)
    },
    /** A session that begins (`version` 0) becomes the last of its number. */
    async putShared(
      { poolId, numberId }: Pick<Session, 'poolId' | 'numberId'>,
      sessionId: string,
      version: number,
      value: SharedLease,
      now: number,
    ): Promise<boolean> {
      const key = sharedPrefix(poolId, numberId) + sessionId
      if (!(await entries.putIf(key, version, value, value.until + MATCHED_MS, now))) return false
      if (version === 0) await entries.put(lastKey(poolId, numberId), { sessionId, takenAt: value.takenAt }, null)
      return true
    },
    session: async (sessionId: string, now: number) => readAs(isSession, await entries.get(sessionKey(sessionId), now)),
    putSession: (sessionId: string, value: Session, until: number) =>
      entries.put(sessionKey(sessionId), value, until + SESSION_MS),
    /** Whether a session's entry would be gone soon after the lease has ended. */
    isSessionShort: (expiresAt: number | null, until: number) =>
      expiresAt !== null && expiresAt < until + SESSION_MS / 2,
    visitor: async (poolId: string, visitorId: string, now: number) =>
      readAs(isVisitor, await entries.get(visitorKey(poolId, visitorId), now)),
    /** Of a visitor who has just got its name, and so has no entry. */
    putNewVisitor: (poolId: string, visitorId: string, value: Visitor, now: number) =>
      entries.put(visitorKey(poolId, visitorId), value, now + VISITOR_MS),
    putVisitor: (poolId: string, visitorId: string, version: number, value: Visitor, now: number) =>
      entries.putIf(visitorKey(poolId, visitorId), version, value, now + VISITOR_MS, now),
    left: async (numberId: string, now: number) => readAs(isLeft, await entries.get(leftKey(numberId), now)),
    async putLeft(numberId: string, poolId: string, now: number): Promise<void> {
      await entries.put(leftKey(numberId), { poolId }, now + MATCHED_MS)
      const { value: last } = await lastShared(poolId, numberId, now)
      if (last) await entries.put(lastKey(poolId, numberId), last, now + MATCHED_MS)
    },
  }
}
export type LeaseEntries = ReturnType<typeof leaseEntriesOf>
