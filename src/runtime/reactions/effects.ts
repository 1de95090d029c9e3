import type { AnyCommand } from '../../kernel/command.ts'
import type { Actor, RecordedEvent } from '../../kernel/event.ts'
import type { AnyReaction } from '../../kernel/reaction.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CommandContext, CommandResult } from '../../ports/command-handler.ts'
import type { StreamWriter } from '../write/stream-writer.ts'
import { createExclusiveTasks, type LeaseOwner } from './exclusive-task.ts'

/** Handled events that are remembered until the reactions' own reading has passed them. */
const HANDLED = 200_000

/** The event, or the due work (its id null), on whose account a command is handled. */
export interface EffectCause {
  readonly meta: {
    readonly workspaceId: string | null
    readonly correlationId: string
    readonly eventId: string | null
  }
}

/** What every effect works with, whatever the domain adds. */
export interface EffectTools<Tools> {
  /** Handles a command on account of something, and its effects; resolves to null unless it was refused. */
  readonly run: (command: AnyCommand, input: unknown, cause: EffectCause) => Promise<Refusal | null>
  readonly now: () => number
  /** Does a piece of work unless another does it already, here (then it waits for that) or in another process. */
  readonly runExclusive: (what: string, work: (tools: Tools) => Promise<unknown>) => Promise<void>
}

/** Commands, and their effects at once. */
export interface Effects<Tools> {
  /** Handles a command, then runs the effects of its events. An effect that fails is left to its reaction. */
  readonly handle: (command: AnyCommand, input: unknown, call: CommandContext) => Promise<CommandResult | Refusal>
  /** Runs the effects of events at once; resolves to the events that they led to. */
  readonly processEvents: (events: readonly RecordedEvent[]) => Promise<readonly RecordedEvent[]>
  /** Does what a reaction would do, and its effects; resolves to the events that this led to. */
  readonly runEffects: (work: (tools: Tools) => Promise<unknown>) => Promise<readonly RecordedEvent[]>
  /** Whether this process has run a reaction's effect of an event already. */
  readonly isProcessed: (reaction: string, eventId: string) => boolean
  /** What reactions work with when they run the effects of other processes' events, or after a crash. */
  readonly tools: Tools
}

/** A set that forgets its oldest half when it is full. */
function createRecentIds(size: number) {
  let newer = new Set<string>()
  let older = new Set<string>()
  return {
    has: (id: string) => newer.has(id) || older.has(id),
    add(id: string): void {
      newer.add(id)
      if (newer.size < size / 2) return
      older = newer
      newer = new Set()
    },
  }
}

type Steps<Tools> = Readonly<Record<string, ((tools: Tools, event: RecordedEvent) => Promise<unknown>) | undefined>>

/**
 * Runs the effects of events in the process that appended them, by the very tables that the reactions follow the log
 * with: what a crash leaves undone, a reaction does.
 */
export function createEffects<Tools>(options: {
  readonly writer: StreamWriter
  readonly reactions: readonly AnyReaction<Tools>[]
  /** Completes the tools by what the domain's effects need. */
  readonly toolsOf: (base: EffectTools<Tools>) => Tools
  readonly clock: Clock
  readonly claims: LeaseOwner
  readonly newCommandId: () => string
  /** On whose account effects issue commands. */
  readonly actor: Actor
  readonly onFailure: (event: RecordedEvent, error: unknown) => void
}): Effects<Tools> {
  const { writer, reactions, toolsOf, clock, claims, newCommandId, actor, onFailure } = options
  const done = createRecentIds(HANDLED)
  const lone = createExclusiveTasks(claims, clock)
  const doneBy = (reaction: string, eventId: string) => `${reaction} ${eventId}`

  const callOf = ({ meta }: EffectCause): CommandContext => ({
    workspaceId: meta.workspaceId ?? '',
    actor,
    commandId: newCommandId(),
    correlationId: meta.correlationId,
    causationId: meta.eventId,
    surface: actor.type,
    ip: null,
  })

  /** The tools of effects; `hear` receives every event that they lead to. */
  function toolsWith(hear: (events: readonly RecordedEvent[]) => void): Tools {
    const tools: Tools = toolsOf({
      run: async (command, input, cause) => {
        const outcome = await writer.handle(command, input, callOf(cause))
        if (isRefusal(outcome)) return outcome
        hear(outcome.events)
        await follow(outcome.events, tools)
        return null
      },
      now: () => clock.now(),
      runExclusive: async (what, work) => hear(await lone(what, () => runEffects(work))),
    })
    return tools
  }

  async function runEffects(work: (tools: Tools) => Promise<unknown>): Promise<readonly RecordedEvent[]> {
    const events: RecordedEvent[] = []
    await work(toolsWith((heard) => events.push(...heard)))
    return events
  }

  const tools = toolsWith(() => undefined)

  async function take(reaction: string, step: Promise<unknown>, event: RecordedEvent): Promise<void> {
    try {
      await step
      done.add(doneBy(reaction, event.meta.eventId))
    } catch (error) {
      onFailure(event, error)
    }
  }

  /** Runs the effects of events. Steps begin in the order of the events; one that fails is left to its reaction. */
  async function follow(events: readonly RecordedEvent[], by = tools): Promise<void> {
    const going: Promise<void>[] = []
    for (const event of events) {
      for (const { name, on } of reactions) {
        const step = (on as Steps<Tools>)[event.type]
        if (step) going.push(take(name, step(by, event), event))
      }
    }
    await Promise.all(going)
  }

  return {
    tools,
    async handle(command, input, call) {
      const outcome = await writer.handle(command, input, call)
      if (!isRefusal(outcome)) await follow(outcome.events)
      return outcome
    },
    processEvents: (events) => runEffects((by) => follow(events, by)),
    runEffects,
    isProcessed: (reaction, eventId) => done.has(doneBy(reaction, eventId)),
  }
}
