import type { CarrierNotice } from '../../ports/carrier.ts'
import type { Leg, RequestedDial } from './session.ts'

/** What is done at Telnyx, or told to the platform. */
export type Act =
  | { readonly do: 'recognize'; readonly to: string | null }
  | { readonly do: 'tell'; readonly notice: CarrierNotice }
  | { readonly do: 'answer' | 'reject' | 'hangup' | 'ringback' | 'quiet' | 'record' | 'look'; readonly leg: string }
  | { readonly do: 'dial'; readonly caller: Leg; readonly dial: RequestedDial }
  | { readonly do: 'speak' | 'ask'; readonly leg: string; readonly text: string }
  | { readonly do: 'bridge'; readonly leg: string; readonly with: string }
  | { readonly do: 'transfer'; readonly caller: Leg; readonly to: string }

/** One thing that is to be done next, under a name by which it is done once. */
export interface Step {
  readonly name: string
  readonly act: Act
}

export const step = (name: string, act: Act): Step => ({ name, act })
