import { type Layout, WHOLE_FILE } from './database.ts'

/**
 * Layout of a file of read models and operational entries, which may share it. Each collection has its own table
 * (collections.ts). `removed` holds guards: the positions of removed documents, until the guards expire.
 */
export const VIEW_LAYOUT: Layout = {
  // 3: columns for the workspace of a document and for the instant at which it or a guard expires. 4: epochs of checkpoints.
  version: 4,
  synchronous: 'NORMAL',
  cacheKiB: 32 * 1024,
  mappedBytes: WHOLE_FILE,
  pageBytes: 16 * 1024,
  tables: `
    CREATE TABLE IF NOT EXISTS collections (name TEXT PRIMARY KEY, columns TEXT NOT NULL, lists TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS checkpoints (name TEXT PRIMARY KEY, position INTEGER NOT NULL, at TEXT, epoch INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS removed (
      collection TEXT NOT NULL,
      id TEXT NOT NULL,
      position INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      PRIMARY KEY (collection, id)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS removed_by_expiry ON removed (collection, expires_at);
    CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, version INTEGER NOT NULL, expires_at INTEGER);
    CREATE INDEX IF NOT EXISTS entries_by_expiry ON entries (expires_at) WHERE expires_at IS NOT NULL;
    CREATE TABLE IF NOT EXISTS notes (
      series TEXT NOT NULL,
      at INTEGER NOT NULL,
      id TEXT NOT NULL,
      labels TEXT NOT NULL,
      expires_at INTEGER NOT NULL,
      value TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS notes_by_time ON notes (series, at, id, labels, expires_at);
    CREATE UNIQUE INDEX IF NOT EXISTS notes_by_id ON notes (series, id);
    CREATE INDEX IF NOT EXISTS notes_by_expiry ON notes (expires_at)`,
}

/**
 * The same for a connection that reads what another one writes all the time: without the memory map, which each write would
 * invalidate, and with a cache that replaces it.
 */
export const FOLLOWED_VIEW_LAYOUT: Layout = { ...VIEW_LAYOUT, mappedBytes: 0, cacheKiB: 64 * 1024 }
