import { ErrorType, EventStoreDBClient } from '@eventstore/db-client'
import type { EventToAppend, RecordedEvent } from '../../kernel/event.ts'
import { type AppendResult, type EventLog, type LogPage, START } from '../../ports/event-log.ts'
import { collect, isErrorOfType, toUnavailable, withReadRetry } from './calls.ts'
import { follow, readPositionOf } from './follow.ts'
import { fromServerEvent, isSystemEvent, positionOf, toServerEvent } from './recorded.ts'

const LIMIT = 1_000
const DEADLINE_MS = 5_000

/** A client, and the timeout of a call in milliseconds. */
interface Server {
  readonly client: EventStoreDBClient
  readonly deadline: number
}

/**
 * Opens the event log on EventStoreDB, from a connection string (`esdb://host:port?tls=false`). An append larger than 1 MiB
 * throws a RangeError. `readAll` and `follow` take START or a position that the log returned.
 * @param deadline timeout of a call in milliseconds
 * @throws Error when the string does not parse, LogUnavailable when the server does not respond.
 */
export async function openEventStoreDb(url: string, deadline = DEADLINE_MS): Promise<EventLog> {
  const client = connect(url)
  const server: Server = { client, deadline }
  const closing = new AbortController()
  const readAll: EventLog['readAll'] = (after, limit = LIMIT, types) =>
    withReadRetry(() => readPage(server, after, limit, types))
  const log: EventLog = {
    append: (stream, expected, events) => append(server, stream, expected, events),
    read: (stream, from, limit = LIMIT) => readStream(server, stream, from, limit),
    readAll,
    follow: (after, signal) => follow(client, readAll, after, AbortSignal.any([signal, closing.signal])),
    head: () => withReadRetry(() => head(server)),
    close: async () => {
      closing.abort()
      // Cancels pending calls at once. It then waits for the server, which may stay silent, so it is not awaited.
      void client.dispose()
    },
  }
  // One call opens the connection before many use it at once.
  await log.head()
  return log
}

function connect(url: string): EventStoreDBClient {
  try {
    const client = EventStoreDBClient.connectionString(url)
    // The client's batch append never rejects when the server is silent, and when the server dies, its write queue rejects
    // without a handler, which ends the process. A client that supports no batches makes one call for each append.
    return Object.assign(client, { supports: async () => false })
  } catch (error) {
    throw new Error('The EventStoreDB connection string must look like esdb://[user:password@]host:port?tls=false.', {
      cause: error,
    })
  }
}

/** Appends without a retry: after a failure the caller reads the end of the stream and decides. */
async function append(
  { client, deadline }: Server,
  stream: string,
  expected: number,
  events: readonly EventToAppend[],
): Promise<AppendResult> {
  try {
    const { nextExpectedRevision, position } = await client.appendToStream(stream, events.map(toServerEvent), {
      expectedRevision: expected < 0 ? 'no_stream' : BigInt(expected),
      deadline,
    })
    return { ok: true, revision: Number(nextExpectedRevision), position: Number(position?.prepare ?? START) }
  } catch (error) {
    if (isErrorOfType(error, ErrorType.WRONG_EXPECTED_VERSION)) return { ok: false, conflict: true }
    if (isErrorOfType(error, ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED))
      throw new RangeError(`${events.length} events for ${stream} are larger than the maximum append of EventStoreDB.`)
    throw toUnavailable(error)
  }
}

async function readStream(
  { client, deadline }: Server,
  stream: string,
  from: number,
  limit: number,
): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = []
  for (;;) {
    const maxCount = limit - events.length
    if (maxCount <= 0) return events
    const fromRevision = BigInt(from + events.length)
    const batch = await withReadRetry(() => collect(client.readStream(stream, { fromRevision, maxCount }), deadline))
    for (const { event } of batch.events) if (event) events.push(fromServerEvent(event))
    if (!batch.isPartial) return events
  }
}

/** The server reads from a position inclusive and without a filter, so the event at `after` and system events are dropped here. */
async function readPage(
  { client, deadline }: Server,
  after: number,
  limit: number,
  types?: ReadonlySet<string>,
): Promise<LogPage> {
  const maxCount = limit + (after < 0 ? 0 : 1)
  const { events, isPartial } = await collect(
    client.readAll({ fromPosition: readPositionOf(after), maxCount }),
    deadline,
  )
  const read = events.flatMap(({ event }) => (event && positionOf(event) > after ? [event] : []))
  const last = read.at(-1)
  return {
    events: read.filter((event) => !isSystemEvent(event) && types?.has(event.type) !== false).map(fromServerEvent),
    position: last ? positionOf(last) : after,
    end: !isPartial && events.length < maxCount,
  }
}

/** Position of the newest event: reads backwards from the end, past system events. */
async function head({ client, deadline }: Server): Promise<number> {
  let fromPosition: ReturnType<typeof readPositionOf> = 'end'
  for (let maxCount = 8; ; maxCount = LIMIT) {
    const options = { direction: 'backwards', fromPosition, maxCount } as const
    const { events, isPartial } = await collect(client.readAll(options), deadline)
    const read = events.flatMap(({ event }) => (event ? [event] : []))
    const newest = read.find((event) => !isSystemEvent(event))
    if (newest) return positionOf(newest)
    const oldest = read.at(-1)
    if (!oldest || (!isPartial && events.length < maxCount)) return START
    fromPosition = readPositionOf(positionOf(oldest))
  }
}
