import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPEN, openTestEgress } from '../support/fixtures/egress-rig.ts'

/** A server in a thread of its own. It answers `/held` once `flags[0]` is 1, and sets `flags[1]` when the answer is written. */
const SERVER = `
  const { parentPort, workerData: flags } = require('node:worker_threads')
  const server = require('node:http').createServer(({ url }, response) => {
    if (url !== '/held') return response.end('at once')
    parentPort.postMessage('held')
    Atomics.wait(flags, 0, 0)
    response.end('in time', () => {
      Atomics.store(flags, 1, 1)
      Atomics.notify(flags, 1)
    })
  })
  server.listen(0, '${OPEN}', () => parentPort.postMessage(server.address().port))
`
const TIMEOUT_MS = 1_000

const flags = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
let thread: Worker
let origin = ''
beforeAll(async () => {
  thread = new Worker(SERVER, { eval: true, workerData: flags })
  const [port] = await once(thread, 'message')
  origin = `http://${OPEN}:${port}`
})
afterAll(() => thread.terminate())

test('an answer that came in time counts, though this process was busy until the time was over', async () => {
  const { egress, get } = openTestEgress()
  await get(`${origin}/`)
  const held = once(thread, 'message')
  const since = performance.now()
  const answer = get(`${origin}/held`, { timeoutMs: TIMEOUT_MS })
  await held
  // From here on this thread neither reads nor runs a timer until both the answer and the end of its time are there.
  Atomics.store(flags, 0, 1)
  Atomics.notify(flags, 0)
  Atomics.wait(flags, 1, 0)
  while (performance.now() < since + TIMEOUT_MS) Atomics.wait(flags, 1, 1, TIMEOUT_MS)
  expect(await answer).toMatchObject({ ok: true, status: 200, body: 'in time' })
  await egress.close()
})
