import type { Entity, Upcast } from '../kernel/entity.ts'

/** The upcasts of every event type (types are unique over all entities). */
export type Upcasts = Readonly<Record<string, readonly Upcast[] | undefined>>

/** The upcasts of all entities by event type. */
export function upcastsOf(entities: readonly Pick<Entity, 'upcasts'>[]): Upcasts {
  return Object.assign({}, ...entities.map((entity) => entity.upcasts))
}
