import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { headerNames } from '../../../src/ports/api-headers.ts'
import type { Json } from '../e2e/api-client.ts'
import { createKeepAliveClient, type Exchange, type Sent } from './keep-alive-client.ts'
import type { TrafficWorld } from './traffic-world.ts'

/** What clients were told: it must be there whatever happens later. */
export interface AcknowledgedRecords {
  /** Names of buyers, by their ids. */
  readonly buyers: Map<string, string>
  readonly calls: Set<string>
  readonly auctions: Set<string>
  /** Sessions of visitors, with their ids. */
  readonly sessions: Map<string, string>
}

/** Clients of each kind that send one request after the other. */
export interface Traffic {
  readonly acknowledged: AcknowledgedRecords
  /** Numbers of exchanges, by kind of client and outcome: `buyers succeeded`, `buyers 503`, `buyers refused`, `buyers dropped`. */
  readonly answers: ReadonlyMap<string, number>
  /** Answers that no client may get, and connections that were lost with a request on them, a sentence each. */
  readonly faults: readonly string[]
  /** Resolves when every client has ended: none is left once the server refuses connections. */
  readonly ended: Promise<void>
  readonly stop: () => Promise<void>
}

interface TrafficOptions {
  readonly baseUrl: string
  readonly world: TrafficWorld
  /** Clients of each kind. */
  readonly clients: number
  /** Pause (ms) of a client between two requests. */
  readonly pauseMs?: number
}

/** One client's way to ask: resolves to the body of an answer with the expected status; to null where it is to be asked again. */
type Ask = (
  path: string,
  status: number,
  sent?: Sent,
) => Promise<{ readonly body: Json; readonly position: string } | null>

/** One turn of a kind of client; `n` is another in each turn of all. */
type Turn = (ask: Ask, world: TrafficWorld, acknowledged: AcknowledgedRecords, n: number) => Promise<unknown>

const post = (token: string | null, body: unknown, headers = {}): Sent => ({ method: 'POST', token, body, headers })
/** The header of a client behind a proxy that is believed, with an address of its own for each `n`. */
export const sourceOf = (n: number) => ({ 'x-forwarded-for': `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}` })

/** Reads what a write has made, as clients do: at the position of its answer. */
const reading = (token: string, position: string): Sent => ({ token, headers: { [headerNames.minPosition]: position } })

const TURNS: Readonly<Record<string, Turn>> = {
  async buyers(ask, { main: { session } }, { buyers }, n) {
    const name = `Buyer ${n} ${randomUUID()}`
    const made = await ask('/api/tracking/buyers', 201, post(session, { name }))
    if (!made) return
    const { id } = made.body.buyer
    buyers.set(id, name)
    await ask(`/api/tracking/buyers/${id}`, 200, reading(session, made.position))
  },
  async calls(ask, { main: { session }, e164 }, { calls }) {
    const made = await ask('/api/sandbox/calls', 201, post(session, { to: e164, mode: 'instant' }))
    if (!made) return
    const { callId } = made.body
    calls.add(callId)
    await ask(`/api/tracking/calls/${callId}`, 200, reading(session, made.position))
  },
  async pings(ask, { lane: { routingKey } }, { auctions }, n) {
    const body = { callerNumber: `+1212555${String(n % 10_000).padStart(4, '0')}` }
    const held = await ask('/api/rtb/v1/ping', 200, post(routingKey, body))
    if (held) auctions.add(held.body.auctionId)
  },
  async leases(ask, { pool }, { sessions }, n) {
    const leased = await ask('/api/public/dni/lease', 200, post(null, { pool }, sourceOf(n)))
    if (!leased) return
    const { sessionId, visitorId } = leased.body
    sessions.set(sessionId, visitorId)
    await ask('/api/public/dni/heartbeat', 200, post(null, { sessionId, visitorId }, sourceOf(n)))
  },
  async reads(ask, { main: { session } }) {
    await ask('/api/tracking/buyers?pageSize=25', 200, { token: session })
    await ask('/api/tracking/calls?pageSize=25', 200, { token: session })
  },
  exports: (ask, { main: { session } }) => ask('/api/tracking/calls/export.csv', 200, { token: session }),
}

/** Whether an answer asks the client to wait: over its rate, or unavailable for a time that it says. */
const asksToWait = ({ status, headers }: Extract<Exchange, { end: 'answered' }>): boolean =>
  status === 429 || (status === 503 && headers['retry-after'] !== undefined)

/** Kinds of clients. */
export const TRAFFIC_KINDS: readonly string[] = Object.keys(TURNS)

/** What an exchange counts as: `succeeded`, another status, or how it ended without an answer. */
function outcomeOf(exchange: Exchange, expected: number): string {
  if (exchange.end !== 'answered') return exchange.end
  return exchange.status === expected ? 'succeeded' : String(exchange.status)
}

/** Starts clients of every kind. Each ends when it is stopped or its connection is refused. */
export function startTraffic({ baseUrl, world, clients, pauseMs = 0 }: TrafficOptions): Traffic {
  const acknowledged: AcknowledgedRecords = {
    buyers: new Map(),
    calls: new Set(),
    auctions: new Set(),
    sessions: new Map(),
  }
  const answers = new Map<string, number>()
  const faults: string[] = []
  let turns = 0
  let isStopped = false

  async function run(kind: string, turn: Turn): Promise<void> {
    const client = createKeepAliveClient(baseUrl)
    let isRefused = false
    const ask: Ask = async (path, status, sent) => {
      const exchange = await client.send(path, sent)
      const counted = `${kind} ${outcomeOf(exchange, status)}`
      answers.set(counted, (answers.get(counted) ?? 0) + 1)
      isRefused = exchange.end === 'refused'
      if (exchange.end === 'dropped') faults.push(`${sent?.method ?? 'GET'} ${path}: ${exchange.error}`)
      if (exchange.end !== 'answered') return null
      const { body, headers } = exchange
      if (exchange.status === status) return { body, position: String(headers[headerNames.position] ?? '') }
      if (!asksToWait(exchange)) faults.push(`${path}: ${exchange.status} ${JSON.stringify(body)}`)
      return null
    }
    while (!isStopped && !isRefused) {
      turns += 1
      await turn(ask, world, acknowledged, turns)
      if (pauseMs > 0) await pause(pauseMs)
    }
    client.close()
  }

  const running = Object.entries(TURNS).flatMap(([kind, turn]) =>
    Array.from({ length: clients }, () => run(kind, turn)),
  )
  const ended = Promise.all(running).then(() => undefined)
  return {
    acknowledged,
    answers,
    faults,
    ended,
    stop() {
      isStopped = true
      return ended
    },
  }
}
