import type { Rtb } from './endpoint.ts'
import { expand, type MacroValues } from './macros.ts'

/** A request to a bidder, ready to be sent. */
export interface PingRequest {
  readonly url: string
  readonly method: Rtb['method']
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** Headers that belong to the connection or to the platform, in lower case: nobody sets them. */
const TAKEN = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** What is wrong with a header's name, as a sentence; null when nothing is. */
export function headerProblem(name: string): string | null {
  const lower = name.toLowerCase()
  return TAKEN.has(lower) || lower.startsWith('svc-') ? 'Is set by the platform.' : null
}

/** A made-up caller, of a number kept for fiction: the tokens of a caller never leave in a URL but as the hash. */
const SAMPLE: MacroValues = {
  'event.name': 'target.test',
  'call.ref': 'CA-0000000000',
  'call.state': 'NY',
  'call.city': 'New York',
  'call.zip': '10001',
  'caller.e164': '+12125550100',
  'caller.digits': '12125550100',
  'caller.nanp': '2125550100',
  'caller.suffix': '0100',
  'caller.hash': '0'.repeat(32),
  'caller.state': 'NY',
  'caller.area': '212',
}
const SAMPLE_IN_URL: MacroValues = {
  ...SAMPLE,
  'caller.e164': SAMPLE['caller.hash'],
  'caller.digits': SAMPLE['caller.hash'],
  'caller.nanp': SAMPLE['caller.hash'],
  'caller.suffix': SAMPLE['caller.hash'],
}

const JSON_TYPE = /[/+]json\b/i
const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i

/** How a value is written into a body of a content type. */
function escapeFor(contentType: string): (value: string) => string {
  if (JSON_TYPE.test(contentType)) return (value) => JSON.stringify(value).slice(1, -1)
  return FORM_TYPE.test(contentType) ? encodeURIComponent : (value) => value
}

/** What a bidder is asked with that has no template of its own. */
const PLAIN_BODY = JSON.stringify({
  test: true,
  caller: { number: SAMPLE['caller.e164'], state: SAMPLE['caller.state'], area: SAMPLE['caller.area'] },
})

/** The one ping of a test: with a made-up caller, and marked (`svc-test`) so that a bidder can tell it from a call. */
export function testPing({ method, contentType, bidHeaders, bidBodyTemplate }: Rtb, bidUrl: string): PingRequest {
  const own = Object.entries(bidHeaders).map(([name, value]) => [name.toLowerCase(), value] as const)
  const typed: Readonly<Record<string, string>> = method === 'POST' ? { 'content-type': contentType } : {}
  const headers: Readonly<Record<string, string>> = {
    accept: 'application/json',
    'user-agent': 'svc-bids/1',
    ...typed,
    ...Object.fromEntries(own),
    'svc-test': '1',
  }
  const escaped = escapeFor(headers['content-type'] ?? contentType)
  const filled = bidBodyTemplate === null ? PLAIN_BODY : expand(bidBodyTemplate, SAMPLE, escaped)
  return {
    url: expand(bidUrl, SAMPLE_IN_URL, encodeURIComponent),
    method,
    headers,
    body: method === 'POST' ? filled : null,
  }
}
