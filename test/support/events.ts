import { randomUUID } from 'node:crypto'
import type { EventToAppend, RecordedEvent } from '../../src/kernel/event.ts'

/** An event for a log, of no kind that the domain knows. */
export function happened(data: unknown = {}, type = 'SomethingHappened'): EventToAppend {
  return {
    type,
    version: 1,
    data,
    meta: {
      eventId: randomUUID(),
      workspaceId: 'w1',
      at: '2026-03-01T12:00:00.000Z',
      actor: { type: 'system', id: null, name: 'Test' },
      commandId: randomUUID(),
      correlationId: randomUUID(),
      causationId: null,
      surface: 'test',
      ip: null,
      reads: { 'workspace-w1': 4 },
    },
  }
}

/** Several of them, numbered. */
export function several(count: number, text = ''): readonly EventToAppend[] {
  return Array.from({ length: count }, (_, n) => happened({ n, text }))
}

/** A stream name of its own, so that tests share a log. */
export function freshStream(category = 'thing'): string {
  return `${category}-${randomUUID()}`
}

/** What was appended, without where it came to lie. */
export function asAppended({ type, version, data, meta }: RecordedEvent): EventToAppend {
  return { type, version, data, meta }
}
