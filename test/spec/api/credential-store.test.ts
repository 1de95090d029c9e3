import { describe, expect, test } from 'vitest'
import { type CatchUp, withCatchUp, withCoalescing } from '../../../src/api/credential-store.ts'
import { StoreUnavailable } from '../../../src/ports/read-store.ts'

/** A coalescing store over look-ups that the test answers by hand. */
function slowStore() {
  const lookUps: ((found: string) => void)[] = []
  const find = () => new Promise<never>((resolve) => lookUps.push((found) => resolve(found as never)))
  return { lookUps, store: withCoalescing({ credential: find, workspace: find }) }
}

const tick = () => new Promise((resolve) => setImmediate(resolve))

test('callers that arrive during a look-up share the next one, which starts after they asked', async () => {
  const { lookUps, store } = slowStore()
  const first = store.workspace('one')
  await tick()
  const others = [store.workspace('one'), store.workspace('one')]
  await tick()
  expect(lookUps).toHaveLength(1)
  lookUps[0]?.('as it was')
  expect(await first).toBe('as it was')
  await tick()
  const last = store.workspace('one')
  await tick()
  expect(lookUps).toHaveLength(2)
  lookUps[1]?.('as it is')
  expect(await Promise.all(others)).toEqual(['as it is', 'as it is'])
  await tick()
  expect(lookUps).toHaveLength(3)
  lookUps[2]?.('as it will be')
  expect(await last).toBe('as it will be')
})

test('results are not cached, and look-ups of different keys do not wait for each other', async () => {
  const { lookUps, store } = slowStore()
  const [key, session] = [store.credential('key', 'one'), store.credential('session', 'one')]
  await tick()
  expect(lookUps).toHaveLength(2)
  lookUps[1]?.('a session')
  lookUps[0]?.('a key')
  expect(await Promise.all([key, session])).toEqual(['a key', 'a session'])
  await tick()
  void store.credential('key', 'one')
  await tick()
  expect(lookUps).toHaveLength(3)
})

test('a failed look-up fails only the callers that share it', async () => {
  let lookUps = 0
  const find = async () => {
    lookUps += 1
    if (lookUps === 1) throw new Error('unavailable')
    return null
  }
  const store = withCoalescing({ credential: find, workspace: find })
  const first = store.workspace('one')
  await Promise.resolve()
  const next = store.workspace('one')
  await expect(first).rejects.toThrow('unavailable')
  expect(await next).toBeNull()
})

describe('a store that has not caught up with the log', () => {
  /** A store that holds one workspace, behind a catch-up that the test ends. */
  function laggingStore() {
    let done = false
    let end = () => {}
    const waited = new Promise<void>((resolve) => {
      end = resolve
    })
    const catchUp: CatchUp = { isDone: () => done, wait: () => waited }
    const find = async (id: string) => (id === 'known' ? (id as never) : null)
    return {
      store: withCatchUp({ credential: (_kind, hash) => find(hash), workspace: find }, catchUp),
      finish() {
        done = true
        end()
      },
      giveUp: () => end(),
    }
  }

  test('waits with each look-up, and then knows what is missing', async () => {
    const { store, finish } = laggingStore()
    const asked = [store.credential('session', 'known'), store.workspace('unknown')]
    let answered = 0
    for (const one of asked) one.then(() => (answered += 1))
    await tick()
    expect(answered).toBe(0)
    finish()
    expect(await Promise.all(asked)).toEqual(['known', null])
    expect(await store.credential('key', 'unknown')).toBeNull()
  })

  test('answers what it finds when the wait has ended without it, and calls nothing missing', async () => {
    const { store, giveUp, finish } = laggingStore()
    giveUp()
    expect(await store.workspace('known')).toBe('known')
    await expect(store.workspace('unknown')).rejects.toThrow(StoreUnavailable)
    await expect(store.credential('session', 'unknown')).rejects.toThrow(StoreUnavailable)
    finish()
    expect(await store.credential('session', 'unknown')).toBeNull()
  })
})
