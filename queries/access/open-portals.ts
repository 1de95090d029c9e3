import type { users } from '../../projections/access/users.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { type DocOf, readReferenced } from '../shared/documents.ts'

/** Of a user's publishers those whose portal is on (Document 1, Publisher), in their order. */
export async function openPortals(views: Pick<ReadStore, 'getMany'>, { publishers: held = [] }: DocOf<typeof users>) {
  const found = await readReferenced(views, publishers, held, ({ publisherId }) => publisherId)
  return held.flatMap(({ publisherId }) => {
    const publisher = found.get(publisherId)
    return publisher?.portalEnabled ? [publisher] : []
  })
}
