import type { Map as PersistentMap } from 'immutable'
import type { EventSchemas, RecordedOf } from '../../kernel/event.ts'

/**
 * The `evolve` table of one concept inside a larger state. Each step needs only its own part and returns the whole state
 * with that part replaced, so the tables of several concepts merge into one entity.
 */
export type SliceOf<Part, S extends EventSchemas> = {
  readonly [K in keyof S & string]: <State extends Part>(state: State, event: RecordedOf<S, K>) => State
}

/** Creates a step that changes the record of an id in one of a state's maps; a state without that record stays as it is. */
export function createRecordUpdate<Value, Field extends string>(field: Field) {
  return <State extends { readonly [F in Field]: PersistentMap<string, Value> }>(
    state: State,
    id: string,
    change: (old: Value) => Value,
  ): State => ({ ...state, [field]: state[field].update(id, (old) => old && change(old)) })
}
