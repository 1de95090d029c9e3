import { createInFlight } from '../in-flight.ts'

/** Runs a task after the tasks before it have settled. Resolves or rejects with the task's own outcome. */
export type Mutex = <Result>(task: () => Promise<Result>) => Promise<Result>

/** Runs a task after the earlier tasks of its key have settled; tasks of different keys run at the same time. */
export type KeyedMutex = <Result>(key: string, task: () => Promise<Result>) => Promise<Result>

const ignore = () => undefined

/** Creates a mutex: one task at a time, in the order in which they were handed in. */
export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const result = last.then(task)
    last = result.then(ignore, ignore)
    return result
  }
}

/** Creates a mutex by key. Keys without a task take no memory. */
export function createKeyedMutex(): KeyedMutex {
  const tails = createInFlight<string, Promise<unknown>>()
  return (key, task) => {
    const result = (tails.get(key) ?? Promise.resolve()).then(task)
    const tail: Promise<unknown> = result.then(ignore, ignore).then(() => {
      if (tails.get(key) === tail) tails.delete(key)
    })
    tails.set(key, tail)
    return result
  }
}
