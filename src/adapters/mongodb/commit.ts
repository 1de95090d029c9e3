import { type AnyBulkWriteOperation, type Collection, type Db, MongoBulkWriteError } from 'mongodb'
import { START } from '../../ports/event-log.ts'
import { type Checkpoint, type DocumentWrite, type ReadStore, workspaceOf } from '../../ports/read-store.ts'
import type { Row } from './filters.ts'

/** Collection of the checkpoints, by name. */
export const CHECKPOINTS = '_checkpoints'

export interface StoredCheckpoint extends Checkpoint {
  readonly _id: string
}

/**
 * Writes documents, each only over one at a lower position, so that a repeated batch writes nothing. What the writer has found in
 * the store is replaced, anything else inserted; what turns out to be there, or to be gone, is written once more.
 */
export async function writeDocuments(rows: Collection<Row>, writes: readonly DocumentWrite[]): Promise<void> {
  const { present, unmatched } = await bulkWrite(
    rows,
    writes.map((each) => (each.isStored ? replaceOlder(rowOf(each)) : { insertOne: { document: rowOf(each) } })),
  )
  await bulkWrite(
    rows,
    present.flatMap((index) => writes.slice(index, index + 1)).map((each) => replaceOlder(rowOf(each))),
  )
  if (unmatched === 0) return
  const gone = await missingOf(rows, writes)
  if (gone.length > 0)
    await writeDocuments(
      rows,
      gone.map((each) => ({ ...each, isStored: false })),
    )
}

/** The writes whose documents are not there: they have expired since the writer found them. */
async function missingOf(rows: Collection<Row>, writes: readonly DocumentWrite[]): Promise<readonly DocumentWrite[]> {
  const own = { w: { $in: [...new Set(writes.map(workspaceOfWrite))] }, _id: { $in: writes.map(({ id }) => id) } }
  const found = await rows.find(own, { projection: { _id: 1 } }).toArray()
  const there = new Set(found.map(({ _id }) => _id))
  return writes.filter(({ id }) => !there.has(id))
}

/** A move of a checkpoint, as `commit` of the port has it. */
export type CheckpointMove = Parameters<ReadStore['commit']>[1]

/**
 * Moves checkpoints by compare-and-set, all in one command. Resolves to whether each was moved: false when it is not at `expected`,
 * or has a later epoch.
 */
export async function moveCheckpoints(db: Db, moves: readonly CheckpointMove[]): Promise<readonly boolean[]> {
  const checkpoints = db.collection<StoredCheckpoint>(CHECKPOINTS)
  const [inserted, moved] = await Promise.all([
    insertCheckpoints(checkpoints, moves.filter(isFirst)),
    moveKnown(
      checkpoints,
      moves.filter((move) => !isFirst(move)),
    ),
  ])
  return moves.map((move) => (isFirst(move) ? inserted : moved).shift() ?? false)
}

/** Whether the checkpoint is not there yet. */
const isFirst = ({ expected }: CheckpointMove) => expected === null

async function insertCheckpoints(
  checkpoints: Collection<StoredCheckpoint>,
  moves: readonly CheckpointMove[],
): Promise<boolean[]> {
  if (moves.length === 0) return []
  const rows = moves.map(({ name, next: { position, at, epoch = 0 } }) => ({ _id: name, position, at, epoch }))
  const present = new Set(await presentOf(checkpoints.insertMany(rows, { ordered: false })))
  return moves.map((_, index) => !present.has(index))
}

/**
 * Moves checkpoints that are there. The answer tells their number alone: where one was not moved, what is stored tells which.
 * One that was moved on since counts as not moved, which only has its owner read it.
 */
async function moveKnown(
  checkpoints: Collection<StoredCheckpoint>,
  moves: readonly CheckpointMove[],
): Promise<boolean[]> {
  if (moves.length === 0) return []
  const updates = moves.map(({ name, expected, next: { position, at, epoch = 0 } }) => ({
    updateOne: {
      filter: { _id: name, position: expected ?? START, epoch: { $not: { $gt: epoch } } },
      update: { $set: { position, at, epoch } },
    },
  }))
  const { matchedCount } = await checkpoints.bulkWrite(updates, { ordered: false })
  if (matchedCount === moves.length) return moves.map(() => true)
  if (matchedCount === 0) return moves.map(() => false)
  const stored = await checkpoints.find({ _id: { $in: moves.map(({ name }) => name) } }).toArray()
  const found = new Map(stored.map((each) => [each._id, each]))
  return moves.map(({ name, next: { position, epoch = 0 } }) => {
    const checkpoint = found.get(name)
    return checkpoint?.position === position && (checkpoint.epoch ?? 0) === epoch
  })
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

/**
 * One unordered bulk write. `present`: the indexes of inserts whose id exists. `unmatched`: the number of replacements that
 * found no document at a lower position.
 */
async function bulkWrite(
  rows: Collection<Row>,
  operations: readonly AnyBulkWriteOperation<Row>[],
): Promise<{ readonly present: readonly number[]; readonly unmatched: number }> {
  if (operations.length === 0) return { present: [], unmatched: 0 }
  const replacements = operations.filter((operation) => 'replaceOne' in operation).length
  const written = rows.bulkWrite([...operations], { ordered: false })
  const present = await presentOf(written)
  const { matchedCount } = await written.catch((error: MongoBulkWriteError) => error)
  return { present, unmatched: replacements - matchedCount }
}

/** The indexes of the inserts of an unordered write whose ids exist. @throws what else it fails with */
async function presentOf(written: Promise<unknown>): Promise<readonly number[]> {
  try {
    await written
    return []
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error
    const failures = [error.writeErrors].flat()
    if (failures.length === 0 || failures.some(({ code }) => code !== 11_000)) throw error
    return failures.map(({ index }) => index)
  }
}
