import { secretHash } from '../../api/access.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import type { AnyCommand } from '../../kernel/command.ts'
import type { Actor, RecordedEvent } from '../../kernel/event.ts'
import type { AnyReaction } from '../../kernel/reaction.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import { newCommandId } from '../../main/system.ts'
import type { Carrier, CarrierNotice } from '../../ports/carrier.ts'
import type { Clock } from '../../ports/clock.ts'
import { callFlow } from '../../reactions/call-flow.ts'
import { orderFor } from '../../reactions/carrier-notices.ts'
import { DUE_WORK, type DueRow } from '../../reactions/due-work.ts'
import { type NumberTools, numberOrders } from '../../reactions/number-orders.ts'
import { renewals } from '../../reactions/renewals.ts'
import type { Cause } from '../../reactions/tools.ts'
import type { CommandCall, Outcome } from '../write/mailboxes.ts'
import type { StreamWriter } from '../write/stream-writer.ts'
import { type Claims, createLoneWork } from './exclusive-task.ts'

/** Handled events that are remembered until the reactions' own reading has passed them. */
const HANDLED = 200_000

/** What follows from events, with other commands or at the carrier. */
export const reactions: readonly AnyReaction<NumberTools>[] = [callFlow, numberOrders, renewals]

/** Commands, and what follows from them at once. */
export interface Flow {
  /** Handles a command and goes on with what follows from its events; what fails there is taken up by the reactions. */
  readonly handle: (command: AnyCommand, input: unknown, call: CommandCall) => Promise<Outcome | Refusal>
  /** Takes a notice of the carrier's: resolves when it is durable. */
  readonly listen: (notice: CarrierNotice) => Promise<void>
  /** Does a piece of due work. */
  readonly due: (kind: string, workspaceId: string, row: DueRow) => Promise<void>
  /** Goes on at once with what follows from events; answers the events that this came to. */
  readonly follow: (events: readonly RecordedEvent[]) => Promise<readonly RecordedEvent[]>
  /** Does what a reaction would do, and what follows from that; answers the events that this came to. */
  readonly goOn: (work: (tools: NumberTools) => Promise<unknown>) => Promise<readonly RecordedEvent[]>
  /** Whether this process has gone on from an event already. */
  readonly handled: (reaction: string, eventId: string) => boolean
  /** What the reactions work with when they go on from events of others, or of a crash. */
  readonly tools: NumberTools
}

/** A notice came before what its call begins with was recorded. */
class CallNotBegun extends Error {
  override readonly name = 'CallNotBegun'
}

/** Refusals of notices that came before what they rest on. */
const OVERTAKING: ReadonlySet<string> = new Set(['call-not-found', 'call-not-answered'])

const CARRIER: Actor = { type: 'carrier', id: null, name: 'Carrier' }
const SYSTEM: Actor = { type: 'system', id: null, name: 'Ringledger' }

/** A set that forgets its oldest half when it is full. */
function recently(size: number) {
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

type Steps = Readonly<Record<string, ((tools: NumberTools, event: RecordedEvent) => Promise<unknown>) | undefined>>

/** Puts the writer, the carrier and the reactions together. */
export function createFlow(options: {
  readonly writer: StreamWriter
  readonly carrier: () => Carrier
  readonly clock: Clock
  readonly claims: Claims
  readonly onFailure: (event: RecordedEvent, error: unknown) => void
}): Flow {
  const { writer, carrier, clock, claims, onFailure } = options
  const done = recently(HANDLED)
  const lone = createLoneWork(claims, clock)

  const callOf = (
    workspaceId: string,
    actor: Actor,
    correlationId: string,
    causationId: string | null,
  ): CommandCall => ({
    workspaceId,
    actor,
    commandId: newCommandId(),
    correlationId,
    causationId,
    surface: actor.type,
    ip: null,
  })

  const doneBy = (reaction: string, eventId: string) => `${reaction} ${eventId}`

  /** What reactions work with; `hear` is told of every event that they lead to. */
  function toolsWith(hear: (events: readonly RecordedEvent[]) => void): NumberTools {
    const tools: NumberTools = {
      run: async (command, input, { meta }) => {
        const { workspaceId, correlationId, eventId } = meta
        const outcome = await writer.handle(command, input, callOf(workspaceId ?? '', SYSTEM, correlationId, eventId))
        if (isRefusal(outcome)) return outcome
        hear(outcome.events)
        await follow(outcome.events, tools)
        return null
      },
      get carrier() {
        return carrier()
      },
      now: () => clock.now(),
      configuration: (workspaceId) => writer.stateOf(workspace, workspaceId),
      alone: async (what, work) => hear(await lone(what, () => goOn(work))),
    }
    return tools
  }

  async function goOn(work: (tools: NumberTools) => Promise<unknown>): Promise<readonly RecordedEvent[]> {
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

  /** Goes on from events at once. Steps begin in the order of the events; one that fails is left to its reaction. */
  async function follow(events: readonly RecordedEvent[], by = tools): Promise<void> {
    const going: Promise<void>[] = []
    for (const event of events) {
      for (const { name, on } of reactions) {
        const step = (on as Steps)[event.type]
        if (step) going.push(take(name, step(by, event), event))
      }
    }
    await Promise.all(going)
  }

  async function handle(command: AnyCommand, input: unknown, call: CommandCall): Promise<Outcome | Refusal> {
    const outcome = await writer.handle(command, input, call)
    if (!isRefusal(outcome)) await follow(outcome.events)
    return outcome
  }

  return {
    tools,
    handle,
    follow: (events) => goOn((by) => follow(events, by)),
    goOn,
    handled: (reaction, eventId) => done.has(doneBy(reaction, eventId)),
    async listen(notice) {
      const { command, input } = orderFor(notice, secretHash)
      const { workspaceId, callId } = notice
      const outcome = await handle(command, input, callOf(workspaceId, CARRIER, callId, null))
      // A notice that overtook what it rests on would be lost: the carrier is to tell it again.
      if (isRefusal(outcome) && OVERTAKING.has(outcome.refused)) throw new CallNotBegun(callId)
    },
    async due(kind, workspaceId, row) {
      const cause: Cause = { meta: { workspaceId, correlationId: row.subjectId, eventId: null } }
      await DUE_WORK[kind]?.(tools, row, cause)
    },
  }
}
