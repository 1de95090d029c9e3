import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { EventStoreDBClient } from '@eventstore/db-client'
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store-db.ts'
import { projections } from '../../src/main/registry.ts'
import { catchUp } from './catch-up.ts'
import { copyGeneratedLog } from './copied-log.ts'
import { alternate, type Figure, figureOf, secondsOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

/** Reads the whole log by the bare client; resolves to the seconds. */
async function readBare(url: string): Promise<number> {
  const client = EventStoreDBClient.connectionString(url)
  let seen = 0
  const seconds = await secondsOf(async () => {
    for await (const { event } of client.readAll()) if (event) seen += 1
  })
  await client.dispose()
  if (seen === 0) throw new Error('There was nothing to read.')
  return seconds
}

/** A replay from EventStoreDB into all projections on SQLite, on one thread, compared with a bare client's read of the same log. */
export function replayFromEventStore(url: string, events: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const log = await openEventStoreDb(url)
    await copyGeneratedLog(directory, events, log)
    await log.close()
    const pairs = await alternate(
      async () => events / (await catchUp(await openEventStoreDb(url), join(directory, `${randomUUID()}.db`))),
      async () => events / (await readBare(url)),
    )
    const name = `replay from EventStoreDB into ${projections.length} projections on SQLite, ${events.toLocaleString('en-US')} events`
    return [figureOf(name, 'events/s', { atLeast: 0.7 }, pairs)]
  })
}
