import { type EventData, type JSONType, jsonEvent, type RecordedEvent as ServerEvent } from '@eventstore/db-client'
import type { EventToAppend, Meta, RecordedEvent } from '../../kernel/event.ts'

/** Server form of an event: `meta.eventId` is its id, and the version is part of the metadata. */
export function toServerEvent({ type, version, data, meta }: EventToAppend): EventData {
  return jsonEvent({ id: meta.eventId, type, data: data as JSONType, metadata: { version, ...meta } })
}

/**
 * Converts an event from the server. Each event of an append has its own place in the transaction log, with equal commit and
 * prepare positions, so either serves as the position: a byte offset, far below 2^53.
 */
export function fromServerEvent(event: ServerEvent): RecordedEvent {
  const { version, ...meta } = event.metadata as unknown as Meta & { readonly version: number }
  return {
    stream: event.streamId,
    revision: Number(event.revision),
    position: positionOf(event),
    type: event.type,
    version,
    data: event.data,
    meta,
  }
}

/** Position of a server event, system events included. */
export function positionOf(event: ServerEvent): number {
  return Number(event.position?.prepare ?? 0n)
}

/** Whether the event is one of the server's own: settings, statistics, links. */
export function isSystemEvent(event: ServerEvent): boolean {
  return event.type.startsWith('$') || event.streamId.startsWith('$')
}
