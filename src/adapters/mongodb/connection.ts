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
const SELECTION_TIMEOUT_MS = 3_000
const SOCKET_TIMEOUT_MS = 15_000
/** Timeout of a call, which may be several commands. */
const CALL_TIMEOUT_MS = 30_000

/** Server errors that mean "not now": stepping down, shutting down, no primary. */
const UNAVAILABLE_CODES: readonly unknown[] = [91, 189, 10107, 11600, 11602, 13435, 13436]
const DUPLICATE = 11_000

/** Access to a database. The driver reconnects; a client that has stopped reconnecting is replaced. */
export interface MongoConnection {
  /** Makes a call. @throws StoreUnavailable when the server is unavailable: the call may have had an effect or not */
  readonly withDb: <Answer>(call: (db: Db) => Promise<Answer>) => Promise<Answer>
  readonly close: () => Promise<void>
}

/**
 * Connects to the database in the URL's path (`ringledger` by default).
 *
 * The driver (7.9) never settles a write to a socket that was closed in the same tick: if its monitor made the call,
 * monitoring ends and no server is found again; any other call stays pending. So calls have a timeout, and a client that
 * exceeds it, or finds no server in time, is replaced.
 * @throws Error when the string does not parse, StoreUnavailable when no server responds.
 */
export async function connect(url: string): Promise<MongoConnection> {
  const [, named] = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url) ?? []
  const name = named ? decodeURIComponent(named) : DATABASE
  const open = () => {
    const client = createClient(url)
    // Kept: the driver makes another one, with its options, for each question.
    return { client, db: client.db(name) }
  }
  let current = open()
  try {
    await current.client.connect()
  } catch (error) {
    await current.client.close()
    throw isUnavailable(error) ? toUnavailable(error) : error
  }
  let closed = false
  const replace = (stuck: typeof current) => {
    if (current !== stuck || closed) return
    current = open()
    stuck.client.close().catch(() => {})
  }
  return {
    async withDb(call) {
      const asked = current
      try {
        return await withTimeout(CALL_TIMEOUT_MS, call(asked.db))
      } catch (error) {
        if (error instanceof CallTimeout || error instanceof MongoServerSelectionError) replace(asked)
        throw isUnavailable(error) ? toUnavailable(error) : error
      }
    },
    close: () => {
      closed = true
      return current.client.close()
    },
  }
}

/** A call did not settle within its timeout. */
class CallTimeout extends Error {}

/** Waits for a result. @throws CallTimeout after `ms` milliseconds */
async function withTimeout<Answer>(ms: number, answer: Promise<Answer>): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new CallTimeout(`silent for ${ms} ms`)), ms)
  try {
    return await Promise.race([answer, promise])
  } finally {
    clearTimeout(timer)
  }
}

function createClient(url: string): MongoClient {
  try {
    return new MongoClient(url, {
      serverSelectionTimeoutMS: SELECTION_TIMEOUT_MS,
      connectTimeoutMS: SELECTION_TIMEOUT_MS,
      socketTimeoutMS: SOCKET_TIMEOUT_MS,
      ignoreUndefined: true,
    })
  } catch (error) {
    throw new Error('The MongoDB connection string must look like mongodb://[user:password@]host:port/database.', {
      cause: error,
    })
  }
}

/** Whether a write failed because a document with its id exists. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE
}

/** Whether the server or the connection to it failed. A bulk write wraps that error in a server error. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof MongoServerError) {
    const { errorResponse, code } = error
    return errorResponse instanceof Error ? isUnavailable(errorResponse) : UNAVAILABLE_CODES.includes(code)
  }
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoOperationTimeoutError ||
    (error instanceof MongoError && /Topology|NotConnected|Closed|WaitQueue/.test(error.name)) ||
    error instanceof CallTimeout ||
    isSocketError(error)
  )
}

/** Whether an error is the socket's own: the driver passes it on when the peer closed just before a write. */
function isSocketError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^(E[A-Z]+|ERR_(STREAM|SOCKET)_\w+)$/.test(code)
}

function toUnavailable(error: unknown): StoreUnavailable {
  const reason = error instanceof Error ? error.message : String(error)
  return new StoreUnavailable(`MongoDB does not respond: ${reason}`, { cause: error })
}
