import { Unavailable } from '../kernel/async/errors.ts'
/** What numbers are looked for (Document 1, "search available numbers"); null where it does not matter. */
export interface NumberQuery {
  /** Two letters. */
  readonly countryCode: string
  readonly areaCode: string | null
  readonly state: string | null
  readonly locality: string | null
  readonly rateCenter: string | null
  /** Digits; `*` stands for any digit. */
  readonly contains: string | null
  readonly startsWith: string | null
  readonly endsWith: string | null
  readonly numberType: OfferedNumber['type'] | null
  readonly features: readonly string[]
  readonly limit: number
  readonly bestEffort: boolean
  readonly quickship: boolean
  readonly reservable: boolean
  readonly excludeHeldNumbers: boolean
}

/** A number that can be rented. */
export interface OfferedNumber {
  readonly e164: string
  readonly type: 'local' | 'toll_free' | 'mobile' | 'national' | 'shared_cost'
  readonly countryCode: string
  readonly region: string | null
  readonly locality: string | null
  readonly capabilities: { readonly voice: boolean; readonly sms: boolean; readonly mms: boolean }
}

/** Numbers on offer: those asked for at most, and how many there are as far as the carrier tells. */
export interface NumberOffer {
  readonly results: readonly OfferedNumber[]
  readonly total: number
  /** Whether the results are only near what was asked for. */
  readonly bestEffort: boolean
}

/** An order as the carrier has it. `error` is a sentence for the customer, of a failed order. */
export interface CarrierOrder {
  readonly carrierOrderId: string
  readonly status: 'pending' | 'submitted' | 'review' | 'completed' | 'failed'
  readonly error: string | null
}

/** Renting numbers. Commands are done once for each `commandId`, however often they are sent. */
export interface CarrierNumbers {
  /** @throws CarrierRefused, CarrierUnavailable */
  readonly search: (query: NumberQuery) => Promise<NumberOffer>
  /** Orders a number. @throws CarrierRefused, CarrierUnavailable */
  readonly placeOrder: (command: {
    readonly commandId: string
    readonly workspaceId: string
    readonly e164: string
    readonly customerReference: string | null
  }) => Promise<CarrierOrder>
  /** Where an order stands now; null when the carrier has none of that `commandId`. @throws CarrierUnavailable */
  readonly findOrder: (order: {
    readonly commandId: string
    readonly carrierOrderId: string | null
  }) => Promise<CarrierOrder | null>
  /** Points a number's calls at the platform. @throws CarrierRefused, CarrierUnavailable */
  readonly connect: (command: { readonly commandId: string; readonly e164: string }) => Promise<void>
  /** Gives a number back. @throws CarrierRefused, CarrierUnavailable */
  readonly release: (command: { readonly commandId: string; readonly e164: string }) => Promise<void>
}

/** The carrier said no; the message is its own sentence. */
export class CarrierRefused extends Error {
  override readonly name = 'CarrierRefused'
}

/** The carrier cannot be reached, or failed; the message is its own sentence where it gave one. Asking again may help. */
export class CarrierUnavailable extends Unavailable {
  override readonly name = 'CarrierUnavailable'
}
