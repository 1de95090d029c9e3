import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store-db.ts'
import { openSqliteEventLog } from '../../src/adapters/sqlite/event-log.ts'
import type { MasterKey, MasterKeys } from '../../src/main/config.ts'
import { openRoot, resealRoot } from '../../src/main/keyring.ts'
import { keyIdOf } from '../../src/main/sealing.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import { type EventLog, LogUnavailable } from '../../src/ports/event-log.ts'
import { freshStream, someEvents } from '../support/fixtures/events.ts'
import { createMemoryLog } from '../support/memory/event-log.ts'
import { eventStoreUrl } from '../support/servers.ts'

type Log = Pick<EventLog, 'append' | 'read'>

const ports = { clock, random }
const newKey = (source = 'MASTER_KEY'): MasterKey => ({ key: randomBytes(32), source })
const keysOf = (current: MasterKey, previous: MasterKey | null = null): MasterKeys => ({ current, previous })
const open = (log: Log, ...keys: Parameters<typeof keysOf>) => openRoot(log, keysOf(...keys), ports)
const reseal = (log: Log, ...keys: Parameters<typeof keysOf>) => resealRoot(log, keysOf(...keys), ports)

/** The log with streams of its own, as if nothing else had been written. */
function isolated(log: EventLog): Log {
  const suffix = randomUUID()
  return {
    append: (stream, expected, events) => log.append(`${stream}-${suffix}`, expected, events),
    read: (stream, from, limit) => log.read(`${stream}-${suffix}`, from, limit),
  }
}

const eventStore = eventStoreUrl()
const folder = mkdtempSync(join(tmpdir(), 'ringledger-keyring-'))
afterAll(() => rmSync(folder, { recursive: true }))

const logs: readonly { readonly name: string; readonly openLog: () => Promise<EventLog> }[] = [
  { name: 'SQLite', openLog: () => openSqliteEventLog(join(folder, `${randomUUID()}.db`)) },
  ...(eventStore === null ? [] : [{ name: 'EventStoreDB', openLog: () => openEventStoreDb(eventStore) }]),
]

describe.each(logs)('the root over $name', ({ openLog }) => {
  it('is random, and made once by first starts at once', async () => {
    const log = await openLog()
    const shared = isolated(log)
    const key = newKey()
    const roots = await Promise.all(Array.from({ length: 8 }, () => open(shared, key)))
    expect(new Set(roots.map((root) => root.toString('hex'))).size).toBe(1)
    expect(roots[0]).not.toEqual(key.key)
    expect(await open(shared, key)).toEqual(roots[0])
    expect(await shared.read('keyring-5e-all', 0)).toHaveLength(1)
    await log.close()
  })

  it('of first starts at once with keys of their own is made by one; the others end', async () => {
    const log = await openLog()
    const shared = isolated(log)
    const starts = await Promise.allSettled(Array.from({ length: 4 }, () => open(shared, newKey())))
    expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await log.close()
  })
})

