import { unescapeKey } from '../../kernel/proto-key.ts'
import type { Rtb } from '../demand/endpoint.ts'
import { expandMacros, type MacroValues } from '../shared/macros.ts'
import { areaCodeOf } from '../shared/nanp.ts'

/** A record as macros name it. */
interface Labelled {
  readonly id: string
  readonly name: string
}

/** The caller that a bidder is asked about; each field is null when it is not known. */
export interface BidCaller {
  readonly e164: string | null
  /** The workspace's hash of the number (Supplement §8, `caller.hash`). */
  readonly hash: string | null
  readonly state: string | null
  readonly zip: string | null
  readonly city: string | null
}

/** The call or ping that bidders are asked about. */
export interface BidSubject {
  /** Id and public reference of the auction; of the call where no publisher asked. */
  readonly auction: { readonly id: string; readonly ref: string }
  readonly at: string
  readonly campaign: Labelled
  readonly publisher: (Labelled & { readonly ref: string | null }) | null
  readonly caller: BidCaller
  /** Whether the campaign discloses its callers: a bidder never gets their numbers otherwise. */
  readonly isDisclosed: boolean
  readonly dialedNumber: string | null
  readonly sipOk: boolean
  readonly tags: Readonly<Record<string, string>>
}

/** What a request to one bidder adds to its subject. */
export interface BidderRecord {
  readonly bidId: string
  readonly target: Labelled & { readonly ref: string | null }
  readonly buyer: Labelled
  /** The price that the bidder is told (`bid.amount`), in cents; null before there is one. */
  readonly bidCents: number | null
}

