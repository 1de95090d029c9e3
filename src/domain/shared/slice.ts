import type { EventSchemas, RecordedOf } from '../../kernel/event.ts'

/**
 * The `evolve` table of one concept inside a larger state: it needs its own part and gives back the whole with that
 * part renewed, so that tables of several concepts merge into one entity.
 */
export type SliceOf<Part, S extends EventSchemas> = {
  readonly [K in keyof S & string]: <State extends Part>(state: State, event: RecordedOf<S, K>) => State
}
