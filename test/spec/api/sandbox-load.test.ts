import { describe, expect, test } from 'vitest'
import { sandboxLoad } from '../../../src/api/sandbox-load/load.ts'
import { createLoadStore } from '../../../src/api/sandbox-load/load-store.ts'
import { paceWorks } from '../../../src/api/sandbox-load/pace.ts'
import { noCounts, startLoad } from '../../../src/api/sandbox-load/run-load.ts'
import { SANDBOX_LOAD } from '../../../src/domain/shared/limits.ts'
import { createManualClock, flushEventLoop } from '../../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../../support/memory/operational-store.ts'

const WORKSPACE = '0190a5c0-0000-7000-8000-000000000001'
const run = (id: string, workspaceId = WORKSPACE) => ({ workspaceId, id })

describe('a body', () => {
  const problems = (body: object) => {
    const { error } = sandboxLoad.safeParse({ calls: 1, perSecond: 1, ...body })
    return error?.issues.map(({ path }) => path.join('.')) ?? []
  }
  const ids = (count: number) => Array.from({ length: count }, () => WORKSPACE)

  test.each<readonly [string, object, object]>([
    ['calls', { calls: SANDBOX_LOAD.calls.max }, { calls: SANDBOX_LOAD.calls.max + 1 }],
    ['calls', { calls: 1 }, { calls: 0 }],
    ['perSecond', { perSecond: SANDBOX_LOAD.perSecond.max }, { perSecond: SANDBOX_LOAD.perSecond.max + 1 }],
    ['perSecond', { perSecond: 1 }, { perSecond: 0 }],
    ['publishers', { publishers: ids(SANDBOX_LOAD.publishers) }, { publishers: ids(SANDBOX_LOAD.publishers + 1) }],
    ['publishers', { publishers: ids(1) }, { publishers: [] }],
    ['mix.ping', { mix: { ping: 1 } }, { mix: { ping: 1.01 } }],
    ['mix.post', { mix: { post: 0 } }, { mix: { post: -0.01 } }],
    ['mix.ghost', { mix: { ghost: 0.5 } }, { mix: { ghost: Number.NaN } }],
  ])('has bounds of %s: %j is taken, %j is not', (field, inside, beyond) => {
    expect(problems(inside)).toEqual([])
    expect(problems(beyond)).toEqual([field])
  })

  test('without a mix is of calls alone', () => {
    const { mix } = sandboxLoad.parse({ calls: 1, perSecond: 1 })
    expect(mix).toEqual({ ping: 0, post: 0, ghost: 0 })
  })
})

describe('the pace', () => {
  const paced = (work: (n: number) => Promise<void>, underWay = 10, signal = new AbortController().signal) => {
    const clock = createManualClock()
    let ended = false
    const done = paceWorks({ count: 6, perSecond: 2, underWay, clock, signal }, work).then(() => {
      ended = true
    })
    return { clock, done, hasEnded: () => ended }
  }

  test('begins so many works in a second, the first at once', async () => {
    const begun: number[] = []
    const { clock, done } = paced(async () => void begun.push(clock.now()))
    const start = clock.now()
    await clock.advance(400)
    expect(begun).toHaveLength(1)
    await clock.advance(2_100)
    await done
    expect(begun.map((ms) => ms - start)).toEqual([0, 500, 1_000, 1_500, 2_000, 2_500])
  })

  test('has at most so many under way, and catches up when they end', async () => {
    const ends: (() => void)[] = []
    const { clock, hasEnded } = paced(() => new Promise((resolve) => ends.push(resolve)), 2)
    await clock.advance(2_500)
    expect(ends).toHaveLength(2)
    ends[0]?.()
    await flushEventLoop()
    expect(ends).toHaveLength(3)
    for (let n = 1; n < 6; n += 1) {
      ends[n]?.()
      await flushEventLoop()
    }
    expect([ends.length, hasEnded()]).toEqual([6, true])
  })

  test('begins no more after an abort, and waits for what is under way', async () => {
    const stop = new AbortController()
    const ends: (() => void)[] = []
    const { clock, hasEnded } = paced(() => new Promise((resolve) => ends.push(resolve)), 10, stop.signal)
    await clock.advance(600)
    stop.abort()
    await clock.advance(5_000)
    expect([ends.length, hasEnded()]).toEqual([2, false])
    for (const end of ends) end()
    await flushEventLoop()
    expect(hasEnded()).toBe(true)
  })
})

