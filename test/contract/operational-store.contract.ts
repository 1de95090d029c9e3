import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OperationalStore } from '../../src/ports/operational-store.ts'

/** A store under test: two sessions of one store, as two processes would have them. */
export interface OperationalStoreSetup {
  readonly store: OperationalStore
  readonly other: OperationalStore
  readonly close: () => Promise<void>
}

const NOW = 1_772_366_400_000

/** What every operational store does. */
export function operationalStoreContract(name: string, start: () => Promise<OperationalStoreSetup>): void {
  describe(`operational store on ${name}`, () => {
    let under: OperationalStoreSetup
    let store: OperationalStore
    beforeAll(async () => {
      under = await start()
      store = under.store
    })
    afterAll(() => under.close())

    const fresh = (kind = 'test') => `${kind}:${randomUUID()}`
    const either = (n: number) => (n % 2 ? store : under.other)

    test('keeps any JSON value under its key, for every session', async () => {
      const key = fresh()
      const values = [
        { text: 'Zoë 日本 🇨🇭 \u0000', $set: { 'a.b': [1, null] } },
        [1, 'a'],
        'text',
        '',
        12.5,
        0,
        true,
        null,
      ]
      for (const [n, value] of values.entries()) {
        await store.put(key, value, null)
        expect(await under.other.get(key, NOW)).toEqual({ key, value, version: n + 1, expiresAt: null })
      }
      expect(await store.get(fresh(), NOW)).toBeNull()
    })

    test('keeps a large value', async () => {
      const key = fresh()
      const value = { fold: 'é'.repeat(1_000_000) }
      await store.put(key, value, null)
      expect((await store.get(key, NOW))?.value).toEqual(value)
    })

    test('keeps bytes, those of a larger buffer too, and lists them', async () => {
      const key = fresh()
      const large = Uint8Array.from({ length: 1_000_000 }, (_, n) => n % 251)
      for (const [n, bytes] of [new Uint8Array(), large, large.subarray(3, 50)].entries()) {
        await either(n).put(key, bytes, null)
        const { value, version } = (await either(n + 1).get(key, NOW)) ?? {}
        expect(version).toBe(n + 1)
        expect(value).toBeInstanceOf(Uint8Array)
        expect(Buffer.compare(value as Uint8Array, bytes)).toBe(0)
      }
      expect(await store.putIf(key, 3, Uint8Array.of(7), null, NOW)).toBe(true)
      const [entry] = await under.other.list(key, NOW)
      expect(entry?.value).toEqual(expect.objectContaining({ 0: 7, length: 1 }))
      await store.put(key, { text: 'again' }, null)
      expect((await under.other.get(key, NOW))?.value).toEqual({ text: 'again' })
    })

    test('deletes an entry', async () => {
      const key = fresh()
      await store.put(key, 1, null)
      await store.delete(key)
      await store.delete(key)
      expect(await store.get(key, NOW)).toBeNull()
      expect(await store.putIf(key, 0, 2, null, NOW)).toBe(true)
    })

    test('answers each of the calls that are made at once by itself', async () => {
      const [one, other] = [fresh(), fresh()]
      const keys = [`${one}:a`, `${one}:b`, `${other}:a`]
      await Promise.all(keys.map((key, n) => store.put(key, n, n === 1 ? NOW : null)))
      await Promise.all([store.delete(keys[0] ?? ''), store.put(`${one}:c`, 'c', NOW + 1)])
      const [deleted, expired, kept, again, none] = await Promise.all(
        [...keys, keys[2] ?? '', fresh()].map((key) => store.get(key, NOW)),
      )
      expect([deleted, expired, none]).toEqual([null, null, null])
      expect(kept).toMatchObject({ key: keys[2], value: 2 })
      expect(again).toEqual(kept)
      const lists = await Promise.all([`${one}:`, `${other}:`, one, fresh()].map((prefix) => store.list(prefix, NOW)))
      expect(lists.map((list) => list.map(({ key }) => key))).toEqual([[`${one}:c`], [keys[2]], [`${one}:c`], []])
    })

    test('stores the last of several writes of an entry that are made at once', async () => {
      const key = fresh()
      for (const [writes, value] of [
        [[1, 2, 3], 3],
        [[4, null], undefined],
        [[null, 5], 5],
      ] as const) {
        await Promise.all(writes.map((each) => (each === null ? store.delete(key) : store.put(key, each, null))))
        expect((await under.other.get(key, NOW))?.value).toBe(value)
      }
    })

    test('puts and deletes many entries at once', async () => {
      await store.put('many:old', 1, null)
      await store.put('many:gone', 1, null)
      await store.writeAll([
        { key: 'many:new', value: { n: 1 }, expiresAt: NOW + 1 },
        { key: 'many:old', value: [2], expiresAt: null },
        { key: 'many:gone', value: undefined, expiresAt: null },
      ])
      await store.writeAll([])
      expect((await store.list('many:', NOW)).map(({ key, value, version }) => [key, value, version])).toEqual([
        ['many:new', { n: 1 }, 1],
        ['many:old', [2], 2],
      ])
      expect(await store.get('many:new', NOW + 1)).toBeNull()
    })

    test('never returns an expired entry, deleted or not', async () => {
      const key = fresh()
      await store.put(key, 'soon gone', NOW + 10)
      expect(await store.get(key, NOW + 9)).toMatchObject({ value: 'soon gone', expiresAt: NOW + 10 })
      expect(await store.get(key, NOW + 10)).toBeNull()
      expect(await store.list(key, NOW + 10)).toEqual([])
      expect(await store.list(key, NOW + 9)).toHaveLength(1)
    })

    test('deletes expired entries and no others', async () => {
      const prefix = fresh('sweep')
      const expiries = [NOW - 5, NOW, NOW + 5, null]
      for (const [n, expiry] of expiries.entries()) await store.put(`${prefix}:${n}`, n, expiry)
      expect(await store.deleteExpired(NOW)).toBeGreaterThanOrEqual(2)
      expect((await store.list(prefix, NOW - 100)).map(({ value }) => value)).toEqual([2, 3])
    })

    test('lists by prefix, in the order of keys, in pages', async () => {
      const prefix = fresh('list')
      const keys = ['a', 'b%', 'b_', 'bc', 'd'].map((rest) => `${prefix}:${rest}`)
      for (const key of keys.toReversed()) await store.put(key, key, null)
      await store.put(`${prefix}-other`, 0, null)
      const listed = await store.list(`${prefix}:`, NOW)
      expect(listed.map(({ key }) => key)).toEqual(keys)
      expect(listed.map(({ value }) => value)).toEqual(keys)
      const [first, second = ''] = keys
      const page = await store.list(`${prefix}:`, NOW, { after: second, limit: 2 })
      expect(page.map(({ key }) => key)).toEqual(keys.slice(2, 4))
      expect(await store.list(`${first}`, NOW)).toHaveLength(1)
      expect(await store.list(`${prefix}:b_`, NOW)).toHaveLength(1)
    })

    test('puts only over the expected version', async () => {
      const key = fresh()
      expect(await store.putIf(key, 1, 'no', null, NOW)).toBe(false)
      expect(await store.putIf(key, 0, 'first', null, NOW)).toBe(true)
      expect(await store.putIf(key, 0, 'no', null, NOW)).toBe(false)
      expect(await store.putIf(key, 1, 'second', null, NOW)).toBe(true)
      expect(await store.putIf(key, 1, 'no', null, NOW)).toBe(false)
      expect(await store.get(key, NOW)).toMatchObject({ value: 'second', version: 2 })
    })

    test('treats an expired entry as missing when putting', async () => {
      const key = fresh()
      await store.put(key, 'old', NOW)
      expect(await store.putIf(key, 1, 'no', null, NOW)).toBe(false)
      expect(await store.putIf(key, 0, 'no', null, NOW - 1)).toBe(false)
      expect(await store.putIf(key, 0, 'new', null, NOW)).toBe(true)
      expect((await store.get(key, NOW))?.value).toBe('new')
    })

    test('lets one of many put at a version', async () => {
      const key = fresh()
      for (let version = 0; version < 4; version++) {
        const race = await Promise.all(
          Array.from({ length: 12 }, (_, n) => either(n).putIf(key, version, n, null, NOW)),
        )
        expect(race.filter((won) => won)).toHaveLength(1)
        expect(await store.get(key, NOW)).toMatchObject({ value: race.indexOf(true), version: version + 1 })
      }
    })

    test('adds up every increment of every session', async () => {
      const key = fresh()
      const sums = await Promise.all(
        Array.from({ length: 60 }, (_, n) => either(n).increment(key, (n % 3) + 1, NOW + 100, NOW)),
      )
      expect(new Set(sums).size).toBe(60)
      expect(Math.max(...sums)).toBe(120)
      expect((await store.get(key, NOW))?.value).toBe(120)
    })

    test('lets the first increment set the expiry, and starts over after it', async () => {
      const key = fresh()
      expect(await store.increment(key, 5, NOW + 10, NOW)).toBe(5)
      expect(await store.increment(key, -2, NOW + 99, NOW + 5)).toBe(3)
      expect((await store.get(key, NOW + 9))?.expiresAt).toBe(NOW + 10)
      const sums = await Promise.all(
        Array.from({ length: 10 }, (_, n) => either(n).increment(key, 1, NOW + 50, NOW + 10)),
      )
      expect(sums.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      expect((await store.get(key, NOW + 20))?.expiresAt).toBe(NOW + 50)
    })

    test('gives a claim to one owner until it expires or is released', async () => {
      const key = fresh('claim')
      expect(await store.claim(key, 'a', NOW + 10, NOW)).toBe(true)
      expect(await under.other.claim(key, 'b', NOW + 50, NOW + 9)).toBe(false)
      expect(await store.claim(key, 'a', NOW + 20, NOW + 5)).toBe(true)
      expect(await under.other.claim(key, 'b', NOW + 50, NOW + 19)).toBe(false)
      expect(await under.other.claim(key, 'b', NOW + 50, NOW + 20)).toBe(true)
      await store.releaseClaim(key, 'a')
      expect(await store.claim(key, 'a', NOW + 50, NOW + 21)).toBe(false)
      await under.other.releaseClaim(key, 'b')
      expect(await store.claim(key, 'a', NOW + 50, NOW + 22)).toBe(true)
    })

    test('gives a contested claim to exactly one owner, new or expired', async () => {
      const key = fresh('claim')
      for (const now of [NOW, NOW + 10, NOW + 20]) {
        const race = await Promise.all(
          Array.from({ length: 16 }, (_, n) => either(n).claim(key, `o${n}`, now + 10, now)),
        )
        expect(race.filter((won) => won)).toHaveLength(1)
      }
    })

    test('returns the log records of a series newest first, in pages, with their total', async () => {
      const series = fresh('notes')
      const noted = (at: number, n: number) => ({
        series,
        id: `n${n}`,
        at: NOW + at,
        labels: [n % 2 ? 'GET' : 'POST', String(200 + n)],
        value: { n, text: 'Zoë $a.b \u0000' },
        expiresAt: NOW + 100,
      })
      await store.appendLog([noted(0, 0), noted(1, 1)])
      await under.other.appendLog([noted(1, 2), noted(2, 3), noted(3, 4)])
      await store.appendLog([noted(50, 0), { ...noted(3, 4), series: fresh('notes') }])
      await store.appendLog([])
      const idsOf = async (page: object) => {
        const found = await store.queryLog(series, NOW, { skip: 0, limit: 10, ...page })
        return [found.total, found.records.map(({ id }) => id).join(' ')]
      }
      const { series: _series, ...last } = noted(3, 4)
      expect((await store.queryLog(series, NOW, { skip: 0, limit: 1 })).records).toEqual([last])
      expect(await idsOf({})).toEqual([5, 'n4 n3 n2 n1 n0'])
      expect(await idsOf({ skip: 1, limit: 2 })).toEqual([5, 'n3 n2'])
      expect(await idsOf({ skip: 9 })).toEqual([5, ''])
      expect(await idsOf({ after: { at: NOW + 1, id: 'n2' } })).toEqual([5, 'n1 n0'])
      expect(await idsOf({ after: { at: NOW + 1, id: 'n3' }, limit: 1 })).toEqual([5, 'n2'])
      expect(await idsOf({ after: { at: NOW + 3, id: 'n4' }, to: NOW + 2, labels: ['POST'] })).toEqual([2, 'n2 n0'])
      expect(await idsOf({ after: { at: NOW, id: 'n0' } })).toEqual([5, ''])
      expect(await idsOf({ from: NOW + 1, to: NOW + 3 })).toEqual([3, 'n3 n2 n1'])
      expect(await idsOf({ labels: ['POST'] })).toEqual([3, 'n4 n2 n0'])
      expect(await idsOf({ labels: ['POST', '204'] })).toEqual([1, 'n4'])
      expect(await idsOf({ labels: ['GET', '204'] })).toEqual([0, ''])
      expect(await idsOf({ labels: ['20'] })).toEqual([0, ''])
      expect((await store.queryLog(`${series}-other`, NOW, { skip: 0, limit: 10 })).total).toBe(0)
    })

    test('never returns an expired log record, and deletes it', async () => {
      const series = fresh('notes')
      const note = { series, labels: ['a'], value: 1 }
      await store.appendLog([
        { ...note, id: 'gone', at: NOW, expiresAt: NOW + 10 },
        { ...note, id: 'here', at: NOW, expiresAt: NOW + 11 },
      ])
      expect((await store.queryLog(series, NOW + 9, { skip: 0, limit: 10 })).total).toBe(2)
      expect((await store.queryLog(series, NOW + 10, { skip: 0, limit: 10 })).records).toMatchObject([{ id: 'here' }])
      expect(await store.deleteExpired(NOW + 10)).toBeGreaterThanOrEqual(1)
      expect(await under.other.queryLog(series, NOW, { skip: 0, limit: 10 })).toMatchObject({ total: 1 })
    })

    test('gives a claim to the same owner for several requests at once', async () => {
      const key = fresh('claim')
      const race = await Promise.all(Array.from({ length: 8 }, (_, n) => either(n).claim(key, 'me', NOW + 10, NOW)))
      expect(race).toEqual(Array.from({ length: 8 }, () => true))
    })
  })
}
