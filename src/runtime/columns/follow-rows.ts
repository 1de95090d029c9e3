import { locateKeys, locateRows } from './locate-rows.ts'
import { KEY_AT, type ReadRow, type RowRead, readByPosition } from './read-rows.ts'
import { addRows, isKey, putRows } from './row-buffer.ts'
import type { SegmentReader } from './segment.ts'
import { rowsOfWorkspace, type WorkspaceColumns, withRows } from './workspace-columns.ts'

/** Puts a row that was read among the recent ones. False when it does not fit the columns. */
export function putRecent({ buffer, rowOf }: WorkspaceColumns['recent'], row: ReadRow): boolean {
  const key = row[KEY_AT]
  if (!isKey(key)) return false
  let place = rowOf.get(key)
  if (place === undefined) {
    place = addRows(buffer, 1)
    rowOf.set(key, place)
  }
  return putRows(buffer, place, [row])
}

/**
 * Includes a page of changed documents. The rows that they replace are found first; then all changes at once, so that who sums
 * meanwhile finds each document once.
 */
async function includePage(state: WorkspaceColumns, reader: SegmentReader, page: readonly ReadRow[]): Promise<void> {
  const { recent, merging } = state
  if (recent.buffer.layout.rows) return includeNewRows(state, reader, page)
  const keys = new Set(page.flatMap(({ [KEY_AT]: key }) => (isKey(key) && !recent.rowOf.has(key) ? [key] : [])))
  const inMerging = [...keys].flatMap((key) => merging?.rowOf.get(key) ?? [])
  const elsewhere = [...keys].filter((key) => merging?.rowOf.has(key) !== true)
  const located = await locateRows(reader, state.segments, elsewhere)
  for (const row of page) if (!putRecent(recent, row)) state.isUnfit = true
  if (merging && inMerging.length > 0) merging.dead = withRows(merging.dead, inMerging)
  if (located.size === 0) return
  const dead = new Map(state.dead)
  for (const [name, rows] of located) dead.set(name, withRows(dead.get(name), rows))
  state.dead = dead
}

/** Includes the rows of a page of changed documents that are not included yet: rows within documents never change. */
async function includeNewRows(state: WorkspaceColumns, reader: SegmentReader, page: readonly ReadRow[]): Promise<void> {
  const { recent, merging } = state
  const fresh = page.filter(({ [KEY_AT]: key }) => !isKey(key) || !(recent.rowOf.has(key) || merging?.rowOf.has(key)))
  const keys = fresh.flatMap(({ [KEY_AT]: key }) => (isKey(key) ? [key] : []))
  const known = await locateKeys(reader, state.segments, keys)
  for (const row of fresh) if (!known.has(Number(row[KEY_AT])) && !putRecent(recent, row)) state.isUnfit = true
}

/** Documents beyond the coverage, as they were read: they differ where one was written meanwhile. */
export type SeenRows = string

/**
 * Includes what was folded after the state's coverage, until so many rows are recent. @throws StoreUnavailable, DamagedSegment, FilesUnavailable
 */
export async function followRows(
  state: WorkspaceColumns,
  read: RowRead,
  reader: SegmentReader,
  mostRows: number,
): Promise<SeenRows> {
  let documents = 0
  let last: unknown = null
  for await (const page of readByPosition(read, state.coverage)) {
    if (page.length > 0) await includePage(state, reader, page)
    documents += page.length
    last = page.at(-1)?.[0] ?? last
    if (state.isUnfit || state.recent.rowOf.size >= mostRows) break
  }
  return `${documents} ${last}`
}

/**
 * Whether documents that the columns include were removed: the store has fewer. Null when documents were written between
 * `seen` and the end of the count. @throws StoreUnavailable, DamagedSegment, FilesUnavailable
 */
export async function hasLostRows(
  state: WorkspaceColumns,
  read: RowRead,
  reader: SegmentReader,
  seen: SeenRows,
  mostRows: number,
): Promise<boolean | null> {
  const { store, collection, workspaceId } = read
  const documents = await store.count(collection, { workspaceId })
  if ((await followRows(state, read, reader, mostRows)) !== seen) return null
  return documents !== rowsOfWorkspace(state)
}
