import type { EventToAppend } from '../../kernel/event.ts'
import type { ServerFilter } from './server-filter.ts'
import { encodeMessage, type MessageWriter } from './wire.ts'

/** Field numbers are those of EventStoreDB's `streams.proto` and `shared.proto`. */
const OPTIONS = 1
const BACKWARDS = 1
/** Events that the server considers before it reports a checkpoint: large enough to read fast, small enough to move often. */
const CHECKPOINT_EVENTS = 500

/** What a read of the whole log starts from: a position, or an end of the log. */
export type ReadFrom = number | 'start' | 'end'

/** A read of some events of a stream, forwards from a revision on. */
export function streamRead(stream: string, revision: number, count: number): Buffer {
  return encodeMessage((to) =>
    to.message(OPTIONS, () => {
      to.message(1, () => {
        streamName(to, 1, stream)
        to.uint(2, revision)
      })
      to.uint(5, count)
      to.message(8)
      readableIds(to)
    }),
  )
}

/** A read of the first events that a filter has, from a position inclusive. */
export function filteredRead(from: ReadFrom, filter: ServerFilter, count: number): Buffer {
  return encodeMessage((to) =>
    to.message(OPTIONS, () => {
      logStart(to, from)
      to.uint(5, count)
      filterOption(to, filter)
      readableIds(to)
    }),
  )
}

/** A read of some events of the whole log. */
export function logRead(from: ReadFrom, count: number, direction: 'forwards' | 'backwards' = 'forwards'): Buffer {
  return encodeMessage((to) =>
    to.message(OPTIONS, () => {
      logStart(to, from)
      if (direction === 'backwards') to.uint(3, BACKWARDS)
      to.uint(5, count)
      to.message(8)
      readableIds(to)
    }),
  )
}

/** A subscription to the events of the log that a filter has, behind a position. */
export function filteredSubscription(from: ReadFrom, filter: ServerFilter): Buffer {
  return encodeMessage((to) =>
    to.message(OPTIONS, () => {
      logStart(to, from)
      to.message(6)
      filterOption(to, filter)
      readableIds(to)
    }),
  )
}

/** One append of several in a batch. The id correlates its response. */
export interface AppendRequest {
  readonly id: string
  readonly stream: string
  readonly expected: number
  readonly events: readonly EventToAppend[]
}

/** An append: `meta.eventId` is an event's id, and the version is part of the metadata. */
export function batchAppend({ id, stream, expected, events }: AppendRequest): Buffer {
  return encodeMessage((to) => {
    uuid(to, 1, id)
    to.message(2, () => {
      streamName(to, 1, stream)
      if (expected < 0) to.message(3)
      else to.uint(2, expected)
    })
    for (const { type, version, data, meta } of events) {
      to.message(3, () => {
        uuid(to, 1, meta.eventId)
        property(to, 'type', type)
        property(to, 'content-type', 'application/json')
        to.text(3, JSON.stringify({ version, ...meta }))
        to.text(4, JSON.stringify(data) ?? 'null')
      })
    }
    to.uint(4, 1)
  })
}

function filterOption(to: MessageWriter, { on, regex }: ServerFilter): void {
  to.message(7, () => {
    to.message(on === 'stream' ? 1 : 2, () => to.text(1, regex))
    to.uint(3, CHECKPOINT_EVENTS)
    to.uint(5, 1)
  })
}

function streamName(to: MessageWriter, field: number, stream: string): void {
  to.message(field, () => to.text(3, stream))
}

function uuid(to: MessageWriter, field: number, id: string): void {
  to.message(field, () => to.text(2, id))
}

function property(to: MessageWriter, name: string, value: string): void {
  to.message(2, () => {
    to.text(1, name)
    to.text(2, value)
  })
}

/** Events have equal commit and prepare positions. The server refuses a position that it did not return before. */
function logStart(to: MessageWriter, from: ReadFrom): void {
  to.message(2, () => {
    if (from === 'start') to.message(2)
    else if (from === 'end') to.message(3)
    else
      to.message(1, () => {
        to.uint(1, from)
        to.uint(2, from)
      })
  })
}

/** Ids of events as text; the server requires a choice. */
function readableIds(to: MessageWriter): void {
  to.message(9, () => to.message(2))
}
