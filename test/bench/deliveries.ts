import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openReadSide } from '../../src/main/read-side/read-side.ts'
import { START } from '../../src/ports/event-log.ts'
import { enterStores } from '../support/fixtures/member.ts'
import { deliveryPage } from './delivery-page.ts'
import type { DeliveryPart, DeliveryQuestion, Received } from './delivery-process.ts'
import { alternate, type Figure, figureOf, median, type Pair } from './measure.ts'
import { fail, pageFigure, servePages, storesIn } from './page-server.ts'
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
  await ours.ask({ ask: 'status', from: 0, count: ENDPOINTS, status: 'paused' })
  await ours.ask({ ask: 'queue', deliveries, endpoints, perSecond: null })
  await untilQueued(ours, deliveries)
}

/** Deliveries a second of a backlog, until the log shows them all. */
async function drain(ours: Process, deliveries: number, endpoints: number): Promise<number> {
  await fill(ours, deliveries, endpoints)
  const begun = performance.now()
  await ours.ask({ ask: 'status', from: 0, count: ENDPOINTS, status: 'active' })
  await untilSent(ours)
  return (deliveries * 1_000) / (performance.now() - begun)
}

/** The delivery log of one endpoint over HTTP, beside a bare server that sends the same bytes. */
async function logPages(directory: string, { key, webhookIds }: Answer): Promise<readonly Figure[]> {
  const stores = storesIn(directory)
  const { ops, owner, leave } = await enterStores(stores.readStoreUrl)
  const readSide = await openReadSide({ ...stores, owner, ops, head: START, projects: false, onDeath: fail })
  const pages = await servePages(directory, owner, readSide, deliveryPage)
  const log = `${pages.baseUrl}/api/v1/delivery-page/${webhookIds[0]}?pageSize=25`
  const of = `page of 25 out of ${BACKLOG.toLocaleString('en-US')} waiting deliveries, HTTP, total left out`
  const figures = [
    await pageFigure(of, log, key),
    await pageFigure('the same, filtered by state', `${log}&state=queued`, key),
  ]
  await pages.close()
  await readSide.close()
  await leave()
  return figures
}

/** Deliveries a second that are queued and sent at once. */
async function sustainedRate(ours: Process): Promise<number> {
  const begun = performance.now()
  await ours.ask({ ask: 'queue', deliveries: DELIVERIES, endpoints: ENDPOINTS, perSecond: null })
  await untilSent(ours)
  return (DELIVERIES * 1_000) / (performance.now() - begun)
}

/** A backlog of one endpoint: how its log is read while it waits, and the growth of memory (MB) while it is drained. */
async function backlogOfOne(ours: Process, directory: string) {
  await fill(ours, BACKLOG, 1)
  const pages = await logPages(directory, ours.opened)
  const { bytes: before } = await ours.ask({ ask: 'memory' })
  await ours.ask({ ask: 'status', from: 0, count: ENDPOINTS, status: 'active' })
  await untilSent(ours)
  const { bytes: after } = await ours.ask({ ask: 'memory' })
  return { pages, growth: (after - before) / 2 ** 20 }
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

/** The delays (p99, ms) with one dead endpoint, beside those with none, in turn. */
async function withOneDead(ours: Process, receivers: Process, perSecond: number): Promise<readonly Pair[]> {
  const setDead = (status: 'active' | 'paused') => ours.ask({ ask: 'status', from: ENDPOINTS, count: 1, status })
  const delay = async () => p99(await delaysAt(ours, receivers, perSecond))
  await ours.ask({ ask: 'add', path: 'dead', endpoints: 1 })
  // One for each endpoint, and so for the last one, too.
  await ours.ask({ ask: 'queue', deliveries: ENDPOINTS + 1, endpoints: ENDPOINTS + 1, perSecond: null })
  return alternate(
    async () => {
      await setDead('active')
      return delay()
    },
    async () => {
      await setDead('paused')
      return delay()
    },
  )
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
    console.error(`${Math.round(rate.ours)} deliveries/s, ${Math.round(rate.ceiling)} bare`)
    const half = Math.floor((await sustainedRate(ours)) / 2)
    const besides = await withOneDead(ours, receivers, half)
    const { pages, growth } = await backlogOfOne(ours, directory)
    await ours.ask({ ask: 'add', path: 'dead-', endpoints: DEAD })
    await ours.ask({ ask: 'queue', deliveries: ENDPOINTS + 1 + DEAD, endpoints: ENDPOINTS + 1 + DEAD, perSecond: null })
    const { delays }: { readonly delays: readonly number[] } = await ours.ask({ ask: 'settle', calls: SETTLED_CALLS })
    for (const part of [bare, ours, receivers]) await part.close()
    return [
      rate,
      figureOf(`event to first byte at ${half} deliveries/s: p99 beside ${FIRST_BYTE_MS} ms`, 'ms', { atMost: 1 }, [
        { ours: median(besides.map(({ ceiling }) => ceiling)), ceiling: FIRST_BYTE_MS },
      ]),
      figureOf('the same with one dead endpoint beside none', 'ms', { atMost: 1.1 }, besides),
      ...pages,
      figureOf(`growth by a drained backlog of ${BACKLOG} of one endpoint`, 'MB', { atMost: 1 }, [
        { ours: growth, ceiling: BACKLOG_MB },
      ]),
      figureOf(`settlements due while ${DEAD} endpoints hang: delay, p99`, 'ms', { atMost: 1 }, [
        { ours: p99(delays), ceiling: SETTLED_MS },
      ]),
    ]
  })
}
