import { expect, test } from 'vitest'
import { withCoalescing } from '../../../src/api/access.ts'

/** A directory whose looks end when they are told to. */
function slowDirectory() {
  const looks: ((found: string) => void)[] = []
  const find = () => new Promise<never>((resolve) => looks.push((found) => resolve(found as never)))
  return { looks, directory: withCoalescing({ credential: find, workspace: find }) }
}

const rest = () => new Promise((resolve) => setImmediate(resolve))

test('all who ask while a look is under way share one that begins after they asked', async () => {
  const { looks, directory } = slowDirectory()
  const first = directory.workspace('one')
  const others = [directory.workspace('one'), directory.workspace('one')]
  expect(looks).toHaveLength(1)
  looks[0]?.('as it was')
  expect(await first).toBe('as it was')
  await rest()
  const last = directory.workspace('one')
  expect(looks).toHaveLength(2)
  looks[1]?.('as it is')
  expect(await Promise.all(others)).toEqual(['as it is', 'as it is'])
  await rest()
  expect(looks).toHaveLength(3)
  looks[2]?.('as it will be')
  expect(await last).toBe('as it will be')
})

test('nothing is remembered, and nobody waits for the look of another', async () => {
  const { looks, directory } = slowDirectory()
  const [key, session] = [directory.credential('key', 'one'), directory.credential('session', 'one')]
  expect(looks).toHaveLength(2)
  looks[1]?.('a session')
  looks[0]?.('a key')
  expect(await Promise.all([key, session])).toEqual(['a key', 'a session'])
  await rest()
  void directory.credential('key', 'one')
  expect(looks).toHaveLength(3)
})

test('a look that fails fails those who asked for it alone', async () => {
  let looks = 0
  const find = async () => {
    looks += 1
    if (looks === 1) throw new Error('away')
    return null
  }
  const directory = withCoalescing({ credential: find, workspace: find })
  const [first, next] = [directory.workspace('one'), directory.workspace('one')]
  await expect(first).rejects.toThrow('away')
  expect(await next).toBeNull()
})
