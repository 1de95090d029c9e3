import type { ReadStore } from '../../ports/read-store.ts'
import type { StoredAlias } from './build-alias.ts'
import { dropRetiredBuilds, RETIRED_BUILD_TTL_MS, retireVersion } from './build-lifecycle.ts'
import type { BuildNames } from './build-names.ts'

/** How long the builds of a version are kept that no living process reads (ms): for a restart, or a step back. */
export const UNREAD_BUILD_TTL_MS = 600_000

/** For each projection, the versions that living processes read. */
export type VersionsRead = ReadonlyMap<string, ReadonlySet<number>>

/** For how long keys have been seen without a break, by this process's clock alone. */
function createStopwatch() {
  let seen: ReadonlyMap<string, number> = new Map()
  return (keys: readonly string[], now: number): ((key: string) => number) => {
    const before = seen
    seen = new Map(keys.map((key) => [key, before.get(key) ?? now]))
    return (key) => now - (seen.get(key) ?? now)
  }
}

interface Unread {
  readonly key: string
  readonly name: string
  readonly version: number
}

/** The versions of a projection that nobody reads. The last complete build stays until one that is read is complete. */
function unreadOf({ name, alias: { versions } }: StoredAlias, read: ReadonlySet<number>): readonly Unread[] {
  const isReplaced = versions.some(({ version, active }) => active !== null && read.has(version))
  return versions.flatMap(({ version, active }) =>
    read.has(version) || (active !== null && !isReplaced) ? [] : [{ key: `${name}@${version}`, name, version }],
  )
}

/**
 * Creates the step that retires builds which no living process reads, and drops those that were retired a while ago. It
 * resolves to the dropped ones. `versionsRead`: null where it is not known. @throws StoreUnavailable
 */
export function createBuildCleaner(
  store: ReadStore,
  versionsRead: () => Promise<VersionsRead | null>,
): (aliases: readonly StoredAlias[], now: number) => Promise<readonly BuildNames[]> {
  const [unreadFor, retiredFor] = [createStopwatch(), createStopwatch()]

  async function retireUnread(aliases: readonly StoredAlias[], now: number): Promise<void> {
    const several = aliases.filter(({ alias }) => alias.versions.length > 1)
    const read = several.length > 0 ? await versionsRead() : null
    const unread = read === null ? [] : several.flatMap((one) => unreadOf(one, read.get(one.name) ?? new Set()))
    const age = unreadFor(
      unread.map(({ key }) => key),
      now,
    )
    for (const { key, name, version } of unread)
      if (age(key) >= UNREAD_BUILD_TTL_MS) await retireVersion(store, name, version)
  }

  return async (aliases, now) => {
    await retireUnread(aliases, now)
    const retired = aliases.flatMap(({ alias }) => alias.retired.map(({ collection }) => collection))
    const age = retiredFor(retired, now)
    const expired = new Set(retired.filter((collection) => age(collection) >= RETIRED_BUILD_TTL_MS))
    const dropped = await Promise.all(aliases.map((alias) => dropRetiredBuilds(store, alias, expired)))
    return dropped.flat()
  }
}
