import { z } from 'zod'
import { liveCalls } from '../../queries/calls/live-calls.ts'
import { user } from '../domain/access/user.ts'
import { call } from '../domain/calls/call.ts'
import { workspace } from '../domain/configuration/workspace.ts'
import { LIVE_STREAM } from '../domain/shared/limits.ts'
import { sleep } from '../kernel/async/sleep.ts'
import { createWakeSignal } from '../kernel/async/wake-signal.ts'
import type { Tenant } from '../kernel/query.ts'
import { isRefusal, type Refusal, refuse } from '../kernel/refusal.ts'
import type { ApiRequest, ApiRoute } from '../ports/api.ts'
import { cursorOf } from '../ports/api-headers.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import { type ChangeNotifier, createChangeNotifier } from '../runtime/change-notifier.ts'
import { createLiveTail } from '../runtime/live-tail.ts'
import type { QueryResponse, QueryRunner } from '../runtime/queries/query-runner.ts'
import { noParams } from './no-params.ts'
import { prefetchFirst } from './prefetch-first.ts'
import type { SessionCheck } from './session-check.ts'

/** The live board as a stream: its route, and the end of all that are open. */
export interface LiveStream {
  readonly route: ApiRoute
  /** Ends every stream, and each that is asked for afterwards after its first board. */
  readonly close: () => void
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const HEARTBEAT = encoder.encode(':\n\n')

/** One server-sent event: a board, under the position that it reflects. */
function boardEvent({ bytes, position }: QueryResponse): Uint8Array {
  const id = position === null ? '' : `id: ${cursorOf(position)}\n`
  return encoder.encode(`event: live\n${id}data: ${decoder.decode(bytes)}\n\n`)
}

/** What of a board moves by itself: it is no news. */
const VOLATILE_FIELDS: ReadonlySet<string> = new Set(['at', 'elapsedSeconds', 'talkSeconds'])

/** A board without what moves by itself. */
function stableContentOf({ bytes }: QueryResponse): string {
  return JSON.stringify(JSON.parse(decoder.decode(bytes)), (name, value) =>
    VOLATILE_FIELDS.has(name) ? undefined : value,
  )
}

type BoardReader = (tenant: Tenant, minPosition: number | null) => Promise<QueryResponse | Refusal>

/** Looks at boards: those who watch one workspace at about the same time share a look. */
function createBoardReader(queries: QueryRunner, clock: Clock): BoardReader {
  const looks = new Map<
    string,
    { readonly at: number; readonly minPosition: number | null; readonly board: ReturnType<BoardReader> }
  >()
  return (tenant, minPosition) => {
    const at = clock.now()
    const { workspaceId } = tenant
    const last = looks.get(workspaceId)
    if (last && at - last.at < LIVE_STREAM.gapMs && (last.minPosition ?? -1) >= (minPosition ?? -1)) return last.board
    const now = new Date(at).toISOString()
    const asked = { name: liveCalls.name, params: {}, query: {}, tenant, surface: 'console', now, minPosition } as const
    const board = queries.run(asked)
    looks.set(workspaceId, { at, minPosition, board })
    const forget = () => looks.get(workspaceId)?.board === board && looks.delete(workspaceId)
    clock.schedule(at + LIVE_STREAM.gapMs, forget)
    board.catch(forget)
    return board
  }
}

interface StreamContext {
  readonly changes: ChangeNotifier
  readonly boards: BoardReader
  readonly isSessionValid: SessionCheck
  readonly clock: Clock
  /** Aborts when nobody reads any more, or the server stops. */
  readonly stop: AbortSignal
}

/** The board now, and again whenever it has moved, a few times a second at the most; a sign of life in between. */
async function* streamBoards(
  { changes, boards, isSessionValid: stands, clock, stop }: StreamContext,
  { principal, connection }: ApiRequest,
  tenant: Tenant,
): AsyncGenerator<Uint8Array> {
  const bell = createWakeSignal(clock, stop)
  let position: number | null = null
  let moved = true
  let shown = ''
  const subscription = changes.changesOf(tenant.workspaceId).subscribe((changedAt) => {
    position = changedAt
    moved = true
    bell.notify()
  })
  const leave = () => subscription.unsubscribe()
  stop.addEventListener('abort', leave, { once: true })

  async function* send(bytes: Uint8Array) {
    const cancel = clock.schedule(clock.now() + LIVE_STREAM.slowMs, connection.drop)
    try {
      yield bytes
    } finally {
      cancel()
    }
  }

  try {
    for (let beat = clock.now(); !stop.aborted && (await stands(principal)); ) {
      const looked = clock.now()
      if (moved) {
        moved = false
        const board = await boards(tenant, position)
        if (isRefusal(board)) return
        // What could not be waited for is looked at once more.
        moved ||= board.lag
        const news = stableContentOf(board)
        if (news !== shown) {
          yield* send(boardEvent(board))
          shown = news
          beat = clock.now()
        }
      }
      if (clock.now() >= beat + LIVE_STREAM.heartbeatMs) {
        yield* send(HEARTBEAT)
        beat = clock.now()
      }
      if (!moved) await bell.wait(beat + LIVE_STREAM.heartbeatMs)
      await sleep(clock, Math.max(0, looked + LIVE_STREAM.gapMs - clock.now()), stop)
    }
  } finally {
    leave()
  }
}

/** Opens the live stream of a process (Supplement §6): one reading of the log for all who watch. */
export function openLiveStream(options: {
  readonly log: EventLog
  readonly queries: QueryRunner
  readonly isSessionValid: SessionCheck
  readonly clock: Clock
}): LiveStream {
  const { log, queries, isSessionValid: stands, clock } = options
  const closing = new AbortController()
  const boards = createBoardReader(queries, clock)
  const changes = createChangeNotifier({
    tail: createLiveTail({ log, clock, signal: closing.signal }),
    workspaceStreams: new Set([call.name, workspace.name]),
    // Sessions end in the streams of users.
    globalStreams: new Set([user.name]),
  })
  const open = new Map<string, number>()
  const count = (workspaceId: string, by: 1 | -1) => {
    const left = (open.get(workspaceId) ?? 0) + by
    if (left === 0) open.delete(workspaceId)
    else open.set(workspaceId, left)
  }

  async function run(request: ApiRequest) {
    const tenant = request.principal.tenant ?? { workspaceId: '', timezone: 'UTC' }
    const { workspaceId } = tenant
    if ((open.get(workspaceId) ?? 0) >= LIVE_STREAM.max) {
      const details = { streams: LIVE_STREAM.max, retryAfterSeconds: LIVE_STREAM.heartbeatMs / 1_000 }
      return refuse('rate-limited', details, `The workspace has ${LIVE_STREAM.max} live streams open.`)
    }
    const gone = request.connection.closeSignal()
    if (!gone.aborted) {
      count(workspaceId, 1)
      gone.addEventListener('abort', () => count(workspaceId, -1), { once: true })
    }
    const stop = AbortSignal.any([gone, closing.signal])
    return {
      status: 200,
      body: await prefetchFirst(
        streamBoards({ changes, boards, isSessionValid: stands, clock, stop }, request, tenant),
      ),
      position: null,
      headers: {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        // It ends with the stream: a connection that is kept would hold a stopping server up.
        connection: 'close',
        // A proxy that gathers an answer would keep it back.
        'x-accel-buffering': 'no',
      },
    }
  }

  return {
    route: {
      method: 'GET',
      path: '/api/tracking/calls/live/stream',
      surface: 'console',
      scope: null,
      write: false,
      name: 'stream-live-calls',
      summary: 'Follow the calls in progress, as server-sent events',
      params: noParams,
      query: noParams,
      body: null,
      responses: { 200: z.string() },
      responseHeaders: ['cache-control'],
      contentType: 'text/event-stream',
      rejects: [],
      run,
    },
    close: () => closing.abort(),
  }
}
