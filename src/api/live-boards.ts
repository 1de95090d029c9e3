import { liveCalls } from '../../queries/calls/live-calls.ts'
import { LIVE_STREAM } from '../domain/shared/limits.ts'
import { sleep } from '../kernel/async/sleep.ts'
import { createWakeSignal } from '../kernel/async/wake-signal.ts'
import type { Tenant } from '../kernel/query.ts'
import { isRefusal, type Refusal } from '../kernel/refusal.ts'
import type { ApiRequest } from '../ports/api.ts'
import type { Cursors } from '../ports/api-headers.ts'
import type { Clock } from '../ports/clock.ts'
import type { ChangeNotifier } from '../runtime/change-notifier.ts'
import type { QueryResponse, QueryRunner } from '../runtime/queries/query-runner.ts'
import type { SessionCheck } from './session-check.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const HEARTBEAT = encoder.encode(':\n\n')

/** One server-sent event: a board, with the log position that it reflects as its id. */
function boardEvent({ bytes, position }: QueryResponse, cursors: Cursors): Uint8Array {
  const id = position === null ? '' : `id: ${cursors.write(position)}\n`
  return encoder.encode(`event: live\n${id}data: ${decoder.decode(bytes)}\n\n`)
}

/** Fields of a board that change with the clock. A change of these alone sends no event. */
const VOLATILE_FIELDS: ReadonlySet<string> = new Set(['at', 'elapsedSeconds', 'talkSeconds'])

/** The content of a board without the fields that change with the clock. */
function stableContentOf({ bytes }: QueryResponse): string {
  return JSON.stringify(JSON.parse(decoder.decode(bytes)), (name, value) =>
    VOLATILE_FIELDS.has(name) ? undefined : value,
  )
}

/** Reads the board of a workspace, at `minPosition` of the log or later. */
export type BoardReader = (tenant: Tenant, minPosition: number | null) => Promise<QueryResponse | Refusal>

interface BoardRead {
  readonly at: number
  readonly minPosition: number | null
  readonly board: ReturnType<BoardReader>
}

/** Creates a board reader that shares one read among the streams of a workspace for LIVE_STREAM.gapMs. */
export function createBoardReader(queries: QueryRunner, clock: Clock): BoardReader {
  const reads = new Map<string, BoardRead>()
  return (tenant, minPosition) => {
    const at = clock.now()
    const { workspaceId } = tenant
    const last = reads.get(workspaceId)
    if (last && at - last.at < LIVE_STREAM.gapMs && (last.minPosition ?? -1) >= (minPosition ?? -1)) return last.board
    const now = new Date(at).toISOString()
    const board = queries.run({
      name: liveCalls.name,
      params: {},
      query: {},
      tenant,
      surface: 'console',
      now,
      minPosition,
    })
    reads.set(workspaceId, { at, minPosition, board })
    const forget = () => reads.get(workspaceId)?.board === board && reads.delete(workspaceId)
    clock.schedule(at + LIVE_STREAM.gapMs, forget)
    board.catch(forget)
    return board
  }
}

/** What the streams of a process share, and the signal that ends one of them. */
export interface BoardStream {
  readonly changes: ChangeNotifier
  readonly readBoard: BoardReader
  readonly isSessionValid: SessionCheck
  readonly cursors: Cursors
  readonly clock: Clock
  /** Aborts when the connection closes or the server stops. */
  readonly stop: AbortSignal
}

/**
 * The board of a workspace now, and again after each change, at most once in LIVE_STREAM.gapMs; a heartbeat when nothing
 * changes. Nothing is buffered: changes that come before a reader has taken the last event are one change. A reader
 * who takes nothing for LIVE_STREAM.slowMs is dropped. Ends when the session does.
 */
export async function* streamBoards(
  { changes, readBoard, isSessionValid, cursors, clock, stop }: BoardStream,
  { principal, connection }: Pick<ApiRequest, 'principal' | 'connection'>,
  tenant: Tenant,
): AsyncGenerator<Uint8Array> {
  const wake = createWakeSignal(clock, stop)
  let position: number | null = null
  let isChanged = true
  let sent = ''
  const subscription = changes.changesOf(tenant.workspaceId).subscribe((changedAt) => {
    position = changedAt
    isChanged = true
    wake.notify()
  })
  const unsubscribe = () => subscription.unsubscribe()
  stop.addEventListener('abort', unsubscribe, { once: true })

  async function* send(bytes: Uint8Array) {
    const cancel = clock.schedule(clock.now() + LIVE_STREAM.slowMs, connection.drop)
    try {
      yield bytes
    } finally {
      cancel()
    }
  }

  try {
    for (let lastSent = clock.now(); !stop.aborted && (await isSessionValid(principal)); ) {
      const startedAt = clock.now()
      if (isChanged) {
        isChanged = false
        const board = await readBoard(tenant, position)
        if (isRefusal(board)) return
        // A board that lags behind the change is read once more.
        isChanged ||= board.lag
        const content = stableContentOf(board)
        if (content !== sent) {
          yield* send(boardEvent(board, cursors))
          sent = content
          lastSent = clock.now()
        }
      }
      if (clock.now() >= lastSent + LIVE_STREAM.heartbeatMs) {
        yield* send(HEARTBEAT)
        lastSent = clock.now()
      }
      if (!isChanged) await wake.wait(lastSent + LIVE_STREAM.heartbeatMs)
      await sleep(clock, Math.max(0, startedAt + LIVE_STREAM.gapMs - clock.now()), stop)
    }
  } finally {
    unsubscribe()
  }
}
