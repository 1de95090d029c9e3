import type { NumberQuery } from '../../src/ports/carrier-numbers.ts'

/** A search that asks for nothing in particular. */
export const ANY_NUMBER: NumberQuery = {
  countryCode: 'US',
  areaCode: null,
  state: null,
  locality: null,
  rateCenter: null,
  contains: null,
  startsWith: null,
  endsWith: null,
  numberType: null,
  features: [],
  limit: 20,
  bestEffort: false,
  quickship: false,
  reservable: false,
  excludeHeldNumbers: false,
}
