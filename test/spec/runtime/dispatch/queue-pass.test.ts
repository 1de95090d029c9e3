import { describe, expect, test } from 'vitest'
import { Unavailable } from '../../../../src/kernel/async/errors.ts'
import { runPass, type SendResult } from '../../../../src/runtime/dispatch/queue-pass.ts'
import { createSlots } from '../../../../src/runtime/dispatch/slots.ts'
import { flushEventLoop } from '../../../support/memory/clock.ts'

/** A pass over items whose requests end as a test says: `begun` are those that were sent, `marked` those that need not be again. */
function beginPass(ids: string, { isProven = true, slots: count = 64, inFlight = 3 } = {}) {
  const begun: string[] = []
  const marked: string[] = []
  const failed: string[] = []
  const requests = new Map<string, PromiseWithResolvers<SendResult>>()
  const trust = { isProven }
  const slots = { proven: createSlots(count), unproven: createSlots(count) }
  const stop = new AbortController()
  const ended = runPass(
    [...ids].map((id) => ({ id, n: 1 })),
    {
      send({ id }) {
        const request = Promise.withResolvers<SendResult>()
        begun.push(id)
        requests.set(id, request)
        return request.promise
      },
    },
    {
      inFlight,
      trust,
      slots,
      signal: stop.signal,
      onSent: ({ id }) => void marked.push(id),
      onItemFailure: ({ id }) => void failed.push(id),
    },
  )
  // It is judged when a test asks.
  ended.catch(() => undefined)
  return {
    ended,
    trust,
    slots,
    stop,
    /** What has been sent, as one text. */
    async begun() {
      await flushEventLoop()
      return begun.join('')
    },
    marked: () => marked.join(''),
    failed: () => failed.join(''),
    answer: (id: string, result: SendResult = 'answered') => requests.get(id)?.resolve(result),
    fail: (id: string, error: Error) => requests.get(id)?.reject(error),
  }
}

describe('a pass to a receiver that answers', () => {
  test('sends its items in order, so many at the same time', async () => {
    const pass = beginPass('abcdef')
    expect(await pass.begun()).toBe('abc')
    pass.answer('b')
    expect(await pass.begun()).toBe('abcd')
    for (const id of 'acd') pass.answer(id)
    expect(await pass.begun()).toBe('abcdef')
    for (const id of 'ef') pass.answer(id)
    expect(await pass.ended).toBe('all')
    expect([...pass.marked()].toSorted().join('')).toBe('abcdef')
  })

  test.each<readonly [SendResult, string, boolean]>([
    ['silent', 'abc', false],
    ['waits', 'ac', true],
  ])(
    'sends no more once the result of one is %s, and ends with what is under way',
    async (result, marked, isProven) => {
      const pass = beginPass('abcdef')
      await pass.begun()
      for (const id of 'ac') pass.answer(id)
      await pass.begun()
      const under = await pass.begun()
      expect(under).toBe('abcde')
      pass.answer('b', result)
      for (const id of 'de') pass.answer(id, 'skipped')
      expect(await pass.ended).toBe(result)
      expect(await pass.begun()).toBe('abcde')
      expect([...pass.marked()].toSorted().join('')).toBe([...`${marked}de`].toSorted().join(''))
      expect(pass.trust.isProven).toBe(isProven)
    },
  )

  test('sends no more once a dependency is unavailable, and fails when what is under way has ended', async () => {
    const pass = beginPass('abcdef')
    await pass.begun()
    pass.fail('b', new Unavailable('away'))
    for (const id of 'ac') pass.answer(id)
    await expect(pass.ended).rejects.toThrow('away')
    expect([await pass.begun(), pass.marked(), pass.failed()]).toEqual(['abc', 'ac', ''])
  })

  test('goes on without an item that cannot be sent', async () => {
    const pass = beginPass('abcd')
    await pass.begun()
    pass.fail('a', new Error('broken'))
    for (const id of 'bc') pass.answer(id)
    expect(await pass.begun()).toBe('abcd')
    pass.answer('d')
    expect(await pass.ended).toBe('all')
    expect([pass.marked(), pass.failed()]).toEqual(['bcd', 'a'])
  })

  test('sends no more once the signal aborts, and ends with what is under way', async () => {
    const pass = beginPass('abcdef')
    await pass.begun()
    pass.stop.abort()
    for (const id of 'abc') pass.answer(id)
    expect(await pass.ended).toBe('waits')
    expect([await pass.begun(), pass.marked()]).toEqual(['abc', 'abc'])
  })

  test('does not send an item that waits for a slot while another is not answered', async () => {
    const pass = beginPass('abcdef', { slots: 2 })
    expect(await pass.begun()).toBe('ab')
    pass.answer('a', 'silent')
    pass.answer('b')
    expect(await pass.ended).toBe('silent')
    expect(await pass.begun()).toBe('ab')
    const free = await Promise.all([pass.slots.proven.take(), pass.slots.proven.take()])
    expect(free).toHaveLength(2)
  })
})

describe('a pass to a receiver that has yet to answer', () => {
  test('sends one item at a time until it does, and then several', async () => {
    const pass = beginPass('abcdef', { isProven: false })
    expect(await pass.begun()).toBe('a')
    pass.answer('a', 'skipped')
    expect(await pass.begun()).toBe('ab')
    pass.fail('b', new Error('broken'))
    expect(await pass.begun()).toBe('abc')
    pass.answer('c')
    expect(await pass.begun()).toBe('abcdef')
    expect(pass.trust.isProven).toBe(true)
  })

  test('sends one item when it does not', async () => {
    const pass = beginPass('abcdef', { isProven: false })
    await pass.begun()
    pass.answer('a', 'silent')
    expect(await pass.ended).toBe('silent')
    expect([await pass.begun(), pass.marked()]).toEqual(['a', 'a'])
  })

  test('takes no slot of those that answer', async () => {
    const pass = beginPass('ab', { isProven: false, slots: 1 })
    expect(await pass.begun()).toBe('a')
    expect(await pass.slots.proven.take()).toBeTypeOf('function')
  })
})
