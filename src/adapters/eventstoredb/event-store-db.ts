import { EventStoreDBClient } from '@eventstore/db-client'
import type { RecordedEvent } from '../../kernel/event.ts'
import { type EventLog, type LogPage, START } from '../../ports/event-log.ts'
import { ALL_EVENTS, type LogFilter } from '../../ports/log-filter.ts'
import { createBatchedAppends } from './batched-appends.ts'
import { collect, withReadRetry } from './calls.ts'
import { createFilteredReads } from './filtered-reads.ts'
import { createPassOver } from './passed-over.ts'
import { logRead, type ReadFrom, streamRead } from './requests.ts'
import { eventsOf, positionsOf } from './responses.ts'
import { openStreamsService, type ReadOptions, type StreamsService } from './streams-service.ts'

const LIMIT = 1_000
const DEADLINE_MS = 5_000
/** The first call may take so many times longer: a server that has just started answers late. */
const FIRST_CALL = 3

/** The server's streams, and the timeout of a call in milliseconds. */
interface Server {
  readonly service: StreamsService
  readonly deadline: number
}

/**
 * Opens the event log on EventStoreDB (23.10 or later), from a connection string (`esdb://host:port?tls=false`). An append
 * larger than 1 MiB throws a RangeError. `readAll` and `follow` take START or a position that the log returned.
 * @param deadline timeout of a call in milliseconds
 * @throws Error when the string does not parse, LogUnavailable when the server does not respond.
 */
export async function openEventStoreDb(url: string, deadline = DEADLINE_MS): Promise<EventLog> {
  const service = openStreamsService(connect(url))
  const server: Server = { service, deadline }
  const closing = new AbortController()
  const leaderHead = () => head(server, { requiresLeader: true })
  const passOver = createPassOver(service, leaderHead, deadline)
  const filtered = createFilteredReads({ service, passOver, deadline })
  const log: EventLog = {
    append: createBatchedAppends(service, deadline),
    read: (stream, from, limit = LIMIT) => readStream(server, stream, from, limit),
    readAll: (after, limit = LIMIT, filter = ALL_EVENTS) =>
      hasCriteria(filter)
        ? filtered.readPage(after, limit, filter)
        : withReadRetry(() => readPage(server, after, limit)),
    follow: (after, signal, filter = ALL_EVENTS) =>
      filtered.follow(after, AbortSignal.any([signal, closing.signal]), filter),
    head: () => withReadRetry(() => head(server)),
    async close() {
      closing.abort()
      filtered.close()
      service.close()
    },
  }
  // One call opens the connection before many use it at once.
  try {
    await withReadRetry(() => head({ service, deadline: deadline * FIRST_CALL }))
    return log
  } catch (error) {
    await log.close()
    throw error
  }
}

const hasCriteria = ({ types, kinds, partitions }: LogFilter) => Boolean(types || kinds || partitions)

function connect(url: string): EventStoreDBClient {
  try {
    return EventStoreDBClient.connectionString(url)
  } catch (error) {
    throw new Error('The EventStoreDB connection string must look like esdb://[user:password@]host:port?tls=false.', {
      cause: error,
    })
  }
}

async function readStream(
  { service, deadline }: Server,
  stream: string,
  from: number,
  limit: number,
): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = []
  for (;;) {
    const count = limit - events.length
    if (count <= 0) return events
    // A stream with a retention begins later than it was asked for.
    const next = (events.at(-1)?.revision ?? from - 1) + 1
    const request = streamRead(stream, next, count)
    const { messages, isPartial } = await withReadRetry(() => collect(service, request, deadline))
    events.push(...eventsOf(messages))
    if (!isPartial) return events
  }
}

/** Reads without a filter. The server reads from a position inclusive, so the event at `after` is dropped here. */
async function readPage({ service, deadline }: Server, after: number, limit: number): Promise<LogPage> {
  const count = limit + (after < 0 ? 0 : 1)
  const { messages, isPartial } = await collect(service, logRead(after < 0 ? 'start' : after, count), deadline)
  const positions = positionsOf(messages)
  return {
    events: eventsOf(messages).filter(({ position }) => position > after),
    position: Math.max(after, positions.at(-1) ?? after),
    end: !isPartial && positions.length < count,
  }
}

/** Position of the newest event: reads backwards from the end, past the server's own events. */
async function head({ service, deadline }: Server, options?: ReadOptions): Promise<number> {
  let from: ReadFrom = 'end'
  for (let count = 8; ; count = LIMIT) {
    const { messages, isPartial } = await collect(service, logRead(from, count, 'backwards'), deadline, options)
    const [newest] = eventsOf(messages)
    if (newest) return newest.position
    const positions = positionsOf(messages)
    const oldest = positions.at(-1)
    if (oldest === undefined || (!isPartial && positions.length < count)) return START
    from = oldest
  }
}
