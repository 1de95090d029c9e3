import type { EventSchemas, RecordedOf } from './event.ts'

/**
 * Event → side effect or further command. It runs at least once for each event and must be idempotent: ids derived
 * from the event's, commands with natural keys. `Tools` is what the composition root hands to reactions.
 */
export interface Reaction<Tools, S extends EventSchemas = EventSchemas> {
  readonly name: string
  readonly events: S
  /** The result is ignored. */
  readonly on: { readonly [K in keyof S & string]?: (tools: Tools, event: RecordedOf<S, K>) => Promise<unknown> }
}

/** Any reaction, for registries. */
// biome-ignore lint/suspicious/noExplicitAny: a registry holds reactions to every event.
export type AnyReaction<Tools> = Reaction<Tools, any>

/** Defines a reaction. */
export function defineReaction<Tools, const S extends EventSchemas>(definition: {
  readonly name: string
  readonly events: S
  readonly on: Reaction<Tools, NoInfer<S>>['on']
}): Reaction<Tools, S> {
  return definition
}
