import { expandMacros, type MacroValues } from '../shared/macros.ts'
import type { Rtb } from './endpoint.ts'

/** A request to a bidder. */
export interface PingRequest {
  readonly url: string
  readonly method: Rtb['method']
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** A sample caller with a fictional number. In URLs, caller tokens are replaced by the caller's hash. */
const SAMPLE_MACROS: MacroValues = {
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
const SAMPLE_URL_MACROS: MacroValues = {
  ...SAMPLE_MACROS,
  'caller.e164': SAMPLE_MACROS['caller.hash'],
  'caller.digits': SAMPLE_MACROS['caller.hash'],
  'caller.nanp': SAMPLE_MACROS['caller.hash'],
  'caller.suffix': SAMPLE_MACROS['caller.hash'],
}

const JSON_TYPE = /[/+]json\b/i
const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i

/** The escaping of a value in a body of a content type. */
function escaperFor(contentType: string): (value: string) => string {
  if (JSON_TYPE.test(contentType)) return (value) => JSON.stringify(value).slice(1, -1)
  return FORM_TYPE.test(contentType) ? encodeURIComponent : (value) => value
}

/** The body for a bidder without a template. */
const DEFAULT_BODY = JSON.stringify({
  test: true,
  caller: {
    number: SAMPLE_MACROS['caller.e164'],
    state: SAMPLE_MACROS['caller.state'],
    area: SAMPLE_MACROS['caller.area'],
  },
})

/** A test ping: with a sample caller, and the header `svc-test` that tells the bidder that it is a test. */
export function createTestPing({ method, contentType, bidHeaders, bidBodyTemplate }: Rtb, bidUrl: string): PingRequest {
  const own = Object.entries(bidHeaders).map(([name, value]) => [name.toLowerCase(), value] as const)
  const typed: Readonly<Record<string, string>> = method === 'POST' ? { 'content-type': contentType } : {}
  const headers: Readonly<Record<string, string>> = {
    accept: 'application/json',
    'user-agent': 'svc-bids/1',
    ...typed,
    ...Object.fromEntries(own),
    'svc-test': '1',
  }
  const escaped = escaperFor(headers['content-type'] ?? contentType)
  const filled = bidBodyTemplate === null ? DEFAULT_BODY : expandMacros(bidBodyTemplate, SAMPLE_MACROS, escaped)
  return {
    url: expandMacros(bidUrl, SAMPLE_URL_MACROS, encodeURIComponent),
    method,
    headers,
    body: method === 'POST' ? filled : null,
  }
}
