import { evolve, fold, streamOf, versionOf } from '../../kernel/entity.ts'
import type { EventOf, RecordedEvent } from '../../kernel/event.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Random } from '../../ports/random.ts'
import type { PlacedCall } from '../../ports/simulated-carrier.ts'
import { type SimulatedCallState, simulatedCall, type simulatedCallEvents } from './simulated-call.ts'

/** A simulated call folded to a revision of its stream; -1 where nothing was written. */
export interface StoredCall {
  readonly state: SimulatedCallState
  readonly revision: number
  /** Recorded time of its newest event (ISO): that of the next one is no earlier. Empty where nothing was written. */
  readonly at: string
}

/** A call that was not placed yet. */
export const NO_CALL: StoredCall = { state: simulatedCall.initial, revision: -1, at: '' }

export interface CallStreamPorts {
  readonly log: EventLog
  readonly clock: Clock
  readonly random: Random
}

/** Reads a call. @throws LogUnavailable */
export async function readCall({ log }: Pick<CallStreamPorts, 'log'>, carrierCallId: string): Promise<StoredCall> {
  const events = await log.read(streamOf(simulatedCall, carrierCallId), 0)
  return { state: fold(simulatedCall, events), revision: events.length - 1, at: events.at(-1)?.meta.at ?? '' }
}

/**
 * Appends an event to a call as this process knows it; null when the stream holds more: another process plays the call,
 * or an earlier append landed unacknowledged. The expected revision fences players off from each other. The runtime's
 * writer would decide again on the new state, so calls are not written through it.
 * @throws LogUnavailable
 */
export async function appendToCall(
  { log, clock, random }: CallStreamPorts,
  { workspaceId, callId, carrierCallId }: Pick<PlacedCall, 'workspaceId' | 'callId' | 'carrierCallId'>,
  { state, revision, at: last }: StoredCall,
  event: EventOf<typeof simulatedCallEvents>,
): Promise<StoredCall | null> {
  const stream = streamOf(simulatedCall, carrierCallId)
  const now = new Date(clock.now()).toISOString()
  const at = now < last ? last : now
  const recorded: RecordedEvent = {
    ...event,
    stream,
    revision: revision + 1,
    position: -1,
    version: versionOf(simulatedCall, event.type),
    meta: {
      eventId: random.uuid(),
      workspaceId,
      at,
      actor: { type: 'carrier', id: null, name: 'Simulated carrier' },
      commandId: carrierCallId,
      correlationId: callId,
      causationId: null,
      surface: 'carrier',
      ip: null,
    },
  }
  const result = await log.append(stream, revision, [recorded])
  return result.ok ? { state: evolve(simulatedCall, state, recorded), revision: revision + 1, at } : null
}
