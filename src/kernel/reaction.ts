import type { EventSchemas, RecordedOf } from './event.ts'

/**
 * Event → side effect or further command. It runs at least once for each event and must be idempotent: ids derived
 * from the event's, commands with natural keys. `Tools` is what the composition root hands to reactions.
 */
export interface Reaction<Tools, S extends EventSchemas = EventSchemas> {
  readonly name: string
  readonly events: S
  /** Where it begins when it has no checkpoint: at the first event of the log, or after the last one. */
  readonly from: 'start' | 'now'
  /** The result is ignored. */
  readonly on: { readonly [K in keyof S & string]?: (tools: Tools, event: RecordedOf<S, K>) => Promise<unknown> }
  /**
   * Types of the events that one command of the step appends, with the step's event as their cause. A process that has read
   * one of them skips the step. Only for steps that run a single command.
   */
  readonly doneBy: { readonly [K in keyof S & string]?: readonly string[] }
}

/** Any reaction, for registries. */
// biome-ignore lint/suspicious/noExplicitAny: a registry holds reactions to every event.
export type AnyReaction<Tools> = Reaction<Tools, any>

/** Defines a reaction. */
export function defineReaction<Tools, const S extends EventSchemas>(definition: {
  readonly name: string
  readonly events: S
  readonly from: 'start' | 'now'
  readonly on: Reaction<Tools, NoInfer<S>>['on']
  readonly doneBy?: { readonly [K in keyof NoInfer<S> & string]?: readonly string[] }
}): Reaction<Tools, S> {
  return { doneBy: {}, ...definition }
}