describe('a master key', () => {
  it('that is not the one of the data is named in one sentence, and nothing is written', async () => {
    const log = createMemoryLog()
    const [mine, other, older] = [newKey(), newKey('/data/master.key'), newKey('MASTER_KEY_PREVIOUS')]
    await open(log, mine)
    const [id, otherId, olderId] = [mine, other, older].map(({ key }) => keyIdOf(key))
    await expect(open(log, other)).rejects.toThrow(
      `The data is sealed under the master key ${id}, and /data/master.key is the key ${otherId}; start with ${id}, or name it in MASTER_KEY_PREVIOUS.`,
    )
    await expect(open(log, other, older)).rejects.toThrow(`MASTER_KEY_PREVIOUS is the key ${olderId};`)
    await expect(reseal(log, other)).rejects.toThrow(`sealed under the master key ${id}`)
    expect(log.events).toHaveLength(1)
  })

  it('is rotated without a change of the root: with the previous one, then by reseal, then alone', async () => {
    const log = createMemoryLog()
    const [old, next] = [newKey(), newKey()]
    const root = await open(log, old)
    expect(await open(log, next, old)).toEqual(root)
    expect(await open(log, old)).toEqual(root)
    expect(await reseal(log, next, old)).toBe(true)
    expect(await open(log, next)).toEqual(root)
    await expect(open(log, old)).rejects.toThrow(keyIdOf(next.key))
    expect(await open(log, old, next)).toEqual(root)
    expect(await reseal(log, next, old)).toBe(false)
    expect(log.events).toHaveLength(2)
  })

  it('is rotated many times', async () => {
    const log = createMemoryLog()
    let key = newKey()
    const root = await open(log, key)
    for (let n = 0; n < 1_001; n += 1) {
      const next = newKey()
      await reseal(log, next, key)
      key = next
    }
    expect(await open(log, key)).toEqual(root)
  })

  it('is not made by a reseal, which a log without one refuses', async () => {
    const log = createMemoryLog()
    await expect(reseal(log, newKey())).rejects.toThrow(
      'The event log that EVENT_LOG_URL names holds no data of the platform.',
    )
    expect(log.events).toEqual([])
  })

  it.each(['before', 'after'])(
    'whose reseal is cut off %s its append opens the data still, and reseals again',
    async (when) => {
      const log = createMemoryLog()
      const [old, next] = [newKey(), newKey()]
      const root = await open(log, old)
      const cut: Log = {
        ...log,
        async append(...given) {
          if (when === 'after') await log.append(...given)
          throw new LogUnavailable('cut off')
        },
      }
      await expect(reseal(cut, next, old)).rejects.toThrow('cut off')
      expect(await open(log, next, old)).toEqual(root)
      expect(await reseal(log, next, old)).toBe(when === 'before')
      expect(await open(log, next)).toEqual(root)
    },
  )

  it('is rotated by two reseals at once', async () => {
    const log = createMemoryLog()
    const [old, next] = [newKey(), newKey()]
    const root = await open(log, old)
    await Promise.all([reseal(log, next, old), reseal(log, next, old)])
    expect(log.events).toHaveLength(2)
    expect(await open(log, next)).toEqual(root)
  })

  it('is rotated by one of two reseals at once to keys of their own; the other ends', async () => {
    const log = createMemoryLog()
    const [old, one, other] = [newKey(), newKey(), newKey()]
    await open(log, old)
    const reseals = await Promise.allSettled([reseal(log, one, old), reseal(log, other, old)])
    expect(reseals.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(log.events).toHaveLength(2)
  })
})

describe('data of another format', () => {
  it.each(['keyring-all', 'platform-all'])(
    'is refused, and nothing is written: an earlier one, known by its stream %s',
    async (stream) => {
      const log = createMemoryLog()
      await log.append(stream, -1, someEvents(1))
      for (const act of [open, reseal]) {
        await expect(act(log, newKey())).rejects.toThrow(
          'The event log has format 1 of an earlier program, and this one reads format 2 alone; name an empty event log in EVENT_LOG_URL.',
        )
      }
      expect(log.events).toHaveLength(1)
    },
  )

  it.each([
    [1, 'an earlier'],
    [3, 'a later'],
  ])('is refused: format %i in the events of the root', async (format, writer) => {
    const [made, log] = [createMemoryLog(), createMemoryLog()]
    const key = newKey()
    await open(made, key)
    const events = made.events.map((event) => ({ ...event, data: { ...Object(event.data), format } }))
    await log.append('keyring-5e-all', -1, events)
    await expect(open(log, key)).rejects.toThrow(`The event log has format ${format} of ${writer} program`)
  })

  it('is no other data: a log that something else wrote to is taken as empty', async () => {
    const log = createMemoryLog()
    await log.append(freshStream(), -1, someEvents(1))
    expect(await open(log, newKey())).toHaveLength(32)
  })
})
