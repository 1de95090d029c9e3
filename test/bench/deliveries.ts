import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DeliveryPart, DeliveryQuestion, Received } from './delivery-process.ts'
import { alternate, type Figure, figureOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

const ENDPOINTS = 50
/** Deliveries of one measurement. */
const DELIVERIES = 10_000
const PACED_SECONDS = 10
/** From an event to the first byte at a receiver (ms), at half the rate. */
const FIRST_BYTE_MS = 500
const BACKLOG = 100_000
const BACKLOG_MB = 30
/** Endpoints that hang while calls settle, and how late these may settle (ms). */
const DEAD = 1_000
const SETTLED_CALLS = 200
const SETTLED_MS = 1_000

// biome-ignore lint/suspicious/noExplicitAny: what each part answers is its own.
type Answer = any

async function start(part: DeliveryPart) {
  const child = fork(join(import.meta.dirname, 'delivery-process.ts'), [JSON.stringify(part)], {
    execArgv: ['--expose-gc'],
  })
  const [opened]: Answer[] = await once(child, 'message')
  return {
    opened,
    async ask(question: DeliveryQuestion): Promise<Answer> {
      child.send(question)
      const [answer]: Answer[] = await once(child, 'message')
      return answer
    },
    async close() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

type Process = Awaited<ReturnType<typeof start>>

/** Waits until nothing is left to be sent, by the read models. */
async function untilSent(ours: Process): Promise<void> {
  for (;;) {
    const { left } = await ours.ask({ ask: 'left' })
    if (left === 0) return
    await sleep(20)
  }
}

/** Waits until the read models show so many that wait. */
async function untilQueued(ours: Process, deliveries: number): Promise<void> {
  for (;;) {
    const { left } = await ours.ask({ ask: 'left' })
    if (left >= deliveries) return
    await sleep(20)
  }
}

/** Queues deliveries for endpoints that are paused. */
async function fill(ours: Process, deliveries: number, endpoints: number): Promise<void> {
  await ours.ask({ ask: 'pause' })
  await ours.ask({ ask: 'queue', deliveries, endpoints, perSecond: null })
  await untilQueued(ours, deliveries)
}

/** Deliveries a second of a backlog, until the log shows them all. */
async function drain(ours: Process, deliveries: number, endpoints: number): Promise<number> {
  await fill(ours, deliveries, endpoints)
  const begun = performance.now()
  await ours.ask({ ask: 'resume' })
  await untilSent(ours)
  return (deliveries * 1_000) / (performance.now() - begun)
}

/** Growth of memory (MB) while a backlog is drained. */
async function growthByBacklog(ours: Process): Promise<number> {
  await fill(ours, BACKLOG, 1)
  const { bytes: before } = await ours.ask({ ask: 'memory' })
  await ours.ask({ ask: 'resume' })
  await untilSent(ours)
  const { bytes: after } = await ours.ask({ ask: 'memory' })
  return (after - before) / 2 ** 20
}

const p99 = (delays: readonly number[]) =>
  delays.toSorted((one, other) => one - other)[Math.floor(delays.length * 0.99)] ?? Number.NaN

/** Delays of deliveries at a rate, of all endpoints. */
async function delaysAt(ours: Process, receivers: Process, perSecond: number): Promise<readonly number[]> {
  await receivers.ask({ ask: 'received' })
  await ours.ask({ ask: 'queue', deliveries: perSecond * PACED_SECONDS, endpoints: ENDPOINTS, perSecond })
  await sleep(2_000)
  const { delays }: Received = await receivers.ask({ ask: 'received' })
  return Object.values(delays).flat()
}

/** Measures deliveries with durable attempts beside bare signed POSTs of the same bytes by the same client. */
export async function deliveries(): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const receivers = await start({ part: 'receivers' })
    const url: string = receivers.opened.url
    const bare = await start({ part: 'bare', url, endpoints: ENDPOINTS })
    const ours = await start({ part: 'ours', url, endpoints: ENDPOINTS, directory })
    const rates = await alternate(
      () => drain(ours, DELIVERIES, ENDPOINTS),
      async () => (await bare.ask({ ask: 'post', deliveries: DELIVERIES })).perSecond,
    )
    const rate = figureOf('signed deliveries with durable attempts', 'deliveries/s', { atLeast: 0.2 }, rates)
    const half = Math.floor(rate.ours / 2)
    const alive = p99(await delaysAt(ours, receivers, half))
    const growth = await growthByBacklog(ours)
    await ours.ask({ ask: 'add', path: 'dead', endpoints: 1 })
    await ours.ask({ ask: 'queue', deliveries: 51, endpoints: 51, perSecond: null })
    const withDead = p99(await delaysAt(ours, receivers, half))
    await ours.ask({ ask: 'add', path: 'dead-', endpoints: DEAD })
    await ours.ask({ ask: 'queue', deliveries: ENDPOINTS + 1 + DEAD, endpoints: ENDPOINTS + 1 + DEAD, perSecond: null })
    const { delays }: { readonly delays: readonly number[] } = await ours.ask({ ask: 'settle', calls: SETTLED_CALLS })
    for (const part of [bare, ours, receivers]) await part.close()
    return [
      rate,
      figureOf(`event to first byte at ${half} deliveries/s: p99 beside ${FIRST_BYTE_MS} ms`, 'ms', { atMost: 1 }, [
        { ours: alive, ceiling: FIRST_BYTE_MS },
      ]),
      figureOf('the same with one dead endpoint beside none', 'ms', { atMost: 1.1 }, [
        { ours: withDead, ceiling: alive },
      ]),
      figureOf(`growth by a drained backlog of ${BACKLOG} of one endpoint`, 'MB', { atMost: 1 }, [
        { ours: growth, ceiling: BACKLOG_MB },
      ]),
      figureOf(`settlements due while ${DEAD} endpoints hang: delay, p99`, 'ms', { atMost: 1 }, [
        { ours: p99(delays), ceiling: SETTLED_MS },
      ]),
    ]
  })
}
