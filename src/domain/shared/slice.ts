import type { EventSchemas, RecordedOf } from '../../kernel/event.ts'

/**
 * The `evolve` table of one concept inside a larger state. Each step needs only its own part and returns the whole state
 * with that part replaced, so the tables of several concepts merge into one entity.
 */
export type SliceOf<Part, S extends EventSchemas> = {
  readonly [K in keyof S & string]: <State extends Part>(state: State, event: RecordedOf<S, K>) => State
}
