import { unescapeKey } from '../../kernel/proto-key.ts'
import type { Rtb } from '../demand/endpoint.ts'
import { callerMacros, createCallerMask, type MacroCaller } from '../shared/caller-macros.ts'
import { escaperFor, percentEncode, verbatim } from '../shared/escaping.ts'
import { headerText } from '../shared/http-headers.ts'
import { createExpander, presentValues } from '../shared/macros.ts'

/** A record as macros name it. */
interface Labelled {
  readonly id: string
  readonly name: string
}

/** The caller that a bidder is asked about; each field is null when it is not known. */
export interface BidCaller extends MacroCaller {
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
  const mask = shown ? verbatim : createCallerMask(caller)
  const tagged = Object.entries(tags).map(([key, value]) => [`tag.${unescapeKey(key)}`, mask(value)])
  return presentValues({
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

function expandUrl(template: string, subject: BidSubject, bidder: BidderRecord, rtb: Rtb): string {
  return createExpander(() => macrosOf(subject, bidder, rtb, true))(template, percentEncode)
}

/** The body for a bidder without a template (Supplement §7). */
function defaultBody({ auction, campaign, caller, isDisclosed, sipOk, tags }: BidSubject, test: boolean): string {
  const mask = isDisclosed ? verbatim : createCallerMask(caller)
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

/** Creates the request that asks one bidder for a price. */
export type CreateBidRequest = (rtb: OpenRtb, bidder: BidderRecord) => BidRequest

/** Creates the requests that ask bidders for a price, all about one subject. A test has the header `svc-test`. */
export function createBidRequests(subject: BidSubject, test = false): CreateBidRequest {
  let sharedBody: string | null = null
  return (rtb, bidder) => {
    const { method, contentType, bidHeaders, bidBodyTemplate, bidUrl } = rtb
    const expand = createExpander(() => macrosOf(subject, bidder, rtb, false))
    const own = Object.entries(bidHeaders).map(
      ([name, value]) => [name.toLowerCase(), headerText(expand(value, verbatim))] as const,
    )
    const headers: Readonly<Record<string, string>> = {
      accept: 'application/json',
      'user-agent': 'svc-bids/1',
      ...(method === 'POST' && { 'content-type': contentType }),
      ...(own.length > 0 && Object.fromEntries(own)),
      ...(test && { 'svc-test': '1' }),
    }
    const bodyOf = () => {
      if (method !== 'POST') return null
      if (bidBodyTemplate !== null) return expand(bidBodyTemplate, escaperFor(headers['content-type'] ?? contentType))
      sharedBody ??= defaultBody(subject, test)
      return sharedBody
    }
    return { url: expandUrl(bidUrl, subject, bidder, rtb), method, headers, body: bodyOf() }
  }
}

/** The request that tells a bidder that it has won (Supplement §7, `confirmUrl`). */
export function createConfirmRequest(
  rtb: Rtb & { readonly confirmUrl: string },
  subject: BidSubject,
  bidder: BidderRecord,
): BidRequest {
  return {
    url: expandUrl(rtb.confirmUrl, subject, bidder, rtb),
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
  return createBidRequests(subject, true)(rtb, { ...bidder, bidCents: null })
}
