import { ErrorType, EventStoreDBClient } from '@eventstore/db-client'
import type { EventToAppend, RecordedEvent } from '../../kernel/event.ts'
import { type AppendResult, type EventLog, type LogPage, START } from '../../ports/event-log.ts'
import { collect, isErrorOfType, toUnavailable, withReadRetry } from './calls.ts'
import { follow, readPositionOf } from './follow.ts'
import { fromServerEvent, isSystemEvent, positionOf, toServerEvent } from './recorded.ts'

const LIMIT = 1_000
const DEADLINE_MS = 5_000

/** A client, and the milliseconds after which a call is given up. */
interface Server {
  readonly client: EventStoreDBClient
  readonly deadline: number
}

/**
 * The event log on EventStoreDB, from a connection string (`esdb://host:port?tls=false`). One append takes 1 MiB at most;
 * a larger one is a RangeError. `readAll` and `follow` take START or a position that the log gave.
 * @param deadline milliseconds after which a call is given up
 * @throws Error when the string does not parse, LogUnavailable when the server does not answer.
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
      // It cancels what is under way at once; what it then waits for may never come from a server that was silent.
      void client.dispose()
    },
  }
  // A fresh connection is warmed by one call before many use it at once.
  await log.head()
  return log
}

function connect(url: string): EventStoreDBClient {
  try {
    const client = EventStoreDBClient.connectionString(url)
    // The client's shared append channel never rejects when the server is silent, and its write queue rejects unheard
    // when the server dies, which ends the process. A client that supports no batches makes one call for each append.
    return Object.assign(client, { supports: async () => false })
  } catch (error) {
    throw new Error('The EventStoreDB connection string must look like esdb://[user:password@]host:port?tls=false.', {
      cause: error,
    })
  }
}

/** One append, never repeated blindly: after a failure the caller reads the tail and decides. */
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
      throw new RangeError(`${events.length} events for ${stream} are larger than EventStoreDB takes in one append.`)
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

/** The server reads from a position inclusive, and knows no filter here: what lies at `after` and system events are left out. */
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

/** Backwards from the end, past system events. */
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
