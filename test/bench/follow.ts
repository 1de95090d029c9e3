import { randomUUID } from 'node:crypto'
import { EventStoreDBClient, eventTypeFilter } from '@eventstore/db-client'
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store-db.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { eventOf } from './append.ts'
import { alternate, type Figure, figureOf, secondsOf } from './measure.ts'

const EVENTS = 20_000
const WANTED = 100
const APPEND = 250
const WANTED_TYPE = 'WantedHappened'

/** Appends events, one in 200 of them wanted; resolves to the position before them. */
async function fill(log: EventLog): Promise<number> {
  const before = await log.head()
  for (let n = 0; n < EVENTS; n += APPEND) {
    const events = Array.from({ length: APPEND }, (_, k) =>
      (n + k) % (EVENTS / WANTED) === 77 ? { ...eventOf(), type: WANTED_TYPE } : eventOf(),
    )
    await log.append(`bench-00-${randomUUID()}`, -1, events)
  }
  return before
}

/** Follows the log until it has the wanted events. */
async function follow(log: EventLog, after: number): Promise<void> {
  const stop = new AbortController()
  let seen = 0
  for await (const { events } of log.follow(after, stop.signal, { types: new Set([WANTED_TYPE]) })) {
    seen += events.length
    if (seen >= WANTED) stop.abort()
  }
}

/** Reads pages of the log up to its end. */
async function readPages(log: EventLog, after: number): Promise<void> {
  const filter = { types: new Set([WANTED_TYPE]) }
  for (let position = after, end = false; !end; ) ({ position, end } = await log.readAll(position, WANTED / 2, filter))
}

/** The bare client's subscription, with the search window that measured fastest. */
async function subscribe(client: EventStoreDBClient, after: number): Promise<void> {
  const subscription = client.subscribeToAll({
    fromPosition: { commit: BigInt(after), prepare: BigInt(after) },
    filter: eventTypeFilter({ regex: `^${WANTED_TYPE}$`, maxSearchWindow: 500 }),
  })
  subscription.on('error', () => {})
  let seen = 0
  for await (const { event } of subscription) if (event && ++seen >= WANTED) break
  await subscription.unsubscribe()
}

const msOf = async (work: () => Promise<void>) => 1_000 * (await secondsOf(work))

/** Following 100 wanted of 20,000 events, compared with a bare subscription that the server filters. */
export async function following(url: string): Promise<readonly Figure[]> {
  const log = await openEventStoreDb(url)
  const client = EventStoreDBClient.connectionString(url)
  await log.append(`bench-00-${randomUUID()}`, -1, [eventOf()])
  const after = await fill(log)
  const bare = () => msOf(() => subscribe(client, after))
  const followed = await alternate(() => msOf(() => follow(log, after)), bare)
  const read = await alternate(() => msOf(() => readPages(log, after)), bare)
  await Promise.all([log.close(), client.dispose()])
  return [
    figureOf('100 wanted of 20,000 events, follower', 'ms', { atMost: 1.5 }, followed),
    figureOf('the same, in pages of 50 up to the end', 'ms', { atMost: 2 }, read),
  ]
}
