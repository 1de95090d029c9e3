import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store-db.ts'
import { openSqliteEventLog } from '../../src/adapters/sqlite/event-log.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { type EventLog, LogUnavailable } from '../../src/ports/event-log.ts'
import { openFaultProxy } from '../support/faults/fault-proxy.ts'
import { freshStream, someEvents } from '../support/fixtures/events.ts'
import { createMemoryLog } from '../support/memory/event-log.ts'
import { eventStoreUrl } from '../support/servers.ts'
import { type EventLogSetup, eventLogContract } from './event-log.contract.ts'

async function openSessions(open: () => Promise<EventLog>, clean: () => Promise<void>): Promise<EventLogSetup> {
  const [log, other] = [await open(), await open()]
  return {
    log,
    other,
    openSession: open,
    close: async () => {
      await log.close()
      await other.close()
      await clean()
    },
  }
}

eventLogContract('memory', async () => {
  const log = createMemoryLog()
  return { log, other: log, openSession: async () => log, close: async () => {} }
})

eventLogContract('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ringledger-log-'))
  return openSessions(
    async () => openSqliteEventLog(join(folder, 'events.db')),
    () => rm(folder, { recursive: true }),
  )
})

describe('an event log whose file disappears', () => {
  test('rejects every append and read as unavailable, and serves again once the file is back', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ringledger-log-'))
    const [file, away] = [join(folder, 'events.db'), join(folder, 'away.db')]
    const log = await openSqliteEventLog(file)
    const stream = freshStream()
    await log.append(stream, -1, someEvents(1))
    await rename(file, away)
    const requests = [
      ...Array.from({ length: 20 }, () => log.append(freshStream(), -1, someEvents(1))),
      log.append(stream, 0, someEvents(1)),
      log.read(stream, 0),
    ]
    for (const one of await Promise.allSettled(requests)) {
      expect(one).toMatchObject({ status: 'rejected', reason: expect.any(LogUnavailable) })
    }
    await rename(away, file)
    expect(await log.append(stream, 0, someEvents(1))).toMatchObject({ ok: true, revision: 1 })
    expect((await log.readAll(-1)).events).toHaveLength(2)
    await log.close()
    await rm(folder, { recursive: true })
  })
})

const url = eventStoreUrl()
if (url) {
  eventLogContract('EventStoreDB', () =>
    openSessions(
      () => openEventStoreDb(url),
      async () => {},
    ),
  )

  describe('EventStoreDB behind a broken connection', () => {
    test('is unavailable while the connection is cut, and serves again without being reopened', async () => {
      const way = await openFaultProxy(url)
      const log = await openEventStoreDb(way.url)
      const stream = freshStream()
      await log.append(stream, -1, someEvents(1))
      way.cut()
      await expect(log.append(stream, 0, someEvents(1))).rejects.toThrow(LogUnavailable)
      await expect(log.read(stream, 0)).rejects.toThrow(LogUnavailable)
      await expect(log.readAll(-1)).rejects.toThrow(LogUnavailable)
      way.restore()
      expect(await retryUntilAnswered(() => log.read(stream, 0))).toHaveLength(1)
      expect(await log.append(stream, 0, someEvents(1))).toMatchObject({ ok: true, revision: 1 })
      await log.close()
      await way.close()
    })

    test('is followed across the cut, with no event lost or repeated', async () => {
      const way = await openFaultProxy(url)
      const [near, far] = [await openEventStoreDb(way.url), await openEventStoreDb(url)]
      const stream = freshStream()
      const after = await far.head()
      const seen: RecordedEvent[] = []
      await far.append(stream, -1, someEvents(2))
      for await (const page of near.follow(after, new AbortController().signal)) {
        seen.push(...page.events.filter((event) => event.stream === stream))
        if (seen.length >= 6) break
        if (seen.length === 2) {
          way.cut()
          await far.append(stream, 1, someEvents(4))
          way.restore()
        }
      }
      expect(seen.map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4, 5])
      await near.close()
      await far.close()
      await way.close()
    })

    test('is unavailable when it falls silent', async () => {
      const way = await openFaultProxy(url)
      const log = await openEventStoreDb(way.url, 200)
      const stream = freshStream()
      way.stall()
      for (const call of [() => log.append(stream, -1, someEvents(1)), () => log.read(stream, 0), () => log.head()])
        await expect(call()).rejects.toThrow(LogUnavailable)
      await log.close()
      await way.close()
    })

    test('fails to open with a message, if nothing listens or the address is invalid', async () => {
      const way = await openFaultProxy(url)
      await way.close()
      await expect(openEventStoreDb(way.url)).rejects.toThrow(LogUnavailable)
      await expect(openEventStoreDb('esdb:/nonsense')).rejects.toThrow('must look like esdb://')
    })
  })
}

/** Retries until the call succeeds; the client reconnects at its own pace. */
async function retryUntilAnswered<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  const until = performance.now() + 10_000
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof LogUnavailable) || performance.now() > until) throw error
    }
  }
}
