import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { copySqliteFile } from '../adapters/sqlite/copy-file.ts'
import { errorMessage } from '../kernel/async/errors.ts'
import { ConfigurationError, readConfig } from './config.ts'
import { fileOf, operationalFileOf, requireLogFile } from './stores.ts'

/** Names of the files of a data directory in a backup. */
const [EVENTS, VIEWS, OPERATIONS, KEY, MANIFEST] = [
  'events.db',
  'views.db',
  'views.ops.db',
  'master.key',
  'backup.json',
]

/** Operational entries that would be behind the log: numbers of auctions are counted on from those in use where there is no entry. */
const LEFT_OUT = ['auction-numbers:']

const manifest = z.object({
  format: z.literal(1),
  at: z.string(),
  files: z.array(z.object({ name: z.string(), bytes: z.int(), sha256: z.string() })),
})
export type BackupManifest = Readonly<z.infer<typeof manifest>>

type Environment = Readonly<Record<string, string | undefined>>

/** Bytes that are read of a file at once. */
const CHUNK = 4 * 1024 * 1024

/** SHA-256 of a file, in hex. */
function hashOf(path: string): string {
  const [sum, chunk] = [createHash('sha256'), Buffer.alloc(CHUNK)]
  const file = openSync(path, 'r')
  try {
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) sum.update(chunk.subarray(0, read))
    return sum.digest('hex')
  } finally {
    closeSync(file)
  }
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  fsyncSync(directory)
  closeSync(directory)
}

const describeFile = (directory: string, name: string) => ({
  name,
  bytes: statSync(join(directory, name)).size,
  sha256: hashOf(join(directory, name)),
})

/** The files of the stores of an environment. @throws ConfigurationError where a server has them */
function storeFiles(env: Environment) {
  const { dataDir, eventLogUrl, readStoreUrl } = readConfig(env)
  const [events, views] = [fileOf(eventLogUrl), fileOf(readStoreUrl)]
  if (events === null || views === null) {
    throw new ConfigurationError(
      'Only stores in files are copied: EventStoreDB and MongoDB have tools of their own (docs/operations.md, "Backup").',
    )
  }
  requireLogFile(eventLogUrl)
  return { events, views, key: join(dataDir, KEY) }
}

/**
 * Copies the stores of the environment to a new directory, while a platform may run. The log is copied last, so that it has every
 * event that the others reflect. The directory has its name only once it is complete and on disk.
 * @throws ConfigurationError; FileUnavailable
 */
export function backUp(env: Environment, to: string, now: Date): BackupManifest {
  const target = resolve(to)
  if (existsSync(target)) throw new ConfigurationError(`${target} exists already.`)
  const { events, views, key } = storeFiles(env)
  const draft = `${target}.partial`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  const operations = operationalFileOf(views)
  if (existsSync(operations)) copySqliteFile(operations, join(draft, OPERATIONS), LEFT_OUT)
  if (existsSync(views)) copySqliteFile(views, join(draft, VIEWS))
  copySqliteFile(events, join(draft, EVENTS))
  if (existsSync(key)) copyFileSync(key, join(draft, KEY))
  const files = readdirSync(draft).toSorted()
  for (const name of files) chmodSync(join(draft, name), 0o600)
  const made: BackupManifest = {
    format: 1,
    at: now.toISOString(),
    files: files.map((name) => describeFile(draft, name)),
  }
  writeFileSync(join(draft, MANIFEST), `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600, flush: true })
  syncDirectory(draft)
  renameSync(draft, target)
  syncDirectory(dirname(target))
  return made
}

/**
 * Reads a backup, without its read models where they are left out, and checks that every file is as it was written.
 * @throws ConfigurationError in one sentence otherwise
 */
function readBackup(from: string): BackupManifest {
  const path = join(from, MANIFEST)
  if (!existsSync(path)) throw new ConfigurationError(`${from} is no complete backup: it has no ${MANIFEST}.`)
  const parsed = manifest.safeParse(jsonOf(path))
  if (!parsed.success) throw new ConfigurationError(`${path} is damaged, or of another format.`)
  const isLeftOut = (name: string) => name === VIEWS && !existsSync(join(from, name))
  const files = parsed.data.files.filter(({ name }) => !isLeftOut(name))
  for (const file of files) {
    if (basename(file.name) !== file.name) throw new ConfigurationError(`${path} is damaged.`)
    const found = existsSync(join(from, file.name)) && describeFile(from, file.name)
    if (!found || found.sha256 !== file.sha256 || found.bytes !== file.bytes)
      throw new ConfigurationError(`${join(from, file.name)} is not as it was written: the backup is damaged.`)
  }
  return { ...parsed.data, files }
}

function jsonOf(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return errorMessage(error)
  }
}

/**
 * Puts a backup where there is no data directory yet, or an empty one. The directory has its name only once it is complete.
 * @throws ConfigurationError
 */
export function restore({ DATA_DIR }: Environment, from: string): BackupManifest {
  const target = resolve(DATA_DIR || 'var')
  if (existsSync(target) && readdirSync(target).length > 0)
    throw new ConfigurationError(`The data directory ${target} is not empty: move it away first.`)
  const source = resolve(from)
  const made = readBackup(source)
  const draft = `${target}.partial`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  for (const { name } of made.files) {
    copyFileSync(join(source, name), join(draft, name))
    const file = openSync(join(draft, name), 'r+')
    fsyncSync(file)
    closeSync(file)
  }
  syncDirectory(draft)
  rmSync(target, { recursive: true, force: true })
  renameSync(draft, target)
  syncDirectory(dirname(target))
  return made
}
