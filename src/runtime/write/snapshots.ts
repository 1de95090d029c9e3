import { z } from 'zod'
import { type Entity, typedState } from '../../kernel/entity.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Fold } from './fold.ts'
import { deserializeCommands, serializeCommands } from './processed-commands.ts'
import { decodeState, encodeState } from './state-codec.ts'

/** Version of the snapshot format; other versions are ignored. */
const FORMAT = 2

const texts = z.array(z.string()).readonly()

const snapshot = z.object({
  format: z.literal(FORMAT),
  version: z.number(),
  state: z.unknown(),
  revision: z.number(),
  position: z.number(),
  commands: z.object({ newer: texts, older: texts, since: z.string().nullable() }).readonly(),
})

type Snapshot = Readonly<z.infer<typeof snapshot>>

const keyOf = (stream: string) => `fold:${stream}`

/** The last snapshot of a stream; null when there is none of the entity's version and of this format, or the store is unavailable. */
export async function loadSnapshot<State>(
  ops: OperationalStore,
  entity: Entity<State>,
  stream: string,
  now: number,
): Promise<Fold<State> | null> {
  const entry = await ops.get(keyOf(stream), now).catch(() => null)
  const { data: cached } = snapshot.safeParse(entry?.value)
  if (cached?.version !== entity.version) return null
  return {
    state: typedState(entity, decodeState(cached.state)),
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
