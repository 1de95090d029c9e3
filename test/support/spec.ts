import { expect } from 'vitest'
import type { Command, Memory, Reads, StatesOf } from '../../src/kernel/command.ts'
import { type AnyEntity, type Entity, streamOf, versionOf } from '../../src/kernel/entity.ts'
import type { Actor, EventOf, EventSchemas, NewEvent, RecordedEvent } from '../../src/kernel/event.ts'
import { isRefusal, type Refusal } from '../../src/kernel/refusal.ts'
import { emptyFold, foldEvents } from '../../src/runtime/fold.ts'

/** The workspace and the time of every specification. */
export const WORKSPACE = '01900000-0000-7000-8000-00000000000a'
export const NOW = '2026-03-10T15:00:00.000Z'

const ADA: Actor = { type: 'user', id: '01900000-0000-7000-8000-000000000001', name: 'Ada' }

/** An id for a record of a specification: the same for the same number. */
export function idOf(n: number): string {
  return `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
}

/** The n-th id (from 0) that a decision mints. */
export function mintedId(n: number): string {
  return idOf(0xf000 + n)
}

/** Events as the log would give them back; each at the instant of its place in `at`, or now. */
export function recorded(
  entity: AnyEntity,
  events: readonly NewEvent[],
  { from = 0, at = NOW } = {},
): readonly RecordedEvent[] {
  return events.map((event, n) => ({
    ...event,
    stream: streamOf(entity, WORKSPACE),
    revision: from + n,
    position: from + n,
    version: versionOf(entity, event.type),
    meta: {
      eventId: idOf(0xe000 + from + n),
      workspaceId: WORKSPACE,
      at,
      actor: ADA,
      commandId: `command-${from + n}`,
      correlationId: 'spec',
      causationId: null,
      surface: 'spec',
      ip: null,
    },
  }))
}

/** The state that events fold to. */
export function folded<State, S extends EventSchemas>(
  entity: Entity<State, S>,
  events: readonly NewEvent[],
  at = NOW,
): State {
  return foldEvents(entity, emptyFold(entity), recorded(entity, events, { at })).state
}

interface Circumstances<R extends Reads> {
  /** States of the other streams that the command reads. */
  readonly reads?: Partial<StatesOf<R>>
  /** Documents of the memories, by `name/id`. */
  readonly memory?: Readonly<Record<string, unknown>>
  readonly at?: string
  /** Number of the first id that is minted. */
  readonly firstId?: number
  /** Who commands it, in which workspace and by which command: Ada, here, by `command`. */
  readonly actor?: Actor
  readonly workspaceId?: string
  readonly commandId?: string
}

/** Commanded through an API key. */
export const BY_KEY = { actor: { type: 'key', id: idOf(2), name: 'Full key' } } as const

type Outcome<S extends EventSchemas> = readonly EventOf<S>[] | Refusal

/** What must come of it: a refusal with these fields, or exactly so many events, each holding at least this. */
type Expected = Partial<Refusal> | readonly { readonly type: string; readonly data?: object }[]

/** Given what has happened, when this is commanded, it gives that. */
export function given<State, S extends EventSchemas>(
  entity: Entity<State, S>,
  events: readonly NewEvent[] = [],
  at = NOW,
) {
  const state = folded(entity, events, at)
  return {
    when<Input, R extends Reads>(
      command: Command<Input, State, S, R, string>,
      input: unknown,
      circumstances: Circumstances<R> = {},
    ) {
      let minted = circumstances.firstId ?? 0
      const reads = Object.fromEntries(
        Object.entries(command.reads).map(([name, other]) => [name, circumstances.reads?.[name] ?? other.initial]),
      ) as StatesOf<R>
      const parsed = command.input.parse(input)
      const declared = command.recalls(parsed, state, reads).map(({ memory, id }) => `${memory.name}/${id}`)
      const recall = <Doc>(memory: Memory<Doc>, id: string): Doc | null => {
        const key = `${memory.name}/${id}`
        return declared.includes(key) ? ((circumstances.memory?.[key] ?? null) as Doc | null) : null
      }
      const outcome: Outcome<S> = command.decide(parsed, state, {
        now: circumstances.at ?? NOW,
        workspaceId: circumstances.workspaceId ?? WORKSPACE,
        actor: circumstances.actor ?? ADA,
        commandId: circumstances.commandId ?? 'command',
        newId: () => mintedId(minted++),
        seed: 1,
        reads,
        revisions: {},
        recall,
      })
      const written = isRefusal(outcome) ? [] : outcome
      for (const event of written) expect(entity.events[event.type]?.parse(event.data)).toEqual(event.data)
      if (isRefusal(outcome)) expect(command.rejects).toContain(outcome.refused)
      return {
        outcome,
        /** The stream's events with those of the outcome behind them. */
        events: [...events, ...written] as readonly NewEvent[],
        state: folded(entity, [...events, ...written], at),
        gives(expected: Expected) {
          if (Array.isArray(expected)) expect(written).toHaveLength(expected.length)
          expect(outcome).toMatchObject(expected)
        },
      }
    },
  }
}
