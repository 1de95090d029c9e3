import { type AnyBulkWriteOperation, type Collection, type Db, MongoBulkWriteError } from 'mongodb'
import { type Checkpoint, type DocumentWrite, workspaceOf } from '../../ports/read-store.ts'
import { isDuplicate } from './connection.ts'
import type { Row } from './filters.ts'

/** Collection of the checkpoints, by name. */
export const CHECKPOINTS = '_checkpoints'

export interface StoredCheckpoint extends Checkpoint {
  readonly _id: string
}

/**
 * Writes documents, each only over one at a lower position. Positions are read first, so that a repeated batch writes nothing
 * and new documents are plain inserts. Each replacement still compares the position, since another runner may write in
 * between.
 */
export async function writeDocuments(rows: Collection<Row>, writes: readonly DocumentWrite[]): Promise<void> {
  const workspaces = [...new Set(writes.map(workspaceOfWrite))]
  const ids = writes.map(({ id }) => id)
  const found = rows.find({ w: { $in: workspaces }, _id: { $in: ids } }, { projection: { p: 1 } })
  const positions = new Map((await found.toArray()).map(({ _id, p }) => [_id, p]))
  const newer = writes.filter(({ id, position }) => position > (positions.get(id) ?? -1))
  const missed = await bulkWrite(
    rows,
    newer.map((each): AnyBulkWriteOperation<Row> => {
      const row = rowOf(each)
      return positions.has(each.id) ? replaceOlder(row) : { insertOne: { document: row } }
    }),
  )
  await bulkWrite(
    rows,
    missed.flatMap((index) => newer.slice(index, index + 1)).map((each) => replaceOlder(rowOf(each))),
  )
}

/** Moves the checkpoint by compare-and-set. False when it is not at `expected`, or has a later epoch. */
export async function moveCheckpoint(
  db: Db,
  name: string,
  expected: number | null,
  { position, at, epoch = 0 }: Checkpoint,
): Promise<boolean> {
  const checkpoints = db.collection<StoredCheckpoint>(CHECKPOINTS)
  if (expected !== null) {
    const own = { _id: name, position: expected, epoch: { $not: { $gt: epoch } } }
    const moved = await checkpoints.updateOne(own, { $set: { position, at, epoch } })
    return moved.matchedCount === 1
  }
  try {
    await checkpoints.insertOne({ _id: name, position, at, epoch })
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

function workspaceOfWrite(write: DocumentWrite): string {
  return write.doc ? workspaceOf(write.doc) : write.workspaceId
}

function rowOf(write: DocumentWrite): Row {
  const { id, doc, position, expiresAt = null } = write
  const own = { _id: id, w: workspaceOfWrite(write), p: position }
  const row = expiresAt === null ? own : { ...own, x: new Date(expiresAt) }
  if (!doc) return row
  const { workspaceId: _w, ...rest } = doc
  return { ...row, d: row.w === '' ? doc : rest }
}

function replaceOlder({ _id, ...replacement }: Row): AnyBulkWriteOperation<Row> {
  return { replaceOne: { filter: { w: replacement.w, _id, p: { $lt: replacement.p } }, replacement } }
}

/** One unordered bulk write. Returns the indexes of inserts whose id exists. */
async function bulkWrite(rows: Collection<Row>, operations: readonly AnyBulkWriteOperation<Row>[]): Promise<number[]> {
  if (operations.length === 0) return []
  try {
    await rows.bulkWrite([...operations], { ordered: false })
    return []
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error
    const failures = [error.writeErrors].flat()
    if (failures.length === 0 || failures.some(({ code }) => code !== 11_000)) throw error
    return failures.map(({ index }) => index)
  }
}
