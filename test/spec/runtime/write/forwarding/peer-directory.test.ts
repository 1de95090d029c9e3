import { expect, it } from 'vitest'
import { DEAD_MS } from '../../../../../src/runtime/ownership/ownership.ts'
import { enter } from '../../../../../src/runtime/ownership/presence.ts'
import { AVOIDED_MS, createPeerDirectory } from '../../../../../src/runtime/write/forwarding/peer-directory.ts'
import { createManualClock } from '../../../../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../../../../support/memory/operational-store.ts'

const KEYS = Array.from({ length: 200 }, (_, n) => `workspace-${n}`)

function platform() {
  const clock = createManualClock()
  const ops = createMemoryOperationalStore()
  return {
    clock,
    ops,
    /** A process that shows that it lives, and takes commands. */
    async process(name: string, { version = 'v1', announces = true, store = ops } = {}) {
      const owner = `${name}#1`
      const presence = await enter({ ops, clock, owner, reads: {} })
      const directory = createPeerDirectory({ ops: store, clock, owner, version })
      if (announces) await directory.announce(`http://${name}`)
      return { owner, presence, ...directory }
    },
  }
}

type Process = Awaited<ReturnType<ReturnType<typeof platform>['process']>>

/** The owners of all keys as a process sees them: itself where it would ask nobody. */
const ownersFor = (process: Process) => KEYS.map((key) => process.ownerOf(key)?.owner ?? process.owner)

/** Lets processes look at each other: a look begins with a question, and is over at the next. */
async function look({ clock }: ReturnType<typeof platform>, ...processes: readonly Process[]) {
  await clock.advance(1_000)
  for (const process of processes) process.ownerOf('any')
  await clock.advance(0)
}

it('lets all processes name the same owner, and every process own its share', async () => {
  const all = platform()
  const processes = [await all.process('a'), await all.process('b'), await all.process('c')]
  const [router] = [await all.process('d', { announces: false })]
  await look(all, ...processes, router)
  const [first, ...others] = processes.map(ownersFor)
  for (const owners of [...others, ownersFor(router)]) expect(owners).toEqual(first)
  const counts = Map.groupBy(first ?? [], (owner) => owner)
  expect(counts.size).toBe(3)
  for (const keys of counts.values()) expect(keys.length).toBeGreaterThan(KEYS.length / 6)
})

it('moves only the keys of a process that comes or goes', async () => {
  const all = platform()
  const [one, other] = [await all.process('a'), await all.process('b')]
  await look(all, one, other)
  const before = ownersFor(one)
  const third = await all.process('c')
  await look(all, one, other, third)
  const during = ownersFor(one)
  expect(during.filter((owner, n) => owner !== before[n] && owner !== third.owner)).toEqual([])
  await third.leave()
  await look(all, one, other)
  expect(ownersFor(one)).toEqual(before)
})

it('asks no process of another version', async () => {
  const all = platform()
  const [one, other] = [await all.process('a'), await all.process('b', { version: 'v2' })]
  await look(all, one, other)
  expect(new Set([...ownersFor(one), ...ownersFor(other)])).toEqual(new Set([one.owner, other.owner]))
  expect(ownersFor(one)).not.toContain(other.owner)
  expect(ownersFor(other)).not.toContain(one.owner)
})

it('asks no process that shows no more sign of life', async () => {
  const all = platform()
  const [one, other] = [await all.process('a'), await all.process('b')]
  await look(all, one)
  expect(ownersFor(one)).toContain(other.owner)
  await other.presence.leave()
  // Its beat is gone, as after a stop; a killed process leaves one that stands still.
  await all.ops.put(`beat:${other.owner}`, 1, null)
  const seconds = Math.ceil(DEAD_MS / 1_000)
  for (let n = 0; n < seconds; n++) await look(all, one)
  expect(ownersFor(one)).toContain(other.owner)
  await look(all, one)
  expect(ownersFor(one)).not.toContain(other.owner)
})

it('goes on with a peer that answers although its beats stand still, until it fails', async () => {
  const all = platform()
  const [one, other] = [await all.process('a'), await all.process('b')]
  await look(all, one)
  await other.presence.leave()
  await all.ops.put(`beat:${other.owner}`, 1, null)
  const peer = { owner: other.owner, url: 'http://b' }
  for (let n = 0; n < 10; n++) {
    one.recordAnswer(peer)
    await look(all, one)
  }
  expect(ownersFor(one)).toContain(other.owner)
  one.avoid(peer)
  await all.clock.advance(AVOIDED_MS)
  await look(all, one)
  expect(ownersFor(one)).not.toContain(other.owner)
})

it('leaves a peer that failed alone for a while', async () => {
  const all = platform()
  const [one, other] = [await all.process('a'), await all.process('b')]
  await look(all, one)
  const key = KEYS.find((its) => one.ownerOf(its) !== null) ?? ''
  one.avoid({ owner: other.owner, url: '' })
  await all.clock.advance(AVOIDED_MS - 1)
  expect(one.ownerOf(key)).toBeNull()
  await all.clock.advance(1)
  expect(one.ownerOf(key)).toMatchObject({ owner: other.owner, url: 'http://b' })
})

it('asks nobody before it has looked, and goes on with what it knows when the store is away', async () => {
  const all = platform()
  let away = true
  const store = {
    ...all.ops,
    list: async (...all_: Parameters<typeof all.ops.list>) => {
      if (away) throw new Error('The store is away.')
      return all.ops.list(...all_)
    },
  }
  const [one, other] = [await all.process('a', { store }), await all.process('b')]
  await look(all, one)
  expect(ownersFor(one)).not.toContain(other.owner)
  away = false
  await look(all, one)
  expect(ownersFor(one)).toContain(other.owner)
  away = true
  await look(all, one)
  expect(ownersFor(one)).toContain(other.owner)
})
