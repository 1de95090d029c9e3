import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'

/** How often a process shows that it lives (ms). */
export const BEAT_EVERY_MS = 1_000
/** When the entries of a process that is gone are forgotten (ms): far longer than clocks differ. */
export const FORGOTTEN_MS = 86_400_000
/** Beats that may be under way at once: one that hangs must not silence the process. */
const MAX_PENDING = 4

/** Beats after which a process says again which versions it reads: about an hour. */
const DECLARE_EVERY_BEATS = 3_600

const PREFIX = 'beat:'
const READS_PREFIX = 'reads:'

/** The version of each projection that a process reads, by name. */
export type ReadVersions = Readonly<Record<string, number>>

/** The versions of these projections. */
export function versionsOf(projections: readonly { readonly name: string; readonly version: number }[]): ReadVersions {
  return Object.fromEntries(projections.map(({ name, version }) => [name, version]))
}

/** The name of a run of an instance. A restarted process is another run of the same instance. */
export function ownerName(instance: string, run: string): string {
  return `${instance}#${run}`
}

const instanceOf = (owner: string) => owner.slice(0, owner.lastIndexOf('#'))

/** The instance in an owner's name, for people: `host:port`. */
export { instanceOf }

/** The beats of all processes, by owner. @throws StoreUnavailable */
export async function readBeats(
  ops: Pick<OperationalStore, 'list'>,
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const entries = await ops.list(PREFIX, now)
  return new Map(entries.map(({ key, value }) => [key.slice(PREFIX.length), Number(value)]))
}

/** What processes read, by owner; those that are gone may be among them. @throws StoreUnavailable */
export async function readReadVersions(
  ops: Pick<OperationalStore, 'list'>,
  now: number,
): Promise<ReadonlyMap<string, ReadVersions>> {
  const entries = await ops.list(READS_PREFIX, now)
  return new Map(entries.map(({ key, value }) => [key.slice(READS_PREFIX.length), value as ReadVersions]))
}

/** A process that shows that it lives until it leaves. */
export interface Presence {
  readonly owner: string
  /** Beats no more. Others take over at once what this process owns. */
  readonly leave: () => Promise<void>
}

/**
 * Shows that a process lives: moves its beat every second, until it leaves. An earlier run of the same instance is gone,
 * so its beat is removed, and its lanes are free at once. @throws StoreUnavailable for the first beat
 */
export async function enter(options: {
  readonly ops: Pick<OperationalStore, 'list' | 'put' | 'delete'>
  readonly clock: Clock
  /** As `ownerName` makes it. */
  readonly owner: string
  /** What it reads: its builds are kept for as long as it lives. */
  readonly reads: ReadVersions
}): Promise<Presence> {
  const { ops, clock, owner, reads } = options
  const key = `${PREFIX}${owner}`
  const pending = new Set<Promise<unknown>>()
  let left = false
  let count = 0
  let cancel = () => {}

  const declare = () => ops.put(`${READS_PREFIX}${owner}`, reads, clock.now() + FORGOTTEN_MS)
  /** What is read is known before the first beat. */
  async function put(): Promise<void> {
    if (count % DECLARE_EVERY_BEATS === 0) await declare()
    count += 1
    await ops.put(key, count, clock.now() + FORGOTTEN_MS)
  }
  function beatLater(): void {
    cancel = clock.schedule(clock.now() + BEAT_EVERY_MS, () => {
      beatLater()
      if (pending.size >= MAX_PENDING) return
      // A lost beat is followed by the next one.
      const beat = put()
        .catch(() => undefined)
        .finally(() => pending.delete(beat))
      pending.add(beat)
    })
  }

  await put()
  const others = await readBeats(ops, clock.now())
  const earlier = [...others.keys()].filter((other) => other !== owner && instanceOf(other) === instanceOf(owner))
  for (const prefix of [PREFIX, READS_PREFIX])
    await Promise.all(earlier.map((other) => ops.delete(`${prefix}${other}`)))
  beatLater()
  return {
    owner,
    async leave() {
      if (left) return
      left = true
      cancel()
      await Promise.all(pending)
      await ops.delete(key).catch(() => undefined)
      await ops.delete(`${READS_PREFIX}${owner}`).catch(() => undefined)
    },
  }
}