/** A request to a bidder. */
export interface BidRequest {
  readonly url: string
  readonly method: Rtb['method']
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

const digitsOf = (text: string) => text.replace(/\D/g, '')
/** Digits of a number without its country code, in the form in which tags may contain it. */
const nanpOf = (e164: string) => digitsOf(e164).slice(-10)

/** Replaces a text that contains the caller's ten digits by the caller's hash. */
function createCallerMask({ e164, hash }: BidCaller): (text: string) => string {
  const nanp = e164 === null ? '' : nanpOf(e164)
  return (text) => (nanp.length === 10 && digitsOf(text).includes(nanp) ? (hash ?? '') : text)
}

type Values = Readonly<Record<string, string | null | undefined>>
const present = (values: Values): MacroValues =>
  Object.fromEntries(Object.entries(values).flatMap(([token, value]) => (value == null ? [] : [[token, value]])))

function callerMacros({ e164, hash }: BidCaller, shown: boolean): Values {
  if (e164 === null) return {}
  const real = { e164, digits: digitsOf(e164), nanp: nanpOf(e164), suffix: e164.slice(-4) }
  const each = Object.entries(real).map(([name, value]) => [`caller.${name}`, shown ? value : hash])
  return { ...Object.fromEntries(each), 'caller.hash': hash, 'caller.area': areaCodeOf(e164) }
}

/** A price in the unit of the bidder: `12.50` dollars, or `1250` cents. */
function amountText(bidCents: number, { bidUnit }: Pick<Rtb, 'bidUnit'>): string {
  return bidUnit === 'dollars' ? (bidCents / 100).toFixed(2) : String(bidCents)
}

/**
 * Values of the macros (Supplement §7, §8) for a URL, or for a header or body. A caller's number never reaches a URL, and a body
 * only where the campaign discloses it: the hash stands in its place.
 */
function macrosOf(subject: BidSubject, { bidId, target, buyer, bidCents }: BidderRecord, rtb: Rtb, inUrl: boolean) {
  const { auction, at, campaign, publisher, caller, dialedNumber, tags } = subject
  const shown = subject.isDisclosed && !inUrl
  const mask = shown ? (text: string) => text : createCallerMask(caller)
  const tagged = Object.entries(tags).map(([key, value]) => [`tag.${unescapeKey(key)}`, mask(value)])
  return present({
    ...Object.fromEntries(tagged),
    'event.name': 'bid.request',
    'event.id': bidId,
    'event.time': at,
    'auction.id': auction.id,
    'auction.ref': auction.ref,
    'bid.id': bidId,
    'bid.amount': bidCents === null ? null : amountText(bidCents, rtb),
    'call.ref': auction.ref,
    'call.started': at,
    'call.dialed': dialedNumber,
    'call.state': caller.state,
    'call.city': caller.city,
    'call.zip': caller.zip,
    'campaign.id': campaign.id,
    'campaign.name': campaign.name,
    'publisher.id': publisher?.id,
    'publisher.name': publisher?.name,
    'publisher.ref': publisher?.ref,
    'buyer.id': buyer.id,
    'buyer.name': buyer.name,
    'target.id': target.id,
    'target.name': target.name,
    'target.ref': target.ref,
    'caller.state': caller.state,
    ...callerMacros(caller, shown),
  })
}

/** Creates the expander of a request's templates: the values are made at the first template that has a token. */
function createExpander(...about: Parameters<typeof macrosOf>) {
  let values: MacroValues | null = null
  return (template: string, encode: (value: string) => string) => {
    if (!template.includes('{{')) return template
    values ??= macrosOf(...about)
    return expandMacros(template, values, encode)
  }
}

const JSON_TYPE = /[/+]json\b/i
const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i

/** The escaping of a value in a body of a content type. */
function escaperFor(contentType: string): (value: string) => string {
  if (JSON_TYPE.test(contentType)) return (value) => JSON.stringify(value).slice(1, -1)
  return FORM_TYPE.test(contentType) ? encodeURIComponent : (value) => value
}

/** Characters that no header may have. */
const NO_HEADER = /[^\t\x20-\x7e\x80-\xff]/g
const headerText = (value: string) => value.replace(NO_HEADER, '')

/** The body for a bidder without a template (Supplement §7). */
function defaultBody({ auction, campaign, caller, isDisclosed, sipOk, tags }: BidSubject, test: boolean): string {
  const mask = isDisclosed ? (text: string) => text : createCallerMask(caller)
  return JSON.stringify({
    auctionId: auction.id,
    campaign: campaign.name,
    ...(isDisclosed && { callerNumber: caller.e164 }),
    state: caller.state,
    zip: caller.zip,
    city: caller.city,
    callerHash: caller.hash,
    sipOk,
    tags: Object.fromEntries(Object.entries(tags).map(([key, value]) => [unescapeKey(key), mask(value)])),
    ...(test && { test }),
  })
}

/** A bidder's settings with its headers opened. */
export type OpenRtb = Rtb & { readonly bidUrl: string }

/** The request that asks a bidder for a price. A test has the header `svc-test`. */
export function createBidRequest(rtb: OpenRtb, subject: BidSubject, bidder: BidderRecord, test = false): BidRequest {
  const { method, contentType, bidHeaders, bidBodyTemplate, bidUrl } = rtb
  const expand = createExpander(subject, bidder, rtb, false)
  const own = Object.entries(bidHeaders).map(
    ([name, value]) => [name.toLowerCase(), headerText(expand(value, (text) => text))] as const,
  )
  const typed: Readonly<Record<string, string>> = method === 'POST' ? { 'content-type': contentType } : {}
  const headers: Readonly<Record<string, string>> = {
    accept: 'application/json',
    'user-agent': 'svc-bids/1',
    ...typed,
    ...Object.fromEntries(own),
    ...(test && { 'svc-test': '1' }),
  }
  const escaped = escaperFor(headers['content-type'] ?? contentType)
  return {
    url: createExpander(subject, bidder, rtb, true)(bidUrl, encodeURIComponent),
    method,
    headers,
    body:
      method === 'POST'
        ? bidBodyTemplate === null
          ? defaultBody(subject, test)
          : expand(bidBodyTemplate, escaped)
        : null,
  }
}

/** The request that tells a bidder that it has won (Supplement §7, `confirmUrl`). */
export function createConfirmRequest(
  rtb: Rtb & { readonly confirmUrl: string },
  subject: BidSubject,
  bidder: BidderRecord,
): BidRequest {
  return {
    url: createExpander(subject, bidder, rtb, true)(rtb.confirmUrl, encodeURIComponent),
    method: 'GET',
    headers: { accept: '*/*', 'user-agent': 'svc-bids/1' },
    body: null,
  }
}

/** A sample call of a fictional caller. */
const SAMPLE: Omit<BidSubject, 'campaign' | 'at'> = {
  auction: { id: '00000000-0000-7000-8000-000000000000', ref: 'AU-0000000000' },
  publisher: null,
  caller: { e164: '+12125550100', hash: '0'.repeat(32), state: 'NY', zip: '10001', city: 'New York' },
  isDisclosed: true,
  dialedNumber: null,
  sipOk: false,
  tags: {},
}

/** A test request: about a sample call, with the header `svc-test` that tells the bidder that it is a test. */
export function createTestRequest(rtb: OpenRtb, bidder: Omit<BidderRecord, 'bidCents'>, at: string): BidRequest {
  const subject = { ...SAMPLE, at, campaign: { id: '', name: 'Test' } }
  return createBidRequest(rtb, subject, { ...bidder, bidCents: null }, true)
}
