import { Map as PersistentMap } from 'immutable'
import type { Entity } from '../kernel/entity.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { CommandTrace, Fold } from './fold.ts'
import { decodeState, encodeState } from './state-codec.ts'

interface CachedFold {
  readonly version: number
  readonly state: unknown
  readonly revision: number
  readonly position: number
  readonly commands: readonly (readonly [string, CommandTrace])[]
  readonly since: string | null
}

const keyOf = (stream: string) => `fold:${stream}`

/** The cached fold of a stream; null where there is none of the entity's present version. Disposable: a store that is away has none. */
export async function cachedFold<State>(
  ops: OperationalStore,
  entity: Entity<State>,
  stream: string,
  now: number,
): Promise<Fold<State> | null> {
  const entry = await ops.get(keyOf(stream), now).catch(() => null)
  const cached = entry?.value as CachedFold | undefined
  if (!cached || cached.version !== entity.version) return null
  return {
    state: decodeState(cached.state) as State,
    revision: cached.revision,
    position: cached.position,
    commands: PersistentMap(cached.commands),
    olderCommands: PersistentMap(),
    since: cached.since,
  }
}

/** Keeps a fold. Losing it costs time alone. */
export async function cacheFold(ops: OperationalStore, entity: Entity, stream: string, fold: Fold): Promise<void> {
  const cached: CachedFold = {
    version: entity.version,
    state: encodeState(fold.state),
    revision: fold.revision,
    position: fold.position,
    commands: [...fold.olderCommands.merge(fold.commands).entries()],
    since: fold.since,
  }
  await ops.put(keyOf(stream), cached, null).catch(() => undefined)
}
