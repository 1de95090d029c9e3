import { z } from 'zod'
import { id, instant } from '../kernel/wire.ts'
import { script } from './call-script.ts'
import type { Carrier } from './carrier.ts'

export const e164 = z.string().regex(/^\+[1-9]\d{6,14}$/)

export const placedCall = z.object({
  workspaceId: id,
  callId: id,
  carrierCallId: z.string(),
  to: e164,
  from: e164.nullable(),
  /** Sealed where the call is stored. */
  sipHeaders: z.record(z.string(), z.string()),
  script,
  mode: z.enum(['instant', 'live']),
  /** The call's own seconds in one of the clock's; 1 for an instant call, whose clock is its own. */
  speed: z.number().min(1),
  /** What the plan is drawn by; null for what was placed before it was rehearsed. */
  seed: z.int().nullable(),
  arrivesAt: instant,
  /** When the caller gives up, if they do. */
  givesUpAt: instant.nullable(),
})

export type PlacedCall = Readonly<z.infer<typeof placedCall>>

/** The simulated carrier: the carrier port, and placing calls on it. */
export interface Simulator extends Carrier {
  /**
   * Places a call and tells the platform of it. Resolves when the platform has it; for an instant call, when it is over.
   * @throws LogUnavailable, StoreUnavailable
   */
  readonly place: (call: PlacedCall) => Promise<void>
}
