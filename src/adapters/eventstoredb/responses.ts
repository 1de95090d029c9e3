import type { Meta, RecordedEvent } from '../../kernel/event.ts'
import { type MessageReader, readFields } from './wire.ts'

/** A message of a read or a subscription. Positions are those of the whole log; `bytes` is the message's size. */
export type ReadMessage =
  | { readonly kind: 'event'; readonly event: RecordedEvent; readonly position: number; readonly bytes: number }
  /** An event that is none of ours: the server's settings, statistics and links, or one without metadata. */
  | { readonly kind: 'foreign-event'; readonly position: number; readonly bytes: number }
  /** Everything up to here was considered: what the filter has of it came before. */
  | { readonly kind: 'checkpoint'; readonly position: number; readonly bytes: number }
  /** The subscription has reached the end of the log. */
  | { readonly kind: 'caught-up'; readonly bytes: number }
  | { readonly kind: 'fell-behind'; readonly bytes: number }
  | { readonly kind: 'other'; readonly bytes: number }

/** Field numbers are those of EventStoreDB's `streams.proto`, `shared.proto` and `status.proto`. */
export function readMessageOf(bytes: Buffer): ReadMessage {
  const reader: MessageReader = { bytes, at: 0 }
  const size = bytes.length
  let message: ReadMessage = { kind: 'other', bytes: size }
  readFields(reader, size, (field, _start, end) => {
    if (field === 1) message = readEvent(reader, end, size)
    else if (field === 3) message = { kind: 'checkpoint', position: readPosition(reader, end), bytes: size }
    else if (field === 8) message = { kind: 'caught-up', bytes: size }
    else if (field === 9) message = { kind: 'fell-behind', bytes: size }
  })
  return message
}

/** Reads the commit position. A checkpoint has it where its first considered event is, an event where it is itself. */
function readPosition(reader: MessageReader, end: number): number {
  let position = 0
  readFields(reader, end, (field, value) => {
    if (field === 1) position = value
  })
  return position
}

interface RawEvent {
  stream: string
  revision: number
  position: number
  type: string
  meta: string
  data: string
}

function readEvent(reader: MessageReader, end: number, bytes: number): ReadMessage {
  const raw: RawEvent = { stream: '', revision: 0, position: 0, type: '', meta: '', data: '' }
  readFields(reader, end, (field, _start, eventEnd) => {
    if (field === 1) readFields(reader, eventEnd, (part, value, partEnd) => readPart(reader, raw, part, value, partEnd))
  })
  const { stream, revision, position, type } = raw
  if (type.startsWith('$') || stream.startsWith('$') || raw.meta === '')
    return { kind: 'foreign-event', position, bytes }
  const { version, ...meta } = JSON.parse(raw.meta) as Meta & { readonly version: number }
  const event = { stream, revision, position, type, version, data: JSON.parse(raw.data), meta }
  return { kind: 'event', event, position, bytes }
}

function readPart(reader: MessageReader, raw: RawEvent, field: number, value: number, end: number): void {
  const text = () => reader.bytes.toString('utf8', value, end)
  if (field === 2)
    readFields(reader, end, (_field, start, nameEnd) => {
      raw.stream = reader.bytes.toString('utf8', start, nameEnd)
    })
  else if (field === 3) raw.revision = value
  // Each event of an append has its own place, with equal commit and prepare positions: a byte offset, far below 2^53.
  else if (field === 4) raw.position = value
  else if (field === 6) readType(reader, raw, end)
  else if (field === 7) raw.meta = text()
  else if (field === 8) raw.data = text()
}

/** Reads one property of an event; its type is one of them. */
function readType(reader: MessageReader, raw: RawEvent, end: number): void {
  let name = ''
  readFields(reader, end, (field, start, partEnd) => {
    const value = reader.bytes.toString('utf8', start, partEnd)
    if (field === 1) name = value
    else if (name === 'type') raw.type = value
  })
}

/** Our events among messages. */
export function eventsOf(messages: readonly ReadMessage[]): readonly RecordedEvent[] {
  return messages.flatMap((message) => (message.kind === 'event' ? [message.event] : []))
}

/** Positions of all events, the server's own included. */
export function positionsOf(messages: readonly ReadMessage[]): readonly number[] {
  return messages.flatMap((message) =>
    message.kind === 'event' || message.kind === 'foreign-event' ? [message.position] : [],
  )
}

/** Response to one append of a batch: its place, or the name of the error. */
export type AppendResponse =
  | { readonly id: string; readonly error: null; readonly revision: number; readonly position: number | null }
  | { readonly id: string; readonly error: string; readonly message: string }

export function appendResponseOf(bytes: Buffer): AppendResponse {
  const reader: MessageReader = { bytes, at: 0 }
  const place = { revision: 0, position: null as number | null }
  let id = ''
  let error: { readonly error: string; readonly message: string } | null = null
  readFields(reader, bytes.length, (field, _start, end) => {
    if (field === 1) id = readText(reader, end, 2)
    else if (field === 2) error = readError(reader, end)
    else if (field === 3)
      readFields(reader, end, (part, value, partEnd) => {
        if (part === 1) place.revision = value
        else if (part === 3) place.position = readPosition(reader, partEnd)
      })
  })
  return error ? { id, ...(error as { error: string; message: string }) } : { id, error: null, ...place }
}

function readText(reader: MessageReader, end: number, wanted: number): string {
  let text = ''
  readFields(reader, end, (field, start, textEnd) => {
    if (field === wanted) text = reader.bytes.toString('utf8', start, textEnd)
  })
  return text
}

/** Reads a status: its message, and the name of its detail's type without the package. */
function readError(reader: MessageReader, end: number): { readonly error: string; readonly message: string } {
  let error = 'Unknown'
  let message = ''
  readFields(reader, end, (field, start, partEnd) => {
    if (field === 2) message = reader.bytes.toString('utf8', start, partEnd)
    else if (field === 3) error = readText(reader, partEnd, 1).split('.').at(-1) || error
  })
  return { error, message }
}
