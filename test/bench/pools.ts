import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { alternate, type Figure, figureOf, type Pair } from './measure.ts'
import type { FullLoad, PoolPart, VisitLoad, VisitResult } from './pool-process.ts'
import { withDirectory } from './temp-directory.ts'

/** As browsers do, each page has a connection of its own. */
const CONNECTIONS = 256
const SECONDS = 5
const NUMBERS = 500
const VISITS = { visitors: 5_000, seconds: 60, heartbeatSeconds: 10 } as const
const WARM_MS = 10_000
const ROUTED = 1_000
const MEGABYTE = 1024 ** 2
const MEMORY_BYTES = 20 * MEGABYTE
/** Headers of an answer that a bare server writes itself, or that belong to one connection. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['content-length', 'connection', 'keep-alive', 'date'])

interface Started {
  readonly child: ChildProcess
  // biome-ignore lint/suspicious/noExplicitAny: what each part answers is its own.
  readonly opened: any
}

async function start(part: PoolPart): Promise<Started> {
  const child = fork(join(import.meta.dirname, 'pool-process.ts'), [JSON.stringify(part)], {
    execArgv: ['--expose-gc'],
  })
  const [opened] = await once(child, 'message')
  return { child, opened }
}

async function ask<Answer>({ child }: Started, what: string, given: unknown = {}): Promise<Answer> {
  child.send({ ask: what, given })
  const [answer] = await once(child, 'message')
  return answer
}

/** Requests so far: each comes from another source. */
let asked = 0

/** A request to the platform: what it answers, as the bare server is to answer it. */
async function answerOf(url: string, body: string) {
  asked += 1
  const source = { 'x-forwarded-for': `192.0.2.${asked & 255}` }
  const headers = { 'content-type': 'application/json', origin: 'https://example.com', ...source }
  const answer = await fetch(url, { method: 'POST', headers, body })
  if (answer.status !== 200) throw new Error(await answer.text())
  const own = [...answer.headers].filter(([name]) => !OWN_HEADERS.has(name))
  // biome-ignore lint/suspicious/noExplicitAny: what each route answers is its own.
  return { headers: Object.fromEntries(own), body: (await answer.json()) as any }
}

const exact = (name: string, unit: string, ours: number, most: number) =>
  figureOf(name, unit, { atMost: most === 0 ? 0 : 1 }, [{ ours, ceiling: most === 0 ? 1 : most }])

/** Leases and heartbeats a second beside a bare server with the same bytes and headers. */
async function requestFigures(ours: Started, bare: Started, load: Started): Promise<readonly Figure[]> {
  const { baseUrl, fullKey: pool } = ours.opened
  const page = { url: 'https://example.com/roofing?utm_source=bench', referrer: 'https://search.example/' }
  const params = { utm_source: 'bench', utm_medium: 'cpc' }
  const dni = (path: string) => `${baseUrl}/api/public/dni/${path}`
  const perSecond = async (url: string, bodies: readonly string[]) => {
    const full: FullLoad = { url, bodies, connections: CONNECTIONS, seconds: SECONDS }
    const { perSecond, failed } = await ask<{ perSecond: number; failed: number }>(load, 'full', full)
    if (failed > 0) throw new Error(`${failed} requests failed at ${url}.`)
    return perSecond
  }
  async function measure(path: string, bodies: readonly string[]): Promise<readonly Pair[]> {
    await ask(bare, 'answer', { path, ...(await answerOf(dni(path), bodies[0] ?? '')) })
    return alternate(
      () => perSecond(dni(path), bodies),
      () => perSecond(`${bare.opened.url}/${path}`, bodies),
    )
  }
  // The first visitors hold every number: what they have is prolonged, and returned to.
  const visitors = Array.from({ length: NUMBERS }, (_, n) => `visitor-${n}`)
  const heartbeats: string[] = []
  const back = visitors.map((visitorId) => JSON.stringify({ pool, visitorId, params, ...page }))
  for (const body of back) {
    const { body: lease } = await answerOf(dni('lease'), body)
    heartbeats.push(JSON.stringify({ sessionId: lease.sessionId, visitorId: lease.visitorId }))
  }
  const beats = await measure('heartbeat', heartbeats)
  const returning = await measure('lease', back)
  const fresh = await measure('lease', [JSON.stringify({ pool, params, ...page })])
  return [
    figureOf('leases of new visitors beside a bare POST', 'requests/s', { atLeast: 0.2 }, fresh),
    figureOf('leases of visitors who are back', 'requests/s', { atLeast: 0.2 }, returning),
    figureOf('heartbeats', 'requests/s', { atLeast: 0.45 }, beats),
  ]
}

/** 5,000 visitors on 500 numbers, with heartbeats. */
async function visitFigures(ours: Started, load: Started): Promise<readonly Figure[]> {
  const { baseUrl, visitedKey: pool } = ours.opened
  const visits: VisitLoad = { baseUrl, pool, ...VISITS }
  const running = ask<VisitResult>(load, 'visits', visits)
  await sleep(WARM_MS)
  const before = await ask<{ bytes: number }>(ours, 'memory')
  const { sessions, heartbeats, failed, heldTwice } = await running
  const after = await ask<{ bytes: number }>(ours, 'memory')
  const { taken, ended } = await ask<{ taken: number; ended: number }>(ours, 'events')
  const of = `${sessions.toLocaleString('en-US')} leases and ${heartbeats.toLocaleString('en-US')} heartbeats`
  return [
    exact(`numbers held twice in ${of}, ${failed} failed`, 'numbers', heldTwice, 0),
    exact('requests that failed', 'requests', failed, 0),
    figureOf('events beside leases taken and ended', 'events', { atMost: 1 }, [
      { ours: taken + ended, ceiling: 2 * sessions },
    ]),
    exact(
      'memory growth after ten seconds',
      'MB',
      Math.max(0, after.bytes - before.bytes) / MEGABYTE,
      MEMORY_BYTES / MEGABYTE,
    ),
  ]
}

/** The decision on a call to a leased number beside one to a number of no pool. */
async function routingFigure(ours: Started): Promise<Figure> {
  const { baseUrl, fullKey: pool, plain } = ours.opened
  const visitor = JSON.stringify({ pool, visitorId: 'visitor-0', params: { utm_source: 'bench', utm_medium: 'cpc' } })
  const { body } = await answerOf(`${baseUrl}/api/public/dni/lease`, visitor)
  const route = (to: string) => ask<number>(ours, 'route', { to, count: ROUTED })
  const pairs = await alternate(
    () => route(body.number.e164),
    () => route(plain),
  )
  return figureOf("a call's routing with a lease beside without", 'ms', { atMost: 1.2 }, pairs)
}

/** Measures leases, heartbeats, and calls that match a lease. */
export async function pools(): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const ours = await start({ part: 'ours', directory, numbers: NUMBERS })
    const [bare, load] = [await start({ part: 'bare' }), await start({ part: 'load' })]
    // Before new visitors share the number by the hundred.
    const routing = await routingFigure(ours)
    const requests = await requestFigures(ours, bare, load)
    const visits = await visitFigures(ours, load)
    const children = [bare, load, ours].map(({ child }) => child)
    const exits = children.map((child) => once(child, 'exit'))
    for (const child of children) child.disconnect()
    await Promise.all(exits)
    return [...requests, routing, ...visits]
  })
}
