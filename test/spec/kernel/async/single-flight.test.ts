import { describe, expect, test } from 'vitest'
import { createNextFlight, createSingleFlight } from '../../../../src/kernel/async/single-flight.ts'
import { flushEventLoop } from '../../../support/memory/clock.ts'

/** Loads that finish by hand, and the keys loaded so far. */
function loads() {
  const started: string[] = []
  const open: PromiseWithResolvers<string>[] = []
  const load = (key: string) => () => {
    started.push(key)
    const deferred = Promise.withResolvers<string>()
    open.push(deferred)
    return deferred.promise
  }
  return {
    started,
    load,
    finish: (n: number, value: string) => open[n]?.resolve(value),
    fail: (n: number) => open[n]?.reject(new Error('broken')),
  }
}

describe('a single flight', () => {
  test('gives callers that arrive during a load its result, and loads again afterwards', async () => {
    const { started, load, finish } = loads()
    const flight = createSingleFlight<string>()
    const both = Promise.all([flight('a', load('a')), flight('a', load('a'))])
    finish(0, 'first')
    expect(await both).toEqual(['first', 'first'])
    const again = flight('a', load('a'))
    finish(1, 'second')
    expect(await again).toBe('second')
    expect(started).toEqual(['a', 'a'])
  })

  test('loads different keys at the same time', async () => {
    const { started, load, finish } = loads()
    const flight = createSingleFlight<string>()
    const both = Promise.all([flight('a', load('a')), flight('b', load('b'))])
    expect(started).toEqual(['a', 'b'])
    finish(0, 'A')
    finish(1, 'B')
    expect(await both).toEqual(['A', 'B'])
  })

  test('rejects all callers of a failed load, and loads again afterwards', async () => {
    const { load, finish, fail } = loads()
    const flight = createSingleFlight<string>()
    const both = Promise.allSettled([flight('a', load('a')), flight('a', load('a'))])
    fail(0)
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const again = flight('a', load('a'))
    finish(1, 'whole')
    expect(await again).toBe('whole')
  })
})

describe('a next flight', () => {
  test('gives callers of one tick one load', async () => {
    const { started, load, finish } = loads()
    const flight = createNextFlight<string>()
    const both = Promise.all([flight('a', load('a')), flight('a', load('a'))])
    await flushEventLoop()
    expect(started).toEqual(['a'])
    finish(0, 'first')
    expect(await both).toEqual(['first', 'first'])
  })

  test('gives callers that arrive during a load the next one, which starts when that has settled', async () => {
    const { started, load, finish } = loads()
    const flight = createNextFlight<string>()
    const first = flight('a', load('a'))
    await flushEventLoop()
    const later = Promise.all([flight('a', load('a')), flight('a', load('a'))])
    await flushEventLoop()
    expect(started).toEqual(['a'])
    finish(0, 'old')
    expect(await first).toBe('old')
    await flushEventLoop()
    expect(started).toEqual(['a', 'a'])
    finish(1, 'new')
    expect(await later).toEqual(['new', 'new'])
  })

  test('starts the next load after a failed one too', async () => {
    const { load, finish, fail } = loads()
    const flight = createNextFlight<string>()
    const first = expect(flight('a', load('a'))).rejects.toThrow('broken')
    await flushEventLoop()
    const next = flight('a', load('a'))
    fail(0)
    await first
    await flushEventLoop()
    finish(1, 'whole')
    expect(await next).toBe('whole')
  })

  test('does not make one key wait for another', async () => {
    const { started, load } = loads()
    const flight = createNextFlight<string>()
    void flight('a', load('a'))
    void flight('b', load('b'))
    await flushEventLoop()
    expect(started).toEqual(['a', 'b'])
  })
})
