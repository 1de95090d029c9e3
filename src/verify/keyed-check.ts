import type { RecordedEvent } from '../kernel/event.ts'

/** A state after an event, and what is wrong with the event beside it, each as the rest of a sentence after the event's name. */
export interface Step<State> {
  readonly state: State
  readonly problems: readonly string[]
}

/** When the log was checked, for what is due only a while after an event. */
export interface CheckTime {
  /** Present instant (ISO). */
  readonly now: string
}

/**
 * A check of events against earlier ones with the same key, as data with pure steps. States are plain JSON, so that the log
 * may have more keys than fit into memory.
 */
export interface KeyedCheck<State> {
  readonly name: string
  /** What it proves, in one sentence. */
  readonly proves: string
  /** Keys whose states an event touches; none for an event that does not concern the check. */
  readonly keys: (event: RecordedEvent) => readonly string[]
  readonly initial: State
  readonly step: (state: State, event: RecordedEvent, key: string) => Step<State>
  /** What is wrong with a key when the whole log was read, as sentences; left out where nothing can be. */
  readonly end?: (state: State, key: string, time: CheckTime) => readonly string[]
}

/** Any keyed check, for the table of them. */
// biome-ignore lint/suspicious/noExplicitAny: the table holds checks of every state.
export type AnyKeyedCheck = KeyedCheck<any>

/** No problems, with a state. */
export function fine<State>(state: State): Step<State> {
  return { state, problems: [] }
}

/** A state with the problems of a list that are not false. */
export function stepOf<State>(state: State, ...problems: readonly (string | false)[]): Step<State> {
  return { state, problems: problems.filter((problem) => problem !== false) }
}

/** The later of two instants (ISO; empty for none). */
export function laterInstant(one: string, other: string): string {
  if (one > other) return one
  return other
}
