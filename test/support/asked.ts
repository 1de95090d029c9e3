import { expect } from 'vitest'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import type { AnyProjection } from '../../src/kernel/projection.ts'
import type { AnyQuery } from '../../src/kernel/query.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { placeOf } from '../../src/runtime/places.ts'
import { project } from './project.ts'
import { queryPorts } from './query-ports.ts'
import { NOW, WORKSPACE } from './spec.ts'

/** Puts the documents of projections after all events into a store. */
export async function fill(
  store: ReadStore,
  projections: readonly AnyProjection[],
  events: readonly RecordedEvent[],
): Promise<void> {
  for (const projection of projections) {
    const { collection, checkpoint } = placeOf(projection)
    await store.ensure([{ name: collection, indexes: projection.indexes, columns: projection.columns }])
    const writes = Object.entries(await project(projection, events)).map(([id, doc], position) => ({
      collection,
      id,
      doc,
      position,
    }))
    await store.commit(writes, { name: checkpoint, expected: null, next: { position: writes.length, at: null } })
  }
}

/** Asks a query as the edge does, and checks that what it answers is what it says it answers. */
export async function ask<Answer>(
  query: AnyQuery<QueryPorts>,
  views: ReadStore,
  asked: { readonly id?: string; readonly query?: object; readonly now?: string; readonly workspaceId?: string } = {},
): Promise<Answer> {
  const answer = await query.run(queryPorts(views), {
    params: query.params.parse({ id: asked.id }),
    query: query.query.parse(asked.query ?? {}),
    tenant: { workspaceId: asked.workspaceId ?? WORKSPACE, timezone: 'America/New_York' },
    surface: 'rest',
    now: asked.now ?? NOW,
  })
  if (isRefusal(answer)) expect(query.rejects).toContain(answer.refused)
  else expect(query.response.parse(answer)).toEqual(answer)
  return answer
}
