import {
  type Db,
  MongoClient,
  MongoError,
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb'
import { StoreUnavailable } from '../../ports/read-store.ts'

const DATABASE = 'ringledger'
const SELECTION_MS = 3_000
const SILENCE_MS = 15_000

/** Server errors that mean "not now": stepping down, shutting down, no primary. */
const AWAY_CODES: readonly unknown[] = [91, 189, 10107, 11600, 11602, 13435, 13436]
const DUPLICATE = 11_000

/** A database and how to leave it. */
export interface Connection {
  readonly db: Db
  readonly close: () => Promise<void>
}

/**
 * Connects to the database that the URL's path names (`ringledger` when it names none).
 * @throws Error when the string does not parse, StoreUnavailable when no server answers.
 */
export async function connect(url: string): Promise<Connection> {
  const client = clientOf(url)
  try {
    await client.connect()
  } catch (error) {
    await client.close()
    throw isAway(error) ? unavailable(error) : error
  }
  const [, named] = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url) ?? []
  return { db: client.db(named ? decodeURIComponent(named) : DATABASE), close: () => client.close() }
}

function clientOf(url: string): MongoClient {
  try {
    return new MongoClient(url, {
      serverSelectionTimeoutMS: SELECTION_MS,
      connectTimeoutMS: SELECTION_MS,
      socketTimeoutMS: SILENCE_MS,
      ignoreUndefined: true,
    })
  } catch (error) {
    throw new Error('The MongoDB connection string must look like mongodb://[user:password@]host:port/database.', {
      cause: error,
    })
  }
}

/** Runs a call; when the server is away it throws the port's error. The driver reconnects by itself. */
export async function reaching<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call()
  } catch (error) {
    throw isAway(error) ? unavailable(error) : error
  }
}

/** Whether a write was refused because a document of that id is there. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE
}

function isAway(error: unknown): boolean {
  if (error instanceof MongoServerError) return AWAY_CODES.includes(error.code)
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoOperationTimeoutError ||
    (error instanceof MongoError && /Topology|NotConnected|ClientClosed/.test(error.name))
  )
}

function unavailable(error: unknown): StoreUnavailable {
  const reason = error instanceof Error ? error.message : String(error)
  return new StoreUnavailable(`MongoDB does not answer: ${reason}`, { cause: error })
}
