import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store-db.ts'
import { openSqliteEventLog } from '../../src/adapters/sqlite/event-log.ts'
import type { MasterKey, MasterKeys } from '../../src/main/config.ts'
import { openRoot, resealRoot } from '../../src/main/keyring.ts'
import { encrypt, keyIdOf } from '../../src/main/sealing.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import { type EventLog, LogUnavailable, START } from '../../src/ports/event-log.ts'
import { freshStream, someEvents } from '../support/fixtures/events.ts'
import { createMemoryLog } from '../support/memory/event-log.ts'
import { eventStoreUrl } from '../support/servers.ts'

type Log = Pick<EventLog, 'append' | 'head' | 'read' | 'readAll'>

const ports = { clock, random }
const newKey = (source = 'MASTER_KEY'): MasterKey => ({ key: randomBytes(32), source })
const keysOf = (current: MasterKey, previous: MasterKey | null = null): MasterKeys => ({ current, previous })
const open = (log: Log, ...keys: Parameters<typeof keysOf>) => openRoot(log, keysOf(...keys), ports)
const reseal = (log: Log, ...keys: Parameters<typeof keysOf>) => resealRoot(log, keysOf(...keys), ports)

/** A value as it was sealed before there was a root. */
const earlierValue = ({ key }: MasterKey) => `${keyIdOf(key)}.${encrypt(key, Buffer.from('secret'), '', random)}`

/** A log that was written before there was a root, with signing secrets sealed under these keys. */
async function earlierLog(...keys: readonly MasterKey[]): Promise<EventLog> {
  const log = createMemoryLog()
  await log.append(freshStream(), -1, someEvents(1))
  for (const key of keys) {
    const [event] = someEvents(1)
    if (!event) throw new Error('There is no event.')
    await log.append(freshStream(), -1, [
      { ...event, type: 'SigningSecretRotated', data: { sealed: earlierValue(key) } },
    ])
  }
  return log
}

/** The log with streams of its own, as if nothing else had been written. */
function isolated(log: EventLog): Log {
  const suffix = randomUUID()
  return {
    append: (stream, expected, events) => log.append(`${stream}-${suffix}`, expected, events),
    read: (stream, from, limit) => log.read(`${stream}-${suffix}`, from, limit),
    readAll: async () => ({ events: [], position: START, end: true }),
    head: async () => START,
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
    expect(await shared.read('keyring-all', 0)).toHaveLength(1)
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
})

describe('data from before there was a root', () => {
  it('has its master key as the root, which a rotation then keeps', async () => {
    const [old, next] = [newKey(), newKey()]
    const log = await earlierLog(old, old)
    expect(await open(log, old)).toEqual(old.key)
    expect(await reseal(log, next, old)).toBe(true)
    expect(await open(log, next)).toEqual(old.key)
  })

  it('is taken over and rotated at once', async () => {
    const [old, next] = [newKey(), newKey()]
    const log = await earlierLog(old)
    expect(await open(log, next, old)).toEqual(old.key)
    expect(await open(log, old)).toEqual(old.key)
  })

  it('is not taken over by a key that opens nothing of it', async () => {
    const log = await earlierLog(newKey())
    const before = await log.head()
    await expect(open(log, newKey(), newKey())).rejects.toThrow(/sealed under the master key/)
    expect(await log.head()).toBe(before)
  })

  it('that two keys have sealed has the root of the one that opens the most of the given ones', async () => {
    const [one, other] = [newKey(), newKey()]
    expect(await open(await earlierLog(one, other, other), one, other)).toEqual(other.key)
    expect(await open(await earlierLog(one, other, other), one)).toEqual(one.key)
  })

  it('without a sealed value has the current key as its root', async () => {
    const key = newKey()
    expect(await open(await earlierLog(), key, newKey())).toEqual(key.key)
  })
})
