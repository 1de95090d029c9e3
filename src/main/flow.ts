import type { AnyCommand } from '../kernel/command.ts'
import type { Actor, RecordedEvent } from '../kernel/event.ts'
import { isRefusal, type Refusal } from '../kernel/refusal.ts'
import type { Carrier, CarrierNotice } from '../ports/carrier.ts'
import type { Clock } from '../ports/clock.ts'
import { callFlow, type FlowTools } from '../reactions/call-flow.ts'
import { orderFor } from '../reactions/carrier-notices.ts'
import { DUE_WORK, type DueRow } from '../reactions/due-work.ts'
import type { CommandCall, Outcome } from '../runtime/mailboxes.ts'
import type { StreamWriter } from '../runtime/stream-writer.ts'
import { newCommandId } from './system.ts'

/** Handled events that are remembered until the reaction's own reading has passed them. */
const HANDLED = 200_000

/** Commands of a call, and what follows from them at once. */
export interface Flow {
  /** Handles a command and goes on with what follows from its events; what fails there is taken up by the reaction. */
  readonly handle: (command: AnyCommand, input: unknown, call: CommandCall) => Promise<Outcome | Refusal>
  /** Takes a notice of the carrier's: resolves when it is durable. */
  readonly listen: (notice: CarrierNotice) => Promise<void>
  /** Does a piece of due work. */
  readonly due: (kind: string, workspaceId: string, row: DueRow) => Promise<void>
  /** Whether this process has gone on from an event already. */
  readonly handled: (reaction: string, eventId: string) => boolean
  /** What the reaction works with when it goes on from events of others, or of a crash. */
  readonly tools: FlowTools
}

/** A notice came before what its call begins with was recorded. */
class CallNotBegun extends Error {
  override readonly name = 'CallNotBegun'
}

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

/** Puts the writer, the carrier and the call's reaction together. */
export function createFlow(options: {
  readonly writer: StreamWriter
  readonly carrier: () => Carrier
  readonly clock: Clock
  readonly onFailure: (event: RecordedEvent, error: unknown) => void
}): Flow {
  const { writer, carrier, clock, onFailure } = options
  const done = recently(HANDLED)

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

  const tools: FlowTools = {
    run: async (command, input, { meta }) => {
      const { workspaceId, correlationId, eventId } = meta
      const outcome = await writer.handle(command, input, callOf(workspaceId ?? '', SYSTEM, correlationId, eventId))
      if (!isRefusal(outcome)) await follow(outcome.events)
    },
    get carrier() {
      return carrier()
    },
    now: () => clock.now(),
  }

  const steps = callFlow.on as Readonly<
    Record<string, ((tools: FlowTools, event: RecordedEvent) => Promise<void>) | undefined>
  >

  /** Goes on from events at once. Steps begin in the order of the events; one that fails is left to the reaction. */
  async function follow(events: readonly RecordedEvent[]): Promise<void> {
    const going = events.map(async (event) => {
      const step = steps[event.type]
      if (!step) return
      try {
        await step(tools, event)
        done.add(event.meta.eventId)
      } catch (error) {
        onFailure(event, error)
      }
    })
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
    handled: (_reaction, eventId) => done.has(eventId),
    async listen(notice) {
      const { command, input } = orderFor(notice)
      const { workspaceId, callId } = notice
      const outcome = await handle(command, input, callOf(workspaceId, CARRIER, callId, null))
      // A notice that overtook the beginning of its call would be lost: the carrier is to tell it again.
      if (isRefusal(outcome) && outcome.refused === 'call-not-found') throw new CallNotBegun(callId)
    },
    async due(kind, workspaceId, row) {
      const work = DUE_WORK[kind]
      if (work) await handle(work.command, work.input(row), callOf(workspaceId, SYSTEM, row.callId, null))
    },
  }
}
