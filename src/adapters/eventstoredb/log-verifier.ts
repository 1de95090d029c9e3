import type { RecordedEvent } from '../../kernel/event.ts'
import type { CheckedEvent, LogVerifier } from '../../ports/log-verifier.ts'
import { openEventStoreDb } from './event-store-db.ts'

const checkedEventOf = (event: RecordedEvent): CheckedEvent => {
  const { position, stream, revision, type } = event
  return { position, stream, revision, type, event, problem: null, hasChecksum: false }
}

/**
 * Opens a log on EventStoreDB to check it. The server keeps hashes of its complete chunks and checks them when it starts, so
 * events are not checked byte by byte here.
 * @throws Error when the string does not parse, LogUnavailable when the server does not respond
 */
export async function openEventStoreDbVerifier(url: string): Promise<LogVerifier> {
  const log = await openEventStoreDb(url)
  return {
    storeHasChecksums: true,
    head: () => log.head(),
    async read(after, limit) {
      const { events, ...page } = await log.readAll(after, limit)
      return { ...page, events: events.map(checkedEventOf) }
    },
    close: () => log.close(),
  }
}
