import type { Entity } from '../../kernel/entity.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Fold } from './fold.ts'
import { deserializeCommands, type SerializedCommands, serializeCommands } from './processed-commands.ts'
import { decodeState, encodeState } from './state-codec.ts'

/** Version of the snapshot format; other versions are ignored. */
const FORMAT = 2

interface Snapshot {
  readonly format: number
  readonly version: number
  readonly state: unknown
  readonly revision: number
  readonly position: number
  readonly commands: SerializedCommands
}

const keyOf = (stream: string) => `fold:${stream}`

/** The last snapshot of a stream; null when there is none of the entity's version and of this format, or the store is unavailable. */
export async function loadSnapshot<State>(
  ops: OperationalStore,
  entity: Entity<State>,
  stream: string,
  now: number,
): Promise<Fold<State> | null> {
  const entry = await ops.get(keyOf(stream), now).catch(() => null)
  const cached = entry?.value as Snapshot | undefined
  if (cached?.format !== FORMAT || cached.version !== entity.version) return null
  return {
    state: decodeState(cached.state) as State,
    revision: cached.revision,
    position: cached.position,
    commands: deserializeCommands(cached.commands),
  }
}

/** Saves a snapshot. A failure is ignored: a lost snapshot only costs time. */
export async function saveSnapshot(ops: OperationalStore, entity: Entity, stream: string, fold: Fold): Promise<void> {
  const cached: Snapshot = {
    format: FORMAT,
    version: entity.version,
    state: encodeState(fold.state),
    revision: fold.revision,
    position: fold.position,
    commands: serializeCommands(fold.commands),
  }
  await ops.put(keyOf(stream), cached, null).catch(() => undefined)
}
