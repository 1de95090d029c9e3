import { type AnyBulkWriteOperation, type Collection, type Db, MongoBulkWriteError } from 'mongodb'
import type { Checkpoint, DocumentWrite } from '../../ports/read-store.ts'
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
export async function writeDocuments(
  rows: Collection<Row>,
  writes: readonly DocumentWrite[],
  checkpoint: string,
): Promise<void> {
  const found = rows.find({ _id: { $in: writes.map(({ id }) => id) } }, { projection: { p: 1 } })
  const positions = new Map((await found.toArray()).map(({ _id, p }) => [_id, p]))
  const newer = writes.filter(({ id, position }) => position > (positions.get(id) ?? -1))
  const missed = await bulkWrite(
    rows,
    newer.map((each): AnyBulkWriteOperation<Row> => {
      const row = rowOf(each, checkpoint)
      return positions.has(each.id) ? replaceOlder(row) : { insertOne: { document: row } }
    }),
  )
  await bulkWrite(
    rows,
    missed.flatMap((index) => newer.slice(index, index + 1)).map((each) => replaceOlder(rowOf(each, checkpoint))),
  )
}

/** Moves the checkpoint by compare-and-set. False when it is not at `expected`. */
export async function moveCheckpoint(
  db: Db,
  name: string,
  expected: number | null,
  { position, at }: Checkpoint,
): Promise<boolean> {
  const checkpoints = db.collection<StoredCheckpoint>(CHECKPOINTS)
  if (expected !== null) {
    const moved = await checkpoints.updateOne({ _id: name, position: expected }, { $set: { position, at } })
    return moved.matchedCount === 1
  }
  try {
    await checkpoints.insertOne({ _id: name, position, at })
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

/** Deletes the guards of removed documents up to a position that the checkpoint has passed. */
export async function dropGuards(rows: Collection<Row>, checkpoint: string, position: number): Promise<void> {
  await rows.deleteMany({ g: checkpoint, p: { $lte: position } })
}

function rowOf({ id, doc, position }: DocumentWrite, checkpoint: string): Row {
  return doc ? { _id: id, p: position, d: doc } : { _id: id, p: position, g: checkpoint }
}

function replaceOlder({ _id, ...replacement }: Row): AnyBulkWriteOperation<Row> {
  return { replaceOne: { filter: { _id, p: { $lt: replacement.p } }, replacement } }
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
