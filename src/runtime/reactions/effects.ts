import { LRUCache } from 'lru-cache'
import type { AnyCommand } from '../../kernel/command.ts'
import type { Actor, RecordedEvent } from '../../kernel/event.ts'
import type { AnyReaction } from '../../kernel/reaction.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CommandContext, CommandResult } from '../../ports/command-handler.ts'
import type { Claimant } from '../ownership/claims.ts'
import type { StreamWriter } from '../write/stream-writer.ts'
import { createExclusiveTasks } from './exclusive-task.ts'

/** Processed events that are remembered until the reactions read them in the log, and skip them. */
const MAX_PROCESSED = 200_000

/** What causes a command: an event, or a scheduled job (`eventId` null). */
export interface EffectCause {
  readonly meta: {
    readonly workspaceId: string | null
    readonly correlationId: string
    readonly eventId: string | null
  }
}

/** The tools that every effect has; the domain adds its own. */
export interface EffectTools<Tools> {
  /** Handles a command with its cause, then runs the effects of its events. Resolves to the refusal, if any. */
  readonly run: (command: AnyCommand, input: unknown, cause: EffectCause) => Promise<Refusal | null>
  readonly now: () => number
  /** Runs work under a claim. When this process runs it already, waits for that run; when another does, skips it. */
  readonly runExclusive: (what: string, work: (tools: Tools) => Promise<unknown>) => Promise<void>
}

/** What a process knows of the effects that it runs itself: reactions do not repeat them. */
export interface OwnEffects {
  /** Whether a reaction's effect of an event has succeeded in this process; asked once, for it is forgotten then. */
  readonly takeProcessed: (reaction: string, eventId: string) => boolean
  /** Resolves once this process does not run a reaction's effect of an event, or no longer. */
  readonly untilNotRunning: (reaction: string, eventId: string) => Promise<void>
}

/** Handles commands and runs the effects of their events in the same process, without waiting for the reactions. */
export interface Effects<Tools> extends OwnEffects {
  /** Handles a command, then runs the effects of its events. A failed effect is retried by its reaction. */
  readonly handle: (command: AnyCommand, input: unknown, context: CommandContext) => Promise<CommandResult | Refusal>
  /** Runs the effects of events. Resolves to the events that they led to. */
  readonly processEvents: (events: readonly RecordedEvent[]) => Promise<readonly RecordedEvent[]>
  /** Runs work with the tools of a reaction, and the effects of its commands. Resolves to the events that it led to. */
  readonly runEffects: (work: (tools: Tools) => Promise<unknown>) => Promise<readonly RecordedEvent[]>
  /** Tools for the reactions, which run the effects of other processes' events and those that a crash left undone. */
  readonly tools: Tools
}

/** Creates a set that forgets the least recently added ids when it is full. */
function createRecentIds(maxSize: number) {
  const ids = new LRUCache<string, true>({ maxSize, sizeCalculation: () => 1 })
  return { take: (id: string) => ids.delete(id), add: (id: string) => void ids.set(id, true) }
}

/** Runs the steps of reactions on given events, and remembers which succeeded. */
function createProcessor<Tools>(
  reactions: readonly AnyReaction<Tools>[],
  onFailure: (event: RecordedEvent, error: unknown) => void,
) {
  const processed = createRecentIds(MAX_PROCESSED)
  const running = new Map<string, Promise<void>>()
  const idOf = (reaction: string, eventId: string) => `${reaction} ${eventId}`

  async function complete(id: string, step: Promise<unknown>, event: RecordedEvent): Promise<void> {
    try {
      await step
      processed.add(id)
    } catch (error) {
      onFailure(event, error)
    } finally {
      running.delete(id)
    }
  }

  function track(reaction: string, step: Promise<unknown>, event: RecordedEvent): Promise<void> {
    const id = idOf(reaction, event.meta.eventId)
    const completed = complete(id, step, event)
    running.set(id, completed)
    return completed
  }

  return {
    takeProcessed: (reaction: string, eventId: string) => processed.take(idOf(reaction, eventId)),
    untilNotRunning: async (reaction: string, eventId: string) => running.get(idOf(reaction, eventId)),
    /** Steps start in the order of the events. One that fails is retried by the reaction runner. */
    async process(events: readonly RecordedEvent[], tools: Tools): Promise<void> {
      const steps: Promise<void>[] = []
      for (const event of events) {
        for (const { name, on } of reactions) {
          const step = on[event.type]
          if (step) steps.push(track(name, step(tools, event), event))
        }
      }
      await Promise.all(steps)
    },
  }
}

const contextOf = ({ meta }: EffectCause, actor: Actor, commandId: string): CommandContext => ({
  workspaceId: meta.workspaceId ?? '',
  actor,
  commandId,
  correlationId: meta.correlationId,
  causationId: meta.eventId,
  surface: actor.type,
  ip: null,
})

/**
 * Runs the effects of events in the process that appended them, from the same tables that the reactions use to follow
 * the log. A reaction runs the effects that a crash left undone.
 */
export function createEffects<Tools>(options: {
  readonly writer: StreamWriter
  readonly reactions: readonly AnyReaction<Tools>[]
  /** Adds the domain's own tools. */
  readonly toolsOf: (base: EffectTools<Tools>) => Tools
  readonly clock: Clock
  readonly claims: Claimant
  readonly newCommandId: () => string
  /** The actor of the commands that effects handle. */
  readonly actor: Actor
  readonly onFailure: (event: RecordedEvent, error: unknown) => void
}): Effects<Tools> {
  const { writer, toolsOf, clock, claims, newCommandId, actor } = options
  const { process, ...own } = createProcessor(options.reactions, options.onFailure)
  const runExclusive = createExclusiveTasks<RecordedEvent>(claims, clock)

  /** Tools that pass every event to which an effect leads to `collect`. */
  function createTools(collect: (events: readonly RecordedEvent[]) => void): Tools {
    const tools: Tools = toolsOf({
      run: async (command, input, cause) => {
        const outcome = await writer.handle(command, input, contextOf(cause, actor, newCommandId()))
        if (isRefusal(outcome)) return outcome
        collect(outcome.events)
        await process(outcome.events, tools)
        return null
      },
      now: () => clock.now(),
      runExclusive: async (name, work) => collect(await runExclusive(name, () => runEffects(work))),
    })
    return tools
  }

  async function runEffects(work: (tools: Tools) => Promise<unknown>): Promise<readonly RecordedEvent[]> {
    const collected: RecordedEvent[] = []
    await work(createTools((events) => collected.push(...events)))
    return collected
  }

  const tools = createTools(() => undefined)
  return {
    tools,
    async handle(command, input, context) {
      const outcome = await writer.handle(command, input, context)
      if (!isRefusal(outcome)) await process(outcome.events, tools)
      return outcome
    },
    processEvents: (events) => runEffects((by) => process(events, by)),
    runEffects,
    ...own,
  }
}
