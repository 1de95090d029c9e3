import { z } from 'zod'
import { user } from '../domain/access/user.ts'
import { call } from '../domain/calls/call.ts'
import { workspace } from '../domain/configuration/workspace.ts'
import type { ApiRequest, ApiRoute } from '../ports/api.ts'
import type { Cursors } from '../ports/api-headers.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import { createChangeNotifier } from '../runtime/change-notifier.ts'
import { createLiveTail } from '../runtime/live-tail.ts'
import type { QueryRunner } from '../runtime/queries/query-runner.ts'
import { createBoardReader, streamBoards } from './live-boards.ts'
import { createLiveStreamLimiter } from './live-stream-limiter.ts'
import { noParams } from './no-params.ts'
import { prefetchFirst } from './prefetch-first.ts'
import type { SessionCheck } from './session-check.ts'

/** The live board as a stream of server-sent events. */
export interface LiveStream {
  readonly route: ApiRoute
  /** Ends every open stream. A stream that is opened later ends after its first board. */
  readonly close: () => void
}

const declaration = {
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
} as const satisfies Omit<ApiRoute, 'run'>

const RESPONSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // The connection ends with the stream: an idle kept-alive connection would delay a stopping server.
  connection: 'close',
  // Tells a proxy not to buffer the response.
  'x-accel-buffering': 'no',
}

/** Opens the live stream of a process (Supplement §6). All its readers share one follower of the log. */
export function openLiveStream(options: {
  readonly log: EventLog
  readonly queries: QueryRunner
  readonly isSessionValid: SessionCheck
  readonly cursors: Cursors
  readonly clock: Clock
}): LiveStream {
  const { log, queries, isSessionValid, cursors, clock } = options
  const closing = new AbortController()
  const limiter = createLiveStreamLimiter()
  const readBoard = createBoardReader(queries, clock)
  const workspaceStreams = new Set([call.name, workspace.name])
  // Sessions end in the streams of users.
  const globalStreams = new Set([user.name])
  const filter = { kinds: new Set([...workspaceStreams, ...globalStreams]) }
  const tail = createLiveTail({ log, filter, clock, signal: closing.signal })
  const changes = createChangeNotifier({ tail, workspaceStreams, globalStreams })

  async function run(request: ApiRequest) {
    const tenant = request.principal.tenant ?? { workspaceId: '', timezone: 'UTC' }
    const closed = request.connection.closeSignal()
    const refusal = limiter.take(tenant.workspaceId, closed)
    if (refusal) return refusal
    const stop = AbortSignal.any([closed, closing.signal])
    const boards = streamBoards({ changes, readBoard, isSessionValid, cursors, clock, stop }, request, tenant)
    return { status: 200, body: await prefetchFirst(boards), position: null, headers: RESPONSE_HEADERS }
  }

  return { route: { ...declaration, run }, close: () => closing.abort() }
}
