import { expect, test } from 'vitest'
import { systemClock, systemRandom } from '../../../src/main/system.ts'
import { createSessionIds } from '../../../src/reactions/session-ids.ts'
import { createMemoryOperationalStore } from '../../support/memory/operational-store.ts'

test('Sessions of two processes have different ids that a browser can send as numbers, which rise within a process', async () => {
  const ports = { ops: createMemoryOperationalStore(), clock: systemClock, random: systemRandom }
  const processes = [createSessionIds(ports), createSessionIds(ports)]
  const all = await Promise.all(
    processes.map(async (next) => {
      const ids = await Promise.all(Array.from({ length: 3_000 }, next))
      expect(ids.every((id) => /^\d{16}$/.test(id) && Number.isSafeInteger(Number(id)))).toBe(true)
      expect(ids).toEqual(ids.toSorted())
      return ids
    }),
  )
  expect(new Set(all.flat()).size).toBe(6_000)
})

test('Ids of one place in two worlds have other random bits', async () => {
  const first = () =>
    createSessionIds({ ops: createMemoryOperationalStore(), clock: systemClock, random: systemRandom })()
  expect(new Set(await Promise.all(Array.from({ length: 8 }, first))).size).toBe(8)
})
