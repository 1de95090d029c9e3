import { Unavailable } from '../kernel/async/errors.ts'

/** A search of numbers (Document 1, "search available numbers"); null for any value. */
export interface NumberQuery {
  /** ISO 3166-1 alpha-2. */
  readonly countryCode: string
  readonly areaCode: string | null
  readonly state: string | null
  readonly locality: string | null
  readonly rateCenter: string | null
  /** Digits; `*` matches any digit. */
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

/** A number available for rent. `e164`: E.164. */
export interface OfferedNumber {
  readonly e164: string
  readonly type: 'local' | 'toll_free' | 'mobile' | 'national' | 'shared_cost'
  readonly countryCode: string
  readonly region: string | null
  readonly locality: string | null
  readonly capabilities: { readonly voice: boolean; readonly sms: boolean; readonly mms: boolean }
}

/** Result of a search: at most `limit` numbers, and the total that the carrier reports. */
export interface NumberOffer {
  readonly results: readonly OfferedNumber[]
  readonly total: number
  /** Whether the results match the search only approximately. */
  readonly bestEffort: boolean
}

/** An order at the carrier. `error`: a sentence for the customer when the order failed. */
export interface CarrierOrder {
  readonly carrierOrderId: string
  readonly status: 'pending' | 'submitted' | 'review' | 'completed' | 'failed'
  readonly error: string | null
}

/** Renting numbers. A command is idempotent by its `commandId`. */
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
  /** The current state of an order; null when the carrier has none of that `commandId`. @throws CarrierUnavailable */
  readonly findOrder: (order: {
    readonly commandId: string
    readonly carrierOrderId: string | null
  }) => Promise<CarrierOrder | null>
  /** Routes a number's calls to the platform. @throws CarrierRefused, CarrierUnavailable */
  readonly connect: (command: { readonly commandId: string; readonly e164: string }) => Promise<void>
  /** Releases a number. @throws CarrierRefused, CarrierUnavailable */
  readonly release: (command: { readonly commandId: string; readonly e164: string }) => Promise<void>
}

/** The carrier refused; the message is the carrier's sentence. */
export class CarrierRefused extends Error {
  override readonly name = 'CarrierRefused'
}

/** The carrier is unreachable or failed; the message is the carrier's sentence if it sent one. A retry may succeed. */
export class CarrierUnavailable extends Unavailable {
  override readonly name = 'CarrierUnavailable'
}
