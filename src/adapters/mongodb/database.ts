import type { Db } from 'mongodb'
import { connect, isDuplicate, type MongoConnection } from './connection.ts'

/** Collections that every version of the program has created on its first start. */
const ALWAYS: ReadonlySet<string> = new Set(['_operational', '_checkpoints'])
const COLLECTION = '_format'
/** 2: rows have the workspace and the instant of their expiry. Format 1 had no marker. */
const FORMAT = 2

interface Marker {
  readonly _id: 'format'
  readonly format: number
}

/**
 * Connects to the database in the URL's path (`ringledger` by default), and checks the format of what it holds.
 * @throws Error of one sentence when the string does not parse or the format is another; StoreUnavailable
 */
export async function openDatabase(url: string): Promise<MongoConnection> {
  const connection = await connect(url)
  try {
    await connection.withDb(ensureFormat)
    return connection
  } catch (error) {
    await connection.close()
    throw error
  }
}

/**
 * Marks an empty database with the format of what is stored, and checks the mark of any other. Of several first starts at once,
 * one marks it. @throws Error of one sentence on another format than the program's
 */
async function ensureFormat(db: Db): Promise<void> {
  // Lists the collections before it reads the marker: a process marks a database before it creates collections.
  const collections = await db.listCollections({}, { nameOnly: true }).toArray()
  const markers = db.collection<Marker>(COLLECTION)
  const marker = await markers.findOne({ _id: 'format' })
  if (marker) return checkFormat(marker.format)
  if (collections.some(({ name }) => ALWAYS.has(name))) return checkFormat(1)
  if (!(await markFormat(db))) checkFormat((await markers.findOne({ _id: 'format' }))?.format ?? FORMAT)
}

/** Marks a database with the format of what this program stores. False when it has a mark. */
export async function markFormat(db: Db): Promise<boolean> {
  try {
    await db.collection<Marker>(COLLECTION).insertOne({ _id: 'format', format: FORMAT })
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

function checkFormat(format: number): void {
  if (format === FORMAT) return
  const writer = format < FORMAT ? 'an earlier' : 'a later'
  throw new Error(
    `The MongoDB database has format ${format} of ${writer} program, and this one reads format ${FORMAT} alone; name an empty database in READ_STORE_URL.`,
  )
}
