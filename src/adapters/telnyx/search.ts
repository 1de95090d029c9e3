import { getCountryCallingCode, isSupportedCountry } from 'libphonenumber-js/min'
import type { AvailablePhoneNumberListParams } from 'telnyx/resources/available-phone-numbers'
import type { NumberOffer, NumberQuery, OfferedNumber } from '../../ports/carrier-numbers.ts'
import type { AvailableNumber, telnyxAvailableNumbers } from './responses.ts'

type Filter = AvailablePhoneNumberListParams.Filter
type Feature = NonNullable<Filter['features']>[number]

/** Maximum numbers per search: Telnyx does not page them. */
const MAX_RESULTS = 250
const TOLL_FREE = /^\+1(800|833|844|855|866|877|888)/
const FEATURES: readonly Feature[] = [
  'sms',
  'mms',
  'voice',
  'fax',
  'emergency',
  'hd_voice',
  'international_sms',
  'local_calling',
]

function callingCode(country: string): string {
  return isSupportedCountry(country) ? getCountryCallingCode(country) : ''
}

/** Digits without the country code; all digits when the country is unknown. */
function nationalDigits(digits: string, country: string): string {
  const code = callingCode(country)
  return digits.startsWith(code) ? digits.slice(code.length) : digits
}

/** Country code of North America: no national number there begins with it. */
const NORTH_AMERICA = '1'

/**
 * The national digits that `startsWith` requires. Without a plus it may contain the country code or only resemble it:
 * then none are required.
 */
function nationalPrefix(startsWith: string | null, country: string): string {
  const [prefix = ''] = (startsWith ?? '').replace('+', '').split('*')
  const code = callingCode(country)
  const unsure = prefix.startsWith(code) && !startsWith?.startsWith('+') && code !== NORTH_AMERICA
  return unsure || code.startsWith(prefix) ? '' : nationalDigits(prefix, country)
}

/**
 * The patterns as far as Telnyx's filter supports them: no wildcards, matched after the country code, and after the area
 * code where one is given.
 */
function patternFilter({ contains, startsWith, endsWith, areaCode, countryCode }: NumberQuery): Filter['phone_number'] {
  const begins = nationalPrefix(startsWith, countryCode)
  const behind = areaCode !== null && begins.startsWith(areaCode) ? begins.slice(areaCode.length) : begins
  const runs = (contains ?? '').split('*').toSorted((one, other) => other.length - one.length)
  return {
    ...(areaCode?.startsWith(begins) || behind === '' ? {} : { starts_with: behind }),
    ...(runs[0] && { contains: runs[0] }),
    ...(endsWith && !endsWith.endsWith('*') && { ends_with: endsWith.slice(endsWith.lastIndexOf('*') + 1) }),
  }
}

const hasPattern = ({ contains, startsWith, endsWith }: NumberQuery) =>
  contains !== null || startsWith !== null || endsWith !== null

/** A search as Telnyx's filter. */
export function filterOf(query: NumberQuery): Filter {
  const pattern = patternFilter(query) ?? {}
  const features = FEATURES.filter((feature) => query.features.includes(feature))
  return {
    country_code: query.countryCode,
    // Patterns are matched again here, so more numbers are requested than returned.
    limit: hasPattern(query) ? MAX_RESULTS : Math.min(query.limit, MAX_RESULTS),
    ...(query.areaCode !== null && { national_destination_code: query.areaCode }),
    ...(query.state !== null && { administrative_area: query.state }),
    ...(query.locality !== null && { locality: query.locality }),
    ...(query.rateCenter !== null && { rate_center: query.rateCenter }),
    ...(query.numberType !== null && { phone_number_type: query.numberType }),
    ...(features.length > 0 && { features }),
    ...(Object.keys(pattern).length > 0 && { phone_number: pattern }),
    ...(query.bestEffort && { best_effort: true }),
    ...(query.quickship && { quickship: true }),
    ...(query.reservable && { reservable: true }),
    ...(query.excludeHeldNumbers && { exclude_held_numbers: true }),
  }
}

/** Whether digits match a pattern at a position; `*` matches any digit. */
function matchesAt(digits: string, pattern: string, at: number): boolean {
  if (at < 0 || at + pattern.length > digits.length) return false
  return [...pattern].every((digit, n) => digit === '*' || digit === digits[at + n])
}

/**
 * Whether a number matches the patterns of a search. `startsWith` includes the country code when it has a plus; otherwise
 * it may.
 */
function matchesPatterns({ contains, startsWith, endsWith, countryCode }: NumberQuery, e164: string): boolean {
  const digits = e164.slice(1)
  const national = nationalDigits(digits, countryCode)
  const begins = startsWith?.replace('+', '') ?? ''
  const begun = matchesAt(digits, begins, 0) || (!startsWith?.startsWith('+') && matchesAt(national, begins, 0))
  const ends = endsWith ?? ''
  const held = contains === null || [...national].some((_digit, at) => matchesAt(national, contains, at))
  return begun && held && matchesAt(national, ends, national.length - ends.length)
}

function toOfferedNumber({ countryCode, numberType }: NumberQuery, found: AvailableNumber): OfferedNumber {
  const { phone_number: e164, phone_number_type: type } = found
  const region = (kind: string) =>
    found.region_information?.find(({ region_type }) => region_type === kind)?.region_name || null
  const has = (feature: string) => found.features?.some(({ name }) => name === feature) ?? false
  return {
    e164,
    type: type ?? numberType ?? (TOLL_FREE.test(e164) ? 'toll_free' : 'local'),
    countryCode: region('country_code') ?? countryCode,
    region: region('state'),
    locality: region('location') ?? region('rate_center'),
    capabilities: { voice: has('voice'), sms: has('sms'), mms: has('mms') },
  }
}

/** The offer that Telnyx's response makes: near matches count only for a best-effort search. */
export function offerOf(query: NumberQuery, answer: ReturnType<typeof telnyxAvailableNumbers.parse>): NumberOffer {
  const wanted = answer.data.filter(
    ({ best_effort, phone_number }) => (best_effort && query.bestEffort) || matchesPatterns(query, phone_number),
  )
  const results = wanted.slice(0, query.limit)
  const total = hasPattern(query) ? wanted.length : (answer.meta?.total_results ?? wanted.length)
  return {
    results: results.map((found) => toOfferedNumber(query, found)),
    total: Math.max(total, results.length),
    bestEffort: results.some(({ best_effort }) => best_effort === true),
  }
}
