import { Unavailable } from '../kernel/async/errors.ts'
import type { EventToAppend, RecordedEvent } from '../kernel/event.ts'
import type { LogFilter } from './log-filter.ts'

/** Revision that a stream must have; -1: the stream must not exist. There is no "any". */
export type ExpectedRevision = number

/** Result of an append. A conflict is a value: read the tail and decide again. */
export type AppendResult =
  | { readonly ok: true; readonly revision: number; readonly position: number; readonly first?: number }
  | { readonly ok: false; readonly conflict: true }

/** A page of the whole log. `position` is where reading stopped, even when the page has no events. */
export interface LogPage {
  readonly events: readonly RecordedEvent[]
  readonly position: number
  /** Whether `position` was the end of the log when the page was read. */
  readonly end: boolean
}

/** Position before the first event. */
export const START = -1

/** The log is unreachable or did not respond; whether an append succeeded is unknown. */
export class LogUnavailable extends Unavailable {
  override readonly name = 'LogUnavailable'
}

/**
 * The append-only log of events: the one source of truth.
 * Events within a stream have revisions 0, 1, 2… without gaps; positions grow over the whole log, and an event becomes
 * visible to `readAll` only when no event with a smaller position can still appear.
 * Every method except `follow` and `close` throws LogUnavailable.
 */
export interface EventLog {
  /**
   * Appends all events or none, durably, when the stream is at `expected`. `position` is that of the last event; `first` is that of
   * the first, told by a log in which the others follow it without gaps.
   */
  append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]): Promise<AppendResult>
  /** Events of one stream from a revision on, oldest first, at most `limit` (default 1,000); empty for an unknown stream. */
  read(stream: string, from: number, limit?: number): Promise<readonly RecordedEvent[]>
  /**
   * Events of the whole log after a position (exclusive), in order, at most `limit` (default 1,000). With a filter, events
   * that it leaves out are passed over, and a page may have fewer events than the limit, even none, before the end: read
   * on from its position, which is past what was left out.
   */
  readAll(after: number, limit?: number, filter?: LogFilter): Promise<LogPage>
  /**
   * Pages of the whole log after a position, across reconnects, until the signal aborts. With a filter, pages without events
   * move the position past what was left out, within half a second at the end of the log.
   */
  follow(after: number, signal: AbortSignal, filter?: LogFilter): AsyncIterable<LogPage>
  /** Position of the newest event; START when there is none. */
  head(): Promise<number>
  close(): Promise<void>
}
