import type { CarrierNotice } from '../../ports/carrier.ts'
import type { Leg, RequestedDial } from './session.ts'

/** A command to Telnyx, or a notice to the platform. */
export type Act =
  | { readonly do: 'recognize'; readonly to: string | null }
  | { readonly do: 'notify'; readonly notice: CarrierNotice }
  | {
      readonly do: 'answer' | 'reject' | 'hangup' | 'ringback' | 'stopRingback' | 'record' | 'poll'
      readonly leg: string
    }
  | { readonly do: 'dial'; readonly caller: Leg; readonly dial: RequestedDial }
  | { readonly do: 'speak' | 'ask'; readonly leg: string; readonly text: string }
  | { readonly do: 'bridge'; readonly leg: string; readonly with: string }
  | { readonly do: 'transfer'; readonly caller: Leg; readonly to: string }

/** What a session needs next. */
export interface Step {
  /** Unique in its session: a step is done once. Names are storage format. */
  readonly name: string
  readonly act: Act
}

export const step = (name: string, act: Act): Step => ({ name, act })