describe('a run', () => {
  function sandbox() {
    const clock = createManualClock()
    const ops = createMemoryOperationalStore()
    const stop = new AbortController()
    const store = createLoadStore({ ops, clock })
    const start = (id: string, { calls = 4, workspaceId = WORKSPACE } = {}) => {
      const counts = noCounts()
      const attempt = async () => {
        counts.placed += 1
      }
      const pace = { calls, perSecond: 2 }
      return startLoad({ store, clock, stopping: stop.signal }, run(id, workspaceId), pace, { counts, attempt })
    }
    return { clock, ops, stop, store, start }
  }

  test('tells how far it has come, and when it was done', async () => {
    const { clock, store, start } = sandbox()
    const startedAt = new Date(clock.now()).toISOString()
    const started = await start('a')
    const zero = { ...noCounts(), perSecond: 2, startedAt, endedAt: null }
    expect(await store.read(run('a'))).toEqual({ ...zero, state: 'running' })
    await clock.advance(1_100)
    expect(await store.read(run('a'))).toEqual({ ...zero, state: 'running', placed: 2 })
    await clock.advance(400)
    await started?.ended
    const endedAt = new Date(Date.parse(startedAt) + 1_500).toISOString()
    expect(await store.read(run('a'))).toEqual({ ...zero, state: 'done', placed: 4, endedAt })
    // Nothing is kept on after the end.
    await clock.advance(60_000)
    expect(await store.read(run('a'))).toMatchObject({ state: 'done', endedAt })
  })

  test('is the only one of its workspace until it has ended', async () => {
    const { clock, store, start } = sandbox()
    const first = await start('a', { calls: 60 })
    expect(await start('b')).toBeNull()
    expect(await store.read(run('b'))).toBeNull()
    expect(await start('c', { workspaceId: 'other' })).not.toBeNull()
    await clock.advance(SANDBOX_LOAD.silentMs + 5_000)
    expect(await start('b')).toBeNull()
    await clock.advance(30_000)
    await first?.ended
    expect(await start('b')).not.toBeNull()
  })

  test('is not shown to another workspace', async () => {
    const { store, start } = sandbox()
    await start('a')
    expect(await store.read(run('a', 'other'))).toBeNull()
  })

  test('ends as failed when its process stops, and leaves room for the next', async () => {
    const { clock, store, stop, start } = sandbox()
    const started = await start('a', { calls: 100 })
    await clock.advance(700)
    stop.abort()
    await started?.ended
    expect(await store.read(run('a'))).toMatchObject({ state: 'failed', placed: 2, endedAt: expect.any(String) })
    expect(await start('b')).not.toBeNull()
  })

  test('that its process left behind reads as failed since it was last heard of', async () => {
    const { clock, ops, store } = sandbox()
    const left = { ...noCounts(), placed: 7, state: 'running' as const, perSecond: 2, endedAt: null }
    const startedAt = new Date(clock.now()).toISOString()
    await store.save(run('a'), { ...left, startedAt })
    const heardAt = new Date(clock.now()).toISOString()
    await clock.advance(SANDBOX_LOAD.silentMs - 1)
    expect(await store.read(run('a'))).toMatchObject({ state: 'running', endedAt: null })
    const next = createLoadStore({ ops, clock })
    expect(await next.save(run('b'), { ...left, startedAt })).toBe(false)
    await clock.advance(1)
    expect(await store.read(run('a'))).toMatchObject({ state: 'failed', placed: 7, endedAt: heardAt })
    expect(await next.save(run('b'), { ...left, startedAt })).toBe(true)
  })

  test('whose claim another run has taken begins no more attempts', async () => {
    const { clock, store, start } = sandbox()
    const started = await start('a', { calls: 100 })
    // Nobody heard of it for a while, as when its machine was suspended.
    await clock.jump(SANDBOX_LOAD.silentMs)
    const other = { ...noCounts(), state: 'running' as const, perSecond: 2, startedAt: new Date(0).toISOString() }
    await store.end(run('a'), { ...other, endedAt: null })
    expect(await store.save(run('b'), { ...other, endedAt: null })).toBe(true)
    await clock.advance(2_000)
    await started?.ended
    const { state, placed } = (await store.read(run('a'))) ?? {}
    expect(state).toBe('failed')
    expect(placed).toBeLessThan(100)
  })
})
