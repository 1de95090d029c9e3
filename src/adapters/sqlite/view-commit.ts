import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { type Checkpoint, type Doc, type DocumentWrite, type ReadStore, workspaceOf } from '../../ports/read-store.ts'
import { type Catalogue, type Collection, saveCollection } from './collections.ts'
import { rollback } from './database.ts'
import { type Prepare, rowsOf } from './statements.ts'
import { codedPath, type TextCodes } from './text-codes.ts'
import { encode, valueAt } from './values.ts'

type CheckpointMove = Parameters<ReadStore['commit']>[1]

/** A batch of writes, and the checkpoint that it moves. */
export interface Commit {
  readonly writes: readonly DocumentWrite[]
  readonly move: CheckpointMove
}

/** Bytes that are written for each character of a document, with its columns and indexes, about. */
const WRITTEN_BYTES = 5

/**
 * Creates the function that commits batches: documents, guards of removed documents and checkpoints, all batches in one
 * transaction. It returns for each batch whether it was written: false when its checkpoint is not at `expected`, or has a
 * later epoch. `wrote` is told the bytes that each commit has written, about.
 */
export function createCommitter(
  db: DatabaseSync,
  prepare: Prepare,
  catalogue: Catalogue,
  codes: TextCodes,
  wrote: (bytes: number) => void,
): (commits: readonly Commit[]) => readonly boolean[] {
  let characters = 0
  const commit = ({ writes, move: { name, expected, next } }: Commit): boolean => {
    const current = checkpointOf(prepare, name)
    if (current.position !== expected || current.epoch > (next.epoch ?? 0)) return false
    characters += writeAll({ prepare, catalogue, codes }, writes)
    moveCheckpoint(prepare, name, next)
    return true
  }
  return (commits) => {
    prepare('BEGIN IMMEDIATE').run()
    try {
      const moved = commits.map(commit)
      prepare(moved.includes(true) ? 'COMMIT' : 'ROLLBACK').run()
      wrote(characters * WRITTEN_BYTES)
      return moved
    } catch (error) {
      catalogue.invalidate()
      codes.forget()
      rollback(db)
      throw error
    } finally {
      characters = 0
    }
  }
}

/** Position and epoch of a checkpoint; null and 0 where there is none. */
function checkpointOf(prepare: Prepare, name: string): { readonly position: number | null; readonly epoch: number } {
  const [row] = rowsOf<[number, number]>(prepare('SELECT position, epoch FROM checkpoints WHERE name = ?').all(name))
  return { position: row?.[0] ?? null, epoch: row?.[1] ?? 0 }
}

function moveCheckpoint(prepare: Prepare, name: string, { position, at, epoch = 0 }: Checkpoint): void {
  const replace = prepare('INSERT OR REPLACE INTO checkpoints (name, position, at, epoch) VALUES (?, ?, ?, ?)')
  replace.run(name, position, at, epoch)
}

interface WriteTools {
  readonly prepare: Prepare
  readonly catalogue: Catalogue
  readonly codes: TextCodes
}

/** Writes documents and guards. Returns the characters of the documents. */
function writeAll(tools: WriteTools, writes: readonly DocumentWrite[]): number {
  const writers = new Map<string, (write: DocumentWrite) => number>()
  let characters = 0
  for (const write of writes) {
    let writer = writers.get(write.collection)
    if (!writer) {
      const collection = tools.catalogue.get(write.collection)
      if (!collection) throw new Error(`The collection ${write.collection} does not exist.`)
      writer = writerOf(tools, collection)
      writers.set(write.collection, writer)
    }
    characters += writer(write)
  }
  return characters
}

/** Creates the function that writes a document, and returns its characters. */
function writerOf({ prepare, catalogue, codes }: WriteTools, collection: Collection): (write: DocumentWrite) => number {
  const { table } = collection
  const put = prepare(upsertSql(collection))
  const fields = fieldsOf(collection)
  const guards = guardsOf(prepare, collection)
  const lists = new Set(collection.lists)

  const valuesOf = (doc: Doc, values: SQLInputValue[]): void => {
    for (const { path, keys, key, coded } of fields) {
      const value = key === null ? valueAt(doc, keys) : doc[key]
      if (coded) {
        values.push(codes.codeOf(value))
        continue
      }
      values.push(encode(value))
      if (Array.isArray(value) && !lists.has(path)) {
        lists.add(path)
        saveCollection(prepare, { ...collection, lists })
        catalogue.invalidate()
      }
    }
  }
  return (write) => {
    const { id, doc, position } = write
    if (guards.refuses(id, position)) return 0
    if (!doc) {
      prepare(`DELETE FROM ${table} WHERE id = ? AND position < ?`).run(id, position)
      if (!prepare(`SELECT 1 FROM ${table} WHERE id = ?`).get(id)) guards.add(id, position, write.expiresAt)
      return 0
    }
    const workspace = workspaceOf(doc)
    const values: SQLInputValue[] = [id, position, workspace, write.expiresAt ?? null]
    valuesOf(doc, values)
    // Undefined is left out of the text.
    const json = JSON.stringify(workspace === '' ? doc : { ...doc, workspaceId: undefined })
    values.push(json)
    put.run(...values)
    return json.length
  }
}

function fieldsOf({ columns }: Collection) {
  return [...columns.keys()].map((column) => {
    const coded = codedPath(column)
    const path = coded ?? column
    const keys = path.split('.')
    return { path, keys, key: keys.length === 1 ? path : null, coded: coded !== null }
  })
}

/** The guards of a collection's removed documents. Most collections have none, and are asked once in a batch. */
function guardsOf(prepare: Prepare, { name }: Collection) {
  let some = prepare('SELECT 1 FROM removed WHERE collection = ? LIMIT 1').get(name) !== undefined
  const find = prepare('SELECT 1 FROM removed WHERE collection = ? AND id = ? AND position >= ?')
  const put = prepare('INSERT OR REPLACE INTO removed (collection, id, position, expires_at) VALUES (?, ?, ?, ?)')
  return {
    /** Whether a document was removed at the position or later. */
    refuses: (id: string, position: number): boolean => some && find.get(name, id, position) !== undefined,
    add(id: string, position: number, expiresAt: number): void {
      some = true
      put.run(name, id, position, expiresAt)
    },
  }
}

function upsertSql({ table, columns }: Collection): string {
  const names = ['id', 'position', 'workspace', 'expires_at', ...columns.values(), 'doc']
  const changes = names.slice(1).map((name) => `${name} = excluded.${name}`)
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
    ON CONFLICT (id) DO UPDATE SET ${changes.join(', ')} WHERE excluded.position > position`
}
