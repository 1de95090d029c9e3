import { afterEach, describe, expect, test } from 'vitest'
import { Unavailable } from '../../../../src/kernel/async/errors.ts'
import { StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import { type Answer, dispatchRig, never, stopDispatchers } from '../../../support/fixtures/dispatch-rig.ts'
import { flushEventLoop } from '../../../support/memory/clock.ts'

afterEach(stopDispatchers)

const TICK = 15_000
const MINUTE = 60_000
const letters = (count: number) => Array.from({ length: count }, (_, n) => String.fromCharCode(97 + n))

/** Requests that end as a test says. */
function heldRequests() {
  const held = new Map<string, PromiseWithResolvers<'answered'>>()
  const hold: Answer = ({ id }) => {
    const request = Promise.withResolvers<'answered'>()
    held.set(id, request)
    return request.promise
  }
  return { hold, answer: (id: string) => held.get(id)?.resolve('answered') }
}

describe('a queue with much that is due', () => {
  test('is sent in passes of so many items, one pass after the other, oldest first', async () => {
    const { clock, add, passes, start } = dispatchRig({ pass: 5, inFlight: 1 })
    add(letters(12))
    start()
    await clock.advance(0)
    expect(passes.map(({ ids }) => ids.join(''))).toEqual(['abcde', 'fghij', 'kl'])
  })

  test('is read once for several passes', async () => {
    const { clock, add, passes, reads, start } = dispatchRig({ pass: 5, inFlight: 1 })
    add(letters(25))
    start()
    await clock.advance(0)
    expect([passes.length, reads.length]).toEqual([5, 2])
  })

  test('is read again after a pass that ended early', async () => {
    const { clock, add, answers, ids, reads, start } = dispatchRig({ pass: 5, inFlight: 1 })
    let asked = 0
    answers.set('q', () => (++asked === 2 ? 'waits' : 'answered'))
    add(letters(12))
    start()
    await clock.advance(0)
    expect([ids(), reads.length]).toEqual([['a', 'b'], 1])
    await clock.advance(MINUTE)
    expect([...new Set(ids())]).toEqual(letters(12))
  })

  test('is sent so many items at a time, once its receiver has answered the first', async () => {
    const { clock, add, answers, ids, leave, peakOf, start } = dispatchRig({ pass: 10, inFlight: 3 })
    const { hold, answer } = heldRequests()
    answers.set('q', async (item) => {
      await hold(item)
      return leave(item)
    })
    add(letters(10))
    start()
    await clock.advance(MINUTE)
    expect(ids()).toEqual(['a'])
    for (const id of letters(10)) {
      answer(id)
      await flushEventLoop()
    }
    expect(ids()).toEqual(letters(10))
    expect(peakOf('q')).toBe(3)
  })

  test('is sent beside others', async () => {
    const { clock, add, answers, ids, start } = dispatchRig()
    answers.set('stuck', never)
    add(['x'], { queue: 'stuck' })
    add(letters(12))
    start()
    await clock.advance(0)
    expect(ids().filter((id) => id !== 'x')).toEqual(letters(12))
  })
})

describe('a receiver that does not answer', () => {
  test('is set aside until the next multiple of the tick, and then asked one thing at a time again', async () => {
    const { clock, add, answers, ids, start, leave, peakOf } = dispatchRig()
    await clock.advance(4_000)
    answers.set('q', () => 'silent')
    add(letters(8))
    start()
    await clock.advance(TICK - 4_001)
    expect(ids()).toEqual(['a'])
    await clock.advance(1_000)
    expect(ids()).toEqual(['a', 'b'])
    answers.set('q', leave)
    await clock.advance(TICK)
    expect(ids()).toEqual(letters(8))
    expect(peakOf('q')).toBeLessThanOrEqual(3)
  })

  test('is set aside although more is added to its queue', async () => {
    const { clock, add, answers, ids, start } = dispatchRig()
    await clock.advance(1_000)
    answers.set('q', () => 'silent')
    add(['a'])
    start()
    for (let n = 0; n < 10; n++) {
      await clock.advance(1_000)
      add([`more${n}`])
    }
    expect(ids()).toEqual(['a'])
  })

  test('is asked one thing at a time after it had answered before', async () => {
    const { clock, add, answers, ids, leave, start } = dispatchRig()
    add(['a'])
    start()
    await clock.advance(0)
    answers.set('q', () => 'silent')
    add(letters(12))
    await clock.advance(1_000)
    const first = ids().length
    expect(first).toBeLessThanOrEqual(1 + 3)
    await clock.advance(TICK)
    expect(ids()).toHaveLength(first + 1)
    answers.set('q', leave)
    await clock.advance(TICK)
    expect(new Set(ids())).toEqual(new Set(letters(12)))
  })

  test('keeps no other queue from being sent, were there 1,000 of them that never end', async () => {
    const { clock, add, answers, ids, start } = dispatchRig()
    for (let n = 0; n < 1_000; n++) {
      answers.set(`dead${n}`, never)
      add([`dead${n}`], { queue: `dead${n}` })
    }
    start()
    await clock.advance(1_000)
    expect(ids()).toHaveLength(1_000)
    add(letters(8))
    await clock.advance(1_000)
    expect(ids().slice(1_000)).toEqual(letters(8))
  })

  test('keeps no queue whose receiver answers from being sent, however many never end', async () => {
    const { clock, add, answers, ids, start } = dispatchRig()
    add(['a'])
    start()
    await clock.advance(1_000)
    for (let n = 0; n < 1_100; n++) {
      answers.set(`dead${n}`, never)
      add([`dead${n}`], { queue: `dead${n}` })
    }
    await clock.advance(1_000)
    add(['b'])
    await clock.advance(1_000)
    expect(ids().at(-1)).toBe('b')
  })
})

test('an item that may not be sent now ends the pass, and is sent later', async () => {
  const { clock, add, answers, ids, leave, start } = dispatchRig({ inFlight: 1 })
  answers.set('q', (item) => (item.id === 'b' ? 'waits' : leave(item)))
  add(letters(4))
  start()
  await clock.advance(1_000)
  expect(ids()).toEqual(['a', 'b'])
  answers.set('q', leave)
  await clock.advance(TICK)
  expect(ids()).toEqual(['a', 'b', 'b', 'c', 'd'])
})

test('a queue to which nothing may be sent is looked at again later, and as soon as its version changes', async () => {
  const { clock, add, announce, closed, ids, reads, start } = dispatchRig()
  closed.add('q')
  add(['a'])
  start()
  await clock.advance(10_000)
  expect(ids()).toEqual([])
  expect(reads.length).toBeLessThanOrEqual(11)
  closed.delete('q')
  announce()
  await clock.advance(150)
  expect(ids()).toEqual(['a'])
  closed.add('q')
  add(['b'])
  await clock.advance(1_000)
  closed.delete('q')
  await clock.advance(2_000)
  expect(ids()).toEqual(['a', 'b'])
})

describe('an item whose row is as it was when it was sent', () => {
  test.each(['answered', 'skipped'] as const)(
    'is not sent again after it was %s, until the row shows the next attempt',
    async (result) => {
      const { clock, add, announce, answers, sent, show, remove, start } = dispatchRig()
      answers.set('q', () => result)
      add(letters(3))
      start()
      await clock.advance(MINUTE)
      announce()
      await clock.advance(MINUTE)
      expect(sent.map(({ id, n }) => `${id}${n}`)).toEqual(['a1', 'b1', 'c1'])
      show('b', { n: 2 })
      for (const id of ['a', 'c']) remove(id)
      await clock.advance(MINUTE)
      expect(sent.map(({ id, n }) => `${id}${n}`)).toEqual(['a1', 'b1', 'c1', 'b2'])
    },
  )

  test('holds up none of those after it, however many are like it', async () => {
    const { clock, add, answers, sent, start } = dispatchRig()
    answers.set('q', () => 'answered')
    add(Array.from({ length: 100 }, (_, n) => `x${n}`))
    start()
    await clock.advance(MINUTE)
    expect(sent).toHaveLength(100)
    expect(new Set(sent.map(({ id }) => id)).size).toBe(100)
  })

  test('is one of at most hundreds that are sent at once, and the rest of its queue follows', async () => {
    const { clock, add, answers, ids, start } = dispatchRig()
    answers.set('q', () => 'answered')
    add(Array.from({ length: 1_000 }, (_, n) => `x${n}`))
    start()
    await clock.advance(0)
    expect(ids().length).toBeLessThan(500)
    await clock.advance(MINUTE)
    expect(ids()).toHaveLength(1_000)
    expect(new Set(ids()).size).toBe(1_000)
  })

  test('is sent again when its row comes back after it had gone', async () => {
    const { clock, add, ids, start } = dispatchRig()
    add(['a'])
    start()
    await clock.advance(1_000)
    add(['a'])
    await clock.advance(1_000)
    expect(ids()).toEqual(['a', 'a'])
  })
})

describe('an item that cannot be sent', () => {
  const failing =
    (bad: string, error: Error, otherwise: Answer): Answer =>
    (item) => {
      if (item.id === bad) throw error
      return otherwise(item)
    }

  test('is tried less and less often, and the others of its queue go on', async () => {
    const { clock, add, answers, ids, leave, failures, start } = dispatchRig()
    const tries: number[] = []
    answers.set('q', (item) => {
      if (item.id === 'b') tries.push(clock.now())
      return failing('b', new TypeError('broken'), leave)(item)
    })
    add(letters(8))
    start()
    await clock.advance(0)
    expect(ids()).toEqual(letters(8))
    await clock.advance(10 * MINUTE)
    const gaps = tries.slice(1).map((at, index) => at - (tries[index] ?? 0))
    expect(gaps.length).toBeGreaterThan(5)
    expect(gaps.every((gap, index) => index === 0 || gap > (gaps[index - 1] ?? 0))).toBe(true)
    expect(failures).toHaveLength(tries.length)
    expect(failures[0]).toBe('q: TypeError: broken')
    add(['later'])
    await clock.advance(1_000)
    expect(ids().at(-1)).toBe('later')
  })

  test('is sent once it can be', async () => {
    const { clock, add, answers, ids, leave, start } = dispatchRig()
    answers.set('q', failing('a', new Error('broken'), leave))
    add(['a'])
    start()
    await clock.advance(500)
    answers.set('q', leave)
    await clock.advance(2_000)
    expect(ids()).toEqual(['a', 'a'])
  })

  test('because a dependency is unavailable ends the pass, and its queue is tried again later', async () => {
    const { clock, add, answers, ids, leave, failures, start } = dispatchRig()
    answers.set('q', failing('b', new Unavailable('away'), leave))
    add(letters(8))
    start()
    await clock.advance(100)
    expect(ids().slice(0, 2)).toEqual(['a', 'b'])
    expect(ids().length).toBeLessThanOrEqual(1 + 3)
    expect(failures).toEqual(['q: Unavailable: away'])
    answers.set('q', leave)
    await clock.advance(MINUTE)
    expect(ids().filter((id) => id === 'b')).toHaveLength(2)
    expect(ids().filter((id) => id !== 'b')).toEqual(letters(8).filter((id) => id !== 'b'))
  })
})

test('a queue that failed is tried less and less often, though more is added to it', async () => {
  const { clock, add, answers, ids, start } = dispatchRig()
  answers.set('q', () => {
    throw new Unavailable('away')
  })
  start()
  for (let n = 0; n < 120; n++) {
    add([`x${n}`])
    await clock.advance(1_000)
  }
  expect(ids().length).toBeGreaterThan(5)
  expect(ids().length).toBeLessThan(20)
})

test.each(['queues', 'due', 'nextDue', 'open'])('a dispatcher survives that %s is unavailable', async (port) => {
  const { clock, add, ids, start } = dispatchRig()
  let away = true
  add(['a'])
  add(['b'], { dueIn: 500 })
  start('a', {
    withPorts: (ports) =>
      withFaults(
        ports,
        () => new StoreUnavailable('away'),
        (method) => (away && method === port ? 'fail' : undefined),
      ),
  })
  await clock.advance(MINUTE)
  away = false
  await clock.advance(MINUTE)
  expect(ids()).toEqual(['a', 'b'])
})

describe('a queue in which nothing is due', () => {
  test('is looked at again when its next item is due', async () => {
    const { clock, add, ids, start } = dispatchRig()
    add(['late'], { dueIn: 20_000 })
    start()
    await clock.advance(19_999)
    expect(ids()).toEqual([])
    await clock.advance(200)
    expect(ids()).toEqual(['late'])
  })

  test('is looked at again as soon as its version changes', async () => {
    const { clock, add, ids, start } = dispatchRig()
    add(['late'], { dueIn: MINUTE })
    start()
    await clock.advance(MINUTE / 2)
    add(['now'])
    await clock.advance(200)
    expect(ids()).toEqual(['now'])
  })

  test('is read far less often than the queues are listed', async () => {
    const { clock, add, reads, start } = dispatchRig()
    add(['late'], { dueIn: 10 * MINUTE })
    start()
    await clock.advance(MINUTE)
    expect(reads.length).toBeLessThan(15)
  })

  test.each([
    ['nothing', []],
    ['only what is due much later', ['late']],
  ])('is looked at again when its rows follow its version later, and showed %s', async (_what, shown) => {
    const { clock, add, ids, show, start } = dispatchRig()
    add(shown, { dueIn: 10 * MINUTE })
    start()
    await clock.advance(5_000)
    show('now')
    await clock.advance(TICK + 200)
    expect(ids()).toEqual(['now'])
  })
})

test('a queue in which nothing was due for long is sent soon when its rows follow a new version later', async () => {
  const { clock, add, announce, ids, show, start } = dispatchRig()
  add(['late'], { dueIn: 10 * MINUTE })
  start()
  await clock.advance(2 * MINUTE + 1_000)
  announce()
  await clock.advance(1_000)
  show('now')
  await clock.advance(2_000)
  expect(ids()).toEqual(['now'])
})

describe('a dispatcher that is stopped', () => {
  test('is done when what is under way has ended, and sends nothing more', async () => {
    const { clock, add, answers, ids, ops, start } = dispatchRig()
    add(['first'])
    const dispatcher = start()
    await clock.advance(0)
    const { hold, answer } = heldRequests()
    answers.set('q', hold)
    add(letters(8))
    await clock.advance(200)
    let isDone = false
    void dispatcher.done.then(() => {
      isDone = true
    })
    dispatcher.stop()
    for (const id of ['a', 'b']) answer(id)
    await clock.advance(1_000)
    expect(isDone).toBe(false)
    answer('c')
    await flushEventLoop()
    expect(isDone).toBe(true)
    expect(ids()).toEqual(['first', 'a', 'b', 'c'])
    expect(await ops.get('claim:dispatch:q', clock.now())).toBeNull()
  })

  test('is done at once while nothing is under way', async () => {
    const { clock, add, ids, start } = dispatchRig()
    add(['late'], { dueIn: MINUTE })
    const dispatcher = start()
    await clock.advance(1_000)
    dispatcher.stop()
    await dispatcher.done
    add(['now'])
    await clock.advance(2 * MINUTE)
    expect(ids()).toEqual([])
  })
})
