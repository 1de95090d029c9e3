import { type Entity, type Upcast, upcast } from '../kernel/entity.ts'
import type { EventLog } from '../ports/event-log.ts'

/** The upcasts of every event type (types are unique over all entities). */
export type Upcasts = Readonly<Record<string, readonly Upcast[] | undefined>>

/** The upcasts of all entities by event type. */
export function upcastsOf(entities: readonly Pick<Entity, 'upcasts'>[]): Upcasts {
  return Object.assign({}, ...entities.map((entity) => entity.upcasts))
}

/** Reads of streams whose events are of the versions that this code knows. @throws UnknownEventVersion, for a later one */
export function readUpcast(read: EventLog['read'], upcasts: Upcasts): EventLog['read'] {
  return async (...range) => (await read(...range)).map((event) => upcast({ upcasts }, event))
}
