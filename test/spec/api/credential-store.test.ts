import { expect, test } from 'vitest'
import { withCoalescing } from '../../../src/api/credential-store.ts'

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
