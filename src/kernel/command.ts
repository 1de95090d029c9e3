import type { z } from 'zod'
import type { AnyEntity, Entity } from './entity.ts'
import type { Actor, EventOf, EventSchemas } from './event.ts'
import type { Refusal } from './refusal.ts'

/**
 * Decision memory (Architecture §2): the projection of the same name, in which a decision looks documents up by key
 * that are older than the hour that its fold covers.
 */
export interface DecisionMemory<Doc = unknown> {
  readonly name: string
  readonly doc: z.ZodType<Doc>
}

/** One look-up in a decision memory. */
export interface MemoryLookup {
  readonly memory: DecisionMemory
  readonly id: string
}

/** The other folds that a decision reads, by name; all belong to the command's workspace. */
export type Reads = Readonly<Record<string, AnyEntity>>
export type StatesOf<R extends Reads> = {
  readonly [K in keyof R]: R[K] extends Entity<infer State, infer _S> ? State : never
}

/** Everything that a decision may read beside its input and its stream's state. */
export interface DecisionContext<R extends Reads = Reads> {
  /** When the command is decided: ISO 8601, UTC, milliseconds. */
  readonly now: string
  readonly workspaceId: string
  readonly actor: Actor
  readonly commandId: string
  /** A fresh UUIDv7; the n-th call of one command returns the same id each time the command is decided. */
  readonly newId: () => string
  /** A seed of 32 bits, the same each time the command is decided. */
  readonly seed: number
  readonly reads: StatesOf<R>
  /** Revisions of the folds read, by stream name; -1 for an empty stream. */
  readonly revisions: Readonly<Record<string, number>>
  /** The document of a declared look-up; null when there is none. */
  readonly lookUp: <Doc>(memory: DecisionMemory<Doc>, id: string) => Doc | null
}

/** A rule about one stream: input and state in, events or a refusal out. No events means "already so". */
export interface Command<
  Input = unknown,
  State = unknown,
  S extends EventSchemas = EventSchemas,
  R extends Reads = Reads,
  Code extends string = string,
> {
  readonly name: string
  readonly entity: Entity<State, S>
  readonly input: z.ZodType<Input>
  /** Id of the stream; by default the workspace's. */
  readonly id: (input: Input, workspaceId: string) => string
  /**
   * Whether it begins its stream, unless it is repeated: it is decided on an empty stream first, without a read. Where events are
   * there, the append conflicts, and it is decided on the tail.
   */
  readonly begins: boolean
  readonly reads: R
  /**
   * How old the folds that it reads may be (ms), where it must not wait for their tails; 0: each is read to its tail at the
   * decision. What they held is recorded by their revisions either way.
   */
  readonly readsMaxAgeMs: number
  /** Look-ups that the decision needs, given the current folds. */
  readonly lookups: (input: Input, state: State, reads: StatesOf<R>) => readonly MemoryLookup[]
  readonly rejects: readonly Code[]
  /** Refusals that ask for more input. They end nothing, so they hold on a cached fold as well. */
  readonly asks: readonly Code[]
  readonly decide: (input: Input, state: State, context: DecisionContext<R>) => readonly EventOf<S>[] | Refusal<Code>
}

/** Any command, for registries. */
// biome-ignore lint/suspicious/noExplicitAny: a registry holds commands of every input and state.
export type AnyCommand = Command<any, any, any, any, string>

/** Defines a command. A refusal that `rejects` does not list, or an event that the entity does not have, does not compile. */
export function defineCommand<
  Input,
  State,
  const S extends EventSchemas,
  const R extends Reads = Record<never, AnyEntity>,
  const Code extends string = never,
>(definition: {
  readonly name: string
  readonly entity: Entity<State, S>
  readonly input: z.ZodType<Input>
  readonly id?: (input: Input, workspaceId: string) => string
  readonly begins?: boolean
  readonly reads?: R
  readonly readsMaxAgeMs?: number
  readonly lookups?: (input: Input, state: State, reads: StatesOf<R>) => readonly MemoryLookup[]
  readonly rejects?: readonly Code[]
  readonly asks?: readonly NoInfer<Code>[]
  readonly decide: (
    input: Input,
    state: State,
    context: DecisionContext<R>,
  ) => readonly EventOf<NoInfer<S>>[] | Refusal<NoInfer<Code>>
}): Command<Input, State, S, R, Code> {
  return {
    id: (_input, workspaceId) => workspaceId,
    begins: false,
    reads: {} as R,
    readsMaxAgeMs: 0,
    lookups: () => [],
    rejects: [],
    asks: [],
    ...definition,
  }
}
