import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { id, instant } from '../../kernel/wire.ts'
import { type PlacedCall, placedCall } from '../../ports/simulated-carrier.ts'

const plannedEnd = z.object({ at: instant, hungUpBy: z.enum(['caller', 'agent', 'platform']) })

/** These names are the storage format. */
export const simulatedCallEvents = {
  SimulatedCallPlaced: placedCall,
  SimulatedDialTaken: z.object({
    commandId: z.string(),
    attempt: z.int(),
    targetId: id,
    /** Key of the dial in the script. */
    scripted: z.string(),
    answered: z.boolean(),
    outcome: z.enum(['no_answer', 'busy', 'rejected', 'failed', 'abandoned']).nullable(),
    sipCode: z.int().nullable(),
    retryAfterSeconds: z.int().nullable(),
    whisperAccepted: z.boolean().nullable(),
    resultAt: instant,
    /** When the call will end, if this dial is answered. */
    ends: plannedEnd.nullable(),
    /** Whether the call is recorded once this dial is answered. */
    record: z.boolean(),
  }),
  SimulatedReleaseTaken: z.object({
    commandId: z.string(),
    action: z.enum(['hangup', 'message', 'forward']),
    ends: plannedEnd,
  }),
  SimulatedCallEnded: plannedEnd,
}

type DialTaken = z.infer<typeof simulatedCallEvents.SimulatedDialTaken>

export interface SimulatedCallState {
  readonly placed: PlacedCall | null
  readonly dials: readonly DialTaken[]
  /** Ids of the executed commands: none is executed twice. */
  readonly commands: readonly string[]
  readonly ends: z.infer<typeof plannedEnd> | null
  readonly ended: boolean
}

/**
 * A simulated call: its script and its progress, stream `simulator-<pp>-<carrierCallId>`. Like a carrier's, it survives a
 * restart of the platform.
 */
export const simulatedCall = defineEntity({
  name: 'simulator',
  version: 1,
  events: simulatedCallEvents,
  initial: { placed: null, dials: [], commands: [], ends: null, ended: false } as SimulatedCallState,
  evolve: {
    SimulatedCallPlaced: (state, { data }) => ({
      ...state,
      placed: data,
      ends: data.givesUpAt === null ? null : { at: data.givesUpAt, hungUpBy: 'caller' as const },
    }),
    SimulatedDialTaken: (state, { data }) => ({
      ...state,
      dials: [...state.dials, data],
      commands: [...state.commands, data.commandId],
      ends: earlierEnd(state.ends, data.ends),
    }),
    SimulatedReleaseTaken: (state, { data }) => ({
      ...state,
      commands: [...state.commands, data.commandId],
      ends: earlierEnd(state.ends, data.ends),
    }),
    SimulatedCallEnded: (state) => ({ ...state, ended: true }),
  },
})

function earlierEnd(one: SimulatedCallState['ends'], other: SimulatedCallState['ends']): SimulatedCallState['ends'] {
  if (!one || !other) return one ?? other
  return other.at < one.at ? other : one
}
