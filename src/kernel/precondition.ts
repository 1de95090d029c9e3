import type { z } from 'zod'
import type { Refusal } from './refusal.ts'

/**
 * A check of a stream's state before a command's own rules. What it compares is data, so that the process that decides
 * a command need not be the one that received it.
 */
export interface Precondition<Input = unknown, State = unknown> {
  readonly name: string
  readonly input: z.ZodType<Input>
  /** A refusal, or null when the command may be decided. */
  readonly check: (input: Input, state: State) => Refusal | null
}

/** Any precondition, for registries. */
// biome-ignore lint/suspicious/noExplicitAny: a registry holds preconditions of every input and state.
export type AnyPrecondition = Precondition<any, any>

/** A precondition, and what it compares the state with. */
export interface Requirement {
  readonly precondition: AnyPrecondition
  readonly input: unknown
}

/** Defines a precondition. Returns what makes a requirement of it. */
export function definePrecondition<Input, State>(definition: Precondition<Input, State>) {
  return Object.assign((input: Input): Requirement => ({ precondition: definition, input }), { definition })
}

/** The first refusal of requirements, on a state; null when all are met. */
export function refuseUnmet(requirements: readonly Requirement[], state: unknown): Refusal | null {
  for (const { precondition, input } of requirements) {
    const refusal = precondition.check(input, state)
    if (refusal) return refusal
  }
  return null
}
