import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Checkpoint, Doc, DocumentWrite, ReadStore } from '../../ports/read-store.ts'
import { type Catalogue, type Collection, saveCollection } from './collections.ts'
import { rollback } from './database.ts'
import { type Prepare, rowsOf } from './statements.ts'
import { encode, valueAt } from './values.ts'

type CheckpointMove = Parameters<ReadStore['commit']>[1]

/** A batch of writes, and the checkpoint that it moves. */
export interface Commit {
  readonly writes: readonly DocumentWrite[]
  readonly move: CheckpointMove
}

/**
 * Creates the function that commits batches: documents, guards of removed documents and checkpoints, all batches in one
 * transaction. It returns for each batch whether it was written: false when its checkpoint is not at `expected`.
 */
export function createCommitter(
  db: DatabaseSync,
  prepare: Prepare,
  catalogue: Catalogue,
): (commits: readonly Commit[]) => readonly boolean[] {
  const commit = ({ writes, move: { name, expected, next } }: Commit): boolean => {
    if (positionOf(prepare, name) !== expected) return false
    if (expected !== null) prepare('DELETE FROM removed WHERE checkpoint = ? AND position <= ?').run(name, expected)
    writeAll(prepare, catalogue, writes, name)
    moveCheckpoint(prepare, name, next)
    return true
  }
  return (commits) => {
    prepare('BEGIN IMMEDIATE').run()
    try {
      const moved = commits.map(commit)
      prepare(moved.includes(true) ? 'COMMIT' : 'ROLLBACK').run()
      return moved
    } catch (error) {
      catalogue.invalidate()
      rollback(db)
      throw error
    }
  }
}

function positionOf(prepare: Prepare, name: string): number | null {
  const [row] = rowsOf<[number]>(prepare('SELECT position FROM checkpoints WHERE name = ?').all(name))
  return row?.[0] ?? null
}

function moveCheckpoint(prepare: Prepare, name: string, { position, at }: Checkpoint): void {
  prepare('INSERT OR REPLACE INTO checkpoints (name, position, at) VALUES (?, ?, ?)').run(name, position, at)
}

function writeAll(prepare: Prepare, catalogue: Catalogue, writes: readonly DocumentWrite[], checkpoint: string): void {
  const writers = new Map<string, (write: DocumentWrite) => void>()
  for (const write of writes) {
    let writer = writers.get(write.collection)
    if (!writer) {
      const collection = catalogue.get(write.collection)
      if (!collection) throw new Error(`The collection ${write.collection} does not exist.`)
      writer = writerOf(prepare, catalogue, collection, checkpoint)
      writers.set(write.collection, writer)
    }
    writer(write)
  }
}

function writerOf(
  prepare: Prepare,
  catalogue: Catalogue,
  collection: Collection,
  checkpoint: string,
): (write: DocumentWrite) => void {
  const { name, table } = collection
  const put = prepare(upsertSql(collection))
  const fields = fieldsOf(collection)
  const guards = guardsOf(prepare, name)
  const lists = new Set(collection.lists)

  const valuesOf = (doc: Doc, values: SQLInputValue[]): void => {
    for (const { path, keys, key } of fields) {
      const value = key === null ? valueAt(doc, keys) : doc[key]
      values.push(encode(value))
      if (Array.isArray(value) && !lists.has(path)) {
        lists.add(path)
        saveCollection(prepare, { ...collection, lists })
        catalogue.invalidate()
      }
    }
  }
  const remove = (id: string, position: number): void => {
    prepare(`DELETE FROM ${table} WHERE id = ? AND position < ?`).run(id, position)
    if (prepare(`SELECT 1 FROM ${table} WHERE id = ?`).get(id)) return
    prepare('INSERT OR REPLACE INTO removed (collection, id, position, checkpoint) VALUES (?, ?, ?, ?)').run(
      name,
      id,
      position,
      checkpoint,
    )
    guards.set(id, position)
  }
  return ({ id, doc, position }) => {
    if (guards.size > 0) {
      const guard = guards.get(id)
      if (guard !== undefined && guard >= position) return
      if (guard !== undefined && doc) {
        prepare('DELETE FROM removed WHERE collection = ? AND id = ?').run(name, id)
        guards.delete(id)
      }
    }
    if (!doc) return remove(id, position)
    const values: SQLInputValue[] = [id, position]
    valuesOf(doc, values)
    values.push(JSON.stringify(doc))
    put.run(...values)
  }
}

function fieldsOf({ columns }: Collection) {
  return [...columns.keys()].map((path) => {
    const keys = path.split('.')
    return { path, keys, key: keys.length === 1 ? path : null }
  })
}

function guardsOf(prepare: Prepare, collection: string): Map<string, number> {
  return new Map(
    rowsOf<[string, number]>(prepare('SELECT id, position FROM removed WHERE collection = ?').all(collection)),
  )
}

function upsertSql({ table, columns }: Collection): string {
  const names = ['id', 'position', ...columns.values(), 'doc']
  const changes = names.slice(1).map((name) => `${name} = excluded.${name}`)
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
    ON CONFLICT (id) DO UPDATE SET ${changes.join(', ')} WHERE excluded.position > position`
}
