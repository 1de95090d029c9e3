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
/** A call, which may be several commands, has failed after so long. */
const CALL_TIMEOUT_MS = 30_000

/** Server errors that mean "not now": stepping down, shutting down, no primary. */
const UNAVAILABLE_CODES: readonly unknown[] = [91, 189, 10107, 11600, 11602, 13435, 13436]
const DUPLICATE = 11_000

/** A way to a database. The driver reconnects by itself; a client that stopped doing so is replaced. */
export interface MongoConnection {
  /** Makes a call. @throws StoreUnavailable when the server is away: nobody knows whether the call had an effect */
  readonly withDb: <Answer>(call: (db: Db) => Promise<Answer>) => Promise<Answer>
  readonly close: () => Promise<void>
}

/**
 * Connects to the database that the URL's path names (`ringledger` when it names none).
 *
 * The driver (7.9) waits for ever when it writes to a socket that was closed in the same turn: a call of its monitor
 * then ends all monitoring, so that no server is ever found again, and any other call never ends. So calls have a time
 * limit, and a client that overran it, or found no server in time, makes way for a fresh one.
 * @throws Error when the string does not parse, StoreUnavailable when no server answers.
 */
export async function connect(url: string): Promise<MongoConnection> {
  let client = createClient(url)
  try {
    await client.connect()
  } catch (error) {
    await client.close()
    throw isUnavailable(error) ? toUnavailable(error) : error
  }
  const [, named] = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url) ?? []
  const name = named ? decodeURIComponent(named) : DATABASE
  let closed = false
  const replace = (stuck: MongoClient) => {
    if (client !== stuck || closed) return
    client = createClient(url)
    stuck.close().catch(() => {})
  }
  return {
    async withDb(call) {
      const asked = client
      try {
        return await withTimeout(CALL_TIMEOUT_MS, call(asked.db(name)))
      } catch (error) {
        if (error instanceof CallTimeout || error instanceof MongoServerSelectionError) replace(asked)
        throw isUnavailable(error) ? toUnavailable(error) : error
      }
    },
    close: () => {
      closed = true
      return client.close()
    },
  }
}

/** A call that did not end in time. */
class CallTimeout extends Error {}

/** What a call answers. @throws Silence after so many ms */
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

/** Whether a write was refused because a document of that id is there. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE
}

/** Whether it was the server, or the way to it, that failed. A bulk write wraps whatever ended it as a server's error. */
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

/** A socket's own error, which the driver lets through when the other side hung up just before it wrote. */
function isSocketError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^(E[A-Z]+|ERR_(STREAM|SOCKET)_\w+)$/.test(code)
}

function toUnavailable(error: unknown): StoreUnavailable {
  const reason = error instanceof Error ? error.message : String(error)
  return new StoreUnavailable(`MongoDB does not answer: ${reason}`, { cause: error })
}
