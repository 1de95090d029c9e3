import { z } from 'zod'
import { id, instant } from '../kernel/wire.ts'
import { script } from './call-script.ts'
import type { Carrier } from './carrier.ts'

/** An E.164 number. */
export const e164 = z.string().regex(/^\+[1-9]\d{6,14}$/)

/** A call placed on the simulated carrier, as stored. */
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
  /** Simulated seconds per second of the clock; 1 for an instant call, which does not wait. */
  speed: z.number().min(1),
  /** Seed of the routing plan; null for calls placed before dry runs existed. */
  seed: z.int().nullable(),
  arrivesAt: instant,
  /** When the caller hangs up; null: not before the call ends. */
  givesUpAt: instant.nullable(),
})

/** A call placed on the simulated carrier. */
export type PlacedCall = Readonly<z.infer<typeof placedCall>>

/** The simulated carrier: the carrier port, and placing calls on it. */
export interface Simulator extends Carrier {
  /**
   * Places a call and notifies the platform. Resolves when the arrival is durable; for an instant call, when the call has ended.
   * @throws LogUnavailable, StoreUnavailable
   */
  readonly place: (call: PlacedCall) => Promise<void>
}
