import { afterEach, describe, expect, test } from 'vitest'
import { partitionOf } from '../../../../src/kernel/partition.ts'
import { jobHandlers } from '../../../../src/main/platform-effects.ts'
import type { Page, ReadStore } from '../../../../src/ports/read-store.ts'
import { JOB_SLOTS } from '../../../../src/reactions/scheduled-jobs.ts'
import { partsOf } from '../../../../src/runtime/ownership/ownership.ts'
import type { TimerKind } from '../../../../src/runtime/reactions/timer-jobs.ts'
import { runTimers, TIMERS } from '../../../../src/runtime/reactions/timers.ts'
import { contenders } from '../../../support/fixtures/owners.ts'
import { advanceUntil, createManualClock } from '../../../support/memory/clock.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

const stops: AbortController[] = []

afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort()
})

const WORKSPACES = Array.from({ length: 40 }, (_, n) => `w${n}`)
const never = () => new Promise<void>(() => undefined)

function setUp() {
  const clock = createManualClock()
  const store = createMemoryReadStore()
  const shared = contenders(clock)
  /** `<instance>:<id>` for each job, as it began. */
  const begun: string[] = []
  const pages: Page[] = []
  let position = 0
  const write = async (id: string, doc: { readonly workspaceId: string; readonly kind?: string } | null) => {
    const expected = position === 0 ? null : position
    position += 1
    const row = doc && { kind: 'ring', dueAt: clock.now(), partition: partitionOf(doc.workspaceId), ...doc }
    const put = { collection: 'timers', id, position }
    const removal = { doc: null, workspaceId: '', expiresAt: 0 }
    await store.commit([row ? { ...put, doc: row } : { ...put, ...removal }], {
      name: 'timers',
      expected,
      next: { position, at: null },
    })
  }
  const views: Pick<ReadStore, 'find'> = {
    find(collection, page) {
      pages.push(page)
      return store.find(collection, page)
    },
  }
  const join = async (
    instance: string,
    { shards = 1, work = async () => undefined, slots = 64 }: Partial<Joining> = {},
  ) => {
    const process = await shared.start(instance, [], { hasWork: true })
    const stop = new AbortController()
    stops.push(stop)
    const note = ({ id }: { readonly id: string }) => void begun.push(`${instance}:${id}`)
    const { ownership, clock: own, ops, owner } = process
    runTimers({
      store: views,
      ops,
      collection: 'timers',
      kinds: {
        ring: {
          slots,
          async run(row) {
            note(row)
            await work(row)
          },
        },
        settle: { slots: 1, run: async (row) => note(row) },
      },
      clock: own,
      signal: stop.signal,
      owner,
      lanes: { ownership, shards },
    })
    return {
      ...process,
      kill() {
        process.kill()
        stop.abort()
      },
    }
  }
  const runsOf = (id: string) => begun.filter((one) => one.endsWith(`:${id}`))
  return { clock, begun, pages, write, join, runsOf }
}

interface Joining {
  readonly shards: number
  readonly work: TimerKind['run']
  readonly slots: number
}

