import { join } from 'node:path'
import { EventStoreDBClient } from '@eventstore/db-client'
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store-db.ts'
import { catchUp } from './catch-up.ts'
import { copyGeneratedLog } from './copied-log.ts'
import { alternate, type Figure, figureOf, secondsOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

/** Replay from an empty EventStoreDB into all projections on SQLite in this thread, beside the bare client that reads the same log. */
export function replayFromEventStore(url: string, events: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const log = await openEventStoreDb(url)
    await copyGeneratedLog(directory, events, log)
    const head = await log.head()
    await log.close()
    const client = EventStoreDBClient.connectionString(url)
    let run = 0
    const ours = async () => catchUp(await openEventStoreDb(url), join(directory, `views-${++run}.db`), head)
    const bare = () =>
      secondsOf(async () => {
        for await (const { event } of client.readAll()) if (event?.position?.commit === BigInt(head)) break
      })
    const pairs = await alternate(
      async () => events / (await ours()),
      async () => events / (await bare()),
    )
    await client.dispose()
    return [figureOf('replay from EventStoreDB into SQLite, beside a bare read', 'events/s', { atLeast: 0.7 }, pairs)]
  })
}
