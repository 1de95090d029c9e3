import { getCountryCallingCode, isSupportedCountry } from 'libphonenumber-js/min'
import type { AvailablePhoneNumberListParams } from 'telnyx/resources/available-phone-numbers'
import type { NumberOffer, NumberQuery, OfferedNumber } from '../../ports/carrier-numbers.ts'
import type { AvailableNumber, availableNumbers } from './responses.ts'

type Filter = AvailablePhoneNumberListParams.Filter
type Feature = NonNullable<Filter['features']>[number]

/** Numbers that one request answers at most: it has no pages. */
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

/** Digits without the country's code; all of them where the country is not known. */
function nationalDigits(digits: string, country: string): string {
  const code = callingCode(country)
  return digits.startsWith(code) ? digits.slice(code.length) : digits
}

/** No national number of North America begins with its code. */
const NORTH_AMERICA = '1'

/**
 * National digits that every number of a beginning begins with: without a plus it may hold the country's code, or only
 * look like it.
 */
function nationalPrefix(startsWith: string | null, country: string): string {
  const [known = ''] = (startsWith ?? '').replace('+', '').split('*')
  const code = callingCode(country)
  const unsure = known.startsWith(code) && !startsWith?.startsWith('+') && code !== NORTH_AMERICA
  return unsure || code.startsWith(known) ? '' : nationalDigits(known, country)
}

/**
 * The patterns as Telnyx can narrow by them: it knows no wildcard, judges the digits behind the country's code, and
 * where an area code is named those behind that.
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

/** A search in Telnyx's own words. */
export function filterOf(query: NumberQuery): Filter {
  const pattern = patternFilter(query) ?? {}
  const features = FEATURES.filter((feature) => query.features.includes(feature))
  return {
    country_code: query.countryCode,
    // Patterns are judged here too, so more is looked through than is answered.
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

/** Whether digits hold a pattern from a place on, `*` standing for any digit. */
function matchesAt(digits: string, pattern: string, at: number): boolean {
  if (at < 0 || at + pattern.length > digits.length) return false
  return [...pattern].every((digit, n) => digit === '*' || digit === digits[at + n])
}

/** Whether a number fits the patterns of a search. A beginning with a plus holds the country's code; without, it may. */
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
  const { phone_number: e164, phone_number_type: told } = found
  const region = (type: string) =>
    found.region_information?.find(({ region_type }) => region_type === type)?.region_name || null
  const has = (feature: string) => found.features?.some(({ name }) => name === feature) ?? false
  return {
    e164,
    type: told ?? numberType ?? (TOLL_FREE.test(e164) ? 'toll_free' : 'local'),
    countryCode: region('country_code') ?? countryCode,
    region: region('state'),
    locality: region('location') ?? region('rate_center'),
    capabilities: { voice: has('voice'), sms: has('sms'), mms: has('mms') },
  }
}

/** What Telnyx offers, as it was asked for: numbers that are only near are kept where near will do. */
export function offerOf(query: NumberQuery, answer: ReturnType<typeof availableNumbers.parse>): NumberOffer {
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