describe('timers by ranges of partitions', () => {
  test('are run by the owner of their partition, and read by nobody else', async () => {
    const { clock, begun, pages, write, join } = setUp()
    const processes = [await join('a:1', { shards: 2 }), await join('b:1', { shards: 2 })]
    await clock.advance(3_000)
    expect(processes.map((one) => one.lanes().length)).toEqual([1, 1])
    pages.length = 0
    for (const workspaceId of WORKSPACES) await write(workspaceId, { workspaceId })
    await clock.advance(1_000)
    expect(begun).toHaveLength(WORKSPACES.length)
    for (const process of processes) {
      const [lane] = process.ownership.owned().values()
      const own = WORKSPACES.filter((id) => partitionOf(id) >> 7 === (lane?.range.from ?? 0) >> 7)
      const name = process.owner.split('#')[0]
      expect(begun.filter((one) => one.startsWith(`${name}:`)).toSorted()).toEqual(
        own.map((id) => `${name}:${id}`).toSorted(),
      )
    }
    const ranges = new Set(pages.map(({ filter }) => JSON.stringify(filter.partition)))
    expect([...ranges].toSorted()).toEqual(['{"$gte":0,"$lte":127}', '{"$gte":128,"$lte":255}'])
  })

  test('of a killed process are run by another within 5 s, those that it had claimed too', async () => {
    const { clock, write, join, runsOf } = setUp()
    const first = await join('a:1', { work: never })
    await clock.advance(1_000)
    await join('b:1')
    await write('claimed', { workspaceId: 'w1' })
    await clock.advance(1_700)
    expect(runsOf('claimed')).toEqual(['a:1:claimed'])
    first.kill()
    const killedAt = clock.now()
    await write('new', { workspaceId: 'w2' })
    await advanceUntil(clock, () => runsOf('claimed').length === 2 && runsOf('new').length === 1)
    expect(clock.now() - killedAt).toBeLessThan(5_000)
    expect([...runsOf('claimed'), ...runsOf('new')]).toEqual(['a:1:claimed', 'b:1:claimed', 'b:1:new'])
  })

  test('that take long are run once, though their lane goes to another process meanwhile', async () => {
    const { clock, write, join, runsOf } = setUp()
    const work = () => new Promise<void>((resolve) => clock.schedule(clock.now() + 60_000, resolve))
    const first = await join('a:1', { shards: 2, work })
    await clock.advance(1_000)
    for (const workspaceId of WORKSPACES) await write(workspaceId, { workspaceId })
    await clock.advance(1_000)
    const second = await join('b:1', { shards: 2, work })
    await clock.advance(5_000)
    expect([first, second].map((one) => one.lanes().length)).toEqual([1, 1])
    await clock.advance(50_000)
    for (const id of WORKSPACES) expect(runsOf(id)).toEqual([`a:1:${id}`])
  })

  test('of one number of shards are not run by the owners of another', async () => {
    const { clock, begun, write, join } = setUp()
    await join('a:1', { shards: 4 })
    await clock.advance(1_000)
    await join('b:1', { shards: 1 })
    await clock.advance(3_000)
    for (const workspaceId of WORKSPACES) await write(workspaceId, { workspaceId })
    await clock.advance(2_000)
    expect(begun.toSorted()).toEqual(WORKSPACES.map((id) => `a:1:${id}`).toSorted())
  })
})

describe('the slots of a kind', () => {
  test('are all that it takes: the next job waits for one of them, and other kinds for none', async () => {
    const { clock, begun, write, join, runsOf } = setUp()
    const ends: (() => void)[] = []
    const work = () => new Promise<void>((resolve) => ends.push(resolve))
    await join('a:1', { slots: 3, work })
    await clock.advance(1_000)
    for (let n = 0; n < 4; n++) await write(`slow${n}`, { workspaceId: 'w1' })
    await clock.advance(1_000)
    expect(begun).toHaveLength(3)
    for (let n = 0; n < 600; n++) await write(`more${n}`, { workspaceId: 'w1' })
    await write('settlement', { workspaceId: 'w2', kind: 'settle' })
    await clock.advance(1_000)
    expect(runsOf('settlement')).toEqual(['a:1:settlement'])
    expect(begun).toHaveLength(4)
    ends[0]?.()
    await clock.advance(0)
    expect(begun).toHaveLength(5)
  })

  test('are named for every kind of job', () => {
    const slots = Object.entries(jobHandlers).map(([kind, handler]) => [kind, handler.slots])
    expect(Object.fromEntries(slots)).toEqual(JOB_SLOTS)
  })

  test.each(Object.entries(JOB_SLOTS))('of %s are %d: so many run at once, and not one more', async (_kind, slots) => {
    const { clock, begun, write, join } = setUp()
    await join('a:1', { slots, work: never })
    for (let n = 0; n < slots; n++) await write(`job${n}`, { workspaceId: 'w1' })
    await clock.advance(2_000)
    expect(begun).toHaveLength(slots)
    await write('one-more', { workspaceId: 'w1' })
    await clock.advance(2_000)
    expect(begun).toHaveLength(slots)
  })
})

test('runners that share the ownership of a process each contend for their own', async () => {
  const clock = createManualClock()
  const process = await contenders(clock).start('a:1', [])
  const part = partsOf(process.ownership)
  const [reactions, timers] = [part(), part()]
  reactions.contendFor([{ name: 'watcher', shards: 1 }])
  timers.contendFor([{ name: TIMERS, shards: 2 }])
  await clock.advance(3_000)
  expect(process.lanes()).toEqual(['timers/00-7f', 'timers/80-ff', 'watcher/00-ff'])
  reactions.contendFor([])
  await clock.advance(3_000)
  expect(process.lanes()).toEqual(['timers/00-7f', 'timers/80-ff'])
})
