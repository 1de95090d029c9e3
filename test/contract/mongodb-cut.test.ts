import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { openMongoOperationalStore } from '../../src/adapters/mongodb/operational-store.ts'
import { waitUntil } from '../support/e2e/server.ts'
import { mongoUrl } from '../support/servers.ts'

const ROUNDS = 10
const BACK_MS = 10_000

const url = mongoUrl()

/** Some of the cuts meet the driver in the turn in which it stops looking for servers: a fault of the driver's own. */
test.runIf(url)('a way to MongoDB that is cut under load is found again after every cut', async () => {
  const way = new Worker(new URL('../support/faults/fault-proxy-thread.ts', import.meta.url), { workerData: url })
  const [address]: string[] = await once(way, 'message')
  const act = async (what: 'cut' | 'restore') => {
    way.postMessage(what)
    await once(way, 'message')
  }

  for (let round = 0; round < ROUNDS; round += 1) {
    const store = await openMongoOperationalStore(`${address}/?minHeartbeatFrequencyMS=1`)
    const attempt = () =>
      store.put('key', round, null).then(
        () => true,
        (error: Error) => expect(error.name).toBe('StoreUnavailable'),
      )
    await Promise.all(Array.from({ length: 1 + (round % 4) }, attempt))
    let restored = false
    const load = (async () => {
      while (!restored) {
        await attempt()
        await setImmediate()
      }
    })()
    await act('cut')
    await act('restore')
    restored = true
    await load
    await waitUntil('The store takes a write', async () => (await attempt()) === true, BACK_MS)
    await store.close()
  }
  await way.terminate()
})
