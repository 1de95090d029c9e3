import { createInFlight } from '../in-flight.ts'

/** Loads a value by key; callers of one key share loads. */
export type Flight<Value> = (key: string, load: () => Promise<Value>) => Promise<Value>

const ignore = () => undefined

/** Single-flight: a caller that arrives while a load of its key runs gets the result of that load. */
export function createSingleFlight<Value>(): Flight<Value> {
  const running = createInFlight<string, Promise<Value>>()
  return (key, load) => {
    const shared = running.get(key)
    if (shared) return shared
    const started = load()
    const done = () => running.delete(key)
    running.set(key, started)
    started.then(done, done)
    return started
  }
}

/**
 * Single-flight for fresh reads: callers that arrive while a load of their key runs share the next load, which starts
 * when that one has settled. So every result was read after its caller asked. A load starts in a microtask, and callers
 * of one tick share it. Of the callers that share, the first one's `load` runs.
 */
export function createNextFlight<Value>(): Flight<Value> {
  const tails = createInFlight<string, Promise<unknown>>()
  const queued = createInFlight<string, Promise<Value>>()
  return (key, load) => {
    const shared = queued.get(key)
    if (shared) return shared
    const next = (tails.get(key) ?? Promise.resolve()).then(() => {
      queued.delete(key)
      return load()
    })
    const tail: Promise<unknown> = next.then(ignore, ignore).then(() => {
      if (tails.get(key) === tail) tails.delete(key)
    })
    queued.set(key, next)
    tails.set(key, tail)
    return next
  }
}
