import { bearerOf, idempotencyKeyOf } from '../../../src/adapters/http/headers.ts'
import { scrub } from '../../../src/adapters/http/scrub.ts'
import { addressOf, sipFields } from '../../../src/adapters/telnyx/dial-settings.ts'
import { byteRangeOf } from '../../../src/api/byte-range.ts'
import { isAddressAllowed } from '../../../src/domain/access/allowlist.ts'
import { redactRequest } from '../../../src/domain/access/request-log.ts'
import { email } from '../../../src/domain/access/user.ts'
import { changesBetween } from '../../../src/domain/activity/activity-changes.ts'
import { createTextMask } from '../../../src/domain/auctions/mask-caller.ts'
import { createTestRequest } from '../../../src/domain/bidding/bid-request.ts'
import { DEFAULT_RTB, rtb, sipUri } from '../../../src/domain/demand/endpoint.ts'
import { callerLast10 } from '../../../src/domain/routing/blocklist.ts'
import { e164 } from '../../../src/domain/shared/fields.ts'
import { maskDestination } from '../../../src/domain/shared/format.ts'
import { API_KEY, BLOCK, PING, POOL, REQUEST, RTB, TARGET, TEXT } from '../../../src/domain/shared/limits.ts'
import { nationalFormat } from '../../../src/domain/supply/number.ts'
import { poolSettings } from '../../../src/domain/supply/pool.ts'
import { createCursors } from '../../../src/main/cursors.ts'
import { sampleBidder } from '../fixtures/bids.ts'
import { NOW } from '../fixtures/spec.ts'
import { fill, list, named, type Row, shapes } from './row.ts'

/** Longest header: Node takes no more for all headers of a request. */
const HEADER_MAX = 16 * 1024

const headerRows = (evaluate: (text: string) => unknown, begin = '', end = '') =>
  shapes({ blanks: [' ', begin, end], digits: ['9', begin, end], dashes: ['-', begin, end] }, HEADER_MAX, evaluate)

/** Every header of a bidder, with these ends of name and value. */
const bidderHeaders = (run: number, nameEnd = '', valueEnd = '') =>
  Object.fromEntries(
    list(RTB.headers, (at) => [
      fill(TEXT.reference, '-', `x${run}y${at}`, nameEnd),
      fill(RTB.header, '\x80', '', valueEnd),
    ]),
  )

const BIDDER_HEADERS: readonly Row[] = [
  [
    'every header of a bidder',
    (run) => {
      const headers = bidderHeaders(run)
      return () =>
        createTestRequest(
          { ...DEFAULT_RTB, bidUrl: 'https://a.example', bidHeaders: rtb.shape.bidHeaders.parse(headers) },
          sampleBidder,
          NOW,
        )
    },
  ],
  [
    'every header of a bidder, wrong at the end of its name or value',
    (run) => {
      const [names, values] = [bidderHeaders(run, ' '), bidderHeaders(run, '', '\n')]
      return () => [rtb.shape.bidHeaders.safeParse(names), rtb.shape.bidHeaders.safeParse(values)]
    },
  ],
  ...shapes({ 'a header of a bidder as long as a body': ['-', '', '\n'] }, REQUEST.bodyBytes, (text) => [
    rtb.shape.bidHeaders.safeParse({ [text]: '' }),
    rtb.shape.bidHeaders.safeParse({ x: text }),
  ]),
]

export const HEADERS: readonly Row[] = [
  ...named(
    'Range',
    ['bytes=', 'bytes', 'bytes=0', 'bytes=0-', 'bytes=0-9', ''].flatMap((begin) =>
      headerRows((range) => byteRangeOf(range, 1_000), begin, 'x').map(
        ([input, prepare]): Row => [`${input} after “${begin}”`, prepare],
      ),
    ),
  ),
  ...named('Authorization', [...headerRows(bearerOf, 'Bearer '), ...headerRows(bearerOf, 'Bearer x', 'x')]),
  ...named(
    'Idempotency-Key',
    headerRows((key) => idempotencyKeyOf({ 'idempotency-key': key })),
  ),
  ...named('svc-min-position', headerRows(createCursors(Buffer.alloc(32)).read)),
  ...named(
    'address of a proxy',
    headerRows((ip) => isAddressAllowed(['10.0.0.0/8'], ip), '::'),
  ),
  ...BIDDER_HEADERS,
]

const sipAddressRows = shapes(
  {
    users: ['a', 'sip:', '@b'],
    'at signs': ['@', 'sip:'],
    hosts: ['a.', 'sip:a@'],
    'a blank at the end': ['a', 'sip:a@', ' '],
    colons: [':', 'sip:a@'],
    brackets: ['[', 'sips:a@['],
    digits: ['9', 'sip:'],
  },
  TARGET.sipUri,
  (text) => [
    sipUri.safeParse(text).success,
    maskDestination(text),
    addressOf(text, { sendDigits: null, sip: { transport: 'udp', port: 5_060, credentials: null } }),
    sipFields(text, { sendDigits: null, sip: { transport: 'udp', port: 5_060, credentials: null } }),
  ],
)

export const SIP_ADDRESSES: readonly Row[] = [
  ...sipAddressRows,
  ...shapes({ 'an address as long as a body': ['a', 'sip:a@', ' '] }, REQUEST.bodyBytes, (text) =>
    sipUri.safeParse(text),
  ),
]

export const PHONE_NUMBERS: readonly Row[] = shapes(
  {
    digits: ['9', '+1'],
    'digits and a letter': ['9', '+1', 'x'],
    punctuation: ['(-', '+1'],
    extensions: [';ext=', '+13105550100'],
    letters: ['x', '+1'],
  },
  TEXT.phone,
  (text) => [e164.safeParse(text).success, callerLast10(text.slice(0, BLOCK.number)), nationalFormat(text)],
)

export const ADDRESSES: readonly Row[] = [
  ...shapes(
    {
      'question marks in a URL': ['?', 'https://a.example/'],
      'parameters without a value': ['&?', 'https://a.example/?'],
      'slashes in a URL': ['//', 'https://a.example/'],
      'parent folders in a URL': ['../', 'https://a.example/'],
      'at signs in a URL': ['@', 'https://'],
      'labels of a URL': ['é.', 'https://'],
      'one label of a URL': ['é', 'https://'],
    },
    RTB.url,
    (url) => [
      rtb.shape.bidUrl.safeParse(url).success,
      changesBetween({ rtb: { bidUrl: null } }, { rtb: { bidUrl: url, confirmUrl: url } }),
    ],
  ),
  ...shapes({ 'parts of an e-mail address': ['a.'], 'its host': ['a-', 'a@'], dots: ['.', 'a@'] }, TEXT.email, (text) =>
    email.safeParse(text),
  ),
  ...shapes(
    { 'labels of a domain': ['a.', '', '!'], 'one label of a domain': ['a', '', '!'], dashes: ['a-', '', '!'] },
    POOL.domain,
    (text) => poolSettings.shape.domains.safeParse(list(POOL.domains, () => text)),
  ),
  ...shapes({ 'a URL as long as a body': ['@', 'https://'] }, REQUEST.bodyBytes, (text) =>
    rtb.shape.bidUrl.safeParse(text),
  ),
  ...shapes({ 'a domain as long as a body': ['a.', '', '!'] }, REQUEST.bodyBytes, (text) =>
    poolSettings.shape.domains.safeParse([text]),
  ),
  [
    'every address of an allowlist',
    (run) => {
      const entries = list(API_KEY.addresses, (at) => `2001:db8:${run}::${at}`)
      return () => isAddressAllowed(entries, '2001:db8::1')
    },
  ],
]

const request = { method: 'GET', path: '/', status: 200, ms: 1, ip: '203.0.113.9', userAgent: null, errorCode: null }

export const REQUESTS: readonly Row[] = shapes(
  {
    ampersands: ['&'],
    names: ['a&'],
    values: ['=a&'],
    'secrets that end early': ['sess_'],
    secrets: ['sess_aaaaaaaa&'],
    'escaped characters': ['%41&'],
    underscores: ['_', '', '=1'],
  },
  HEADER_MAX,
  (text) => [
    redactRequest({ ...request, query: text, path: text, userAgent: text }),
    redactRequest({ ...request, query: text.slice(0, 4_096) }),
  ],
)

/** Texts with secrets and numbers, and texts that only begin like them. */
const SECRET_TEXTS = {
  digits: ['1'],
  'digits of a phone number': ['+1 (', '+1'],
  'digits with blanks': ['1 ', '+1'],
  'area codes': ['312-'],
  quotes: ['"'],
  backslashes: ['\\', '"password":"'],
  'quotes within a secret': ['\\"', '"password":"'],
  secrets: ['"password":"'],
  'secrets without a value': ['"token'],
  'secrets in JSON text': ['\\"password\\":\\"'],
  'names of secrets': ['token'],
  blanks: [' ', '"token":'],
  'SIP addresses': ['sip:'],
  'schemes of URLs': ['://'],
  'connection strings': ['mongodb://'],
  'encoded URLs': ['%3A%2F%2F'],
  'names with dots': ['a.'],
  underscores: ['_', 'svc_live_'],
  'kinds of secrets': ['rk_'],
} as const

export const LOG_LINES: readonly Row[] = shapes(SECRET_TEXTS, REQUEST.path, scrub)

export const STORED_PINGS: readonly Row[] = shapes(
  { ...SECRET_TEXTS, fields: ['a='], 'fields without a value': ['a:"'], 'values without an end': ['\\"', 'token="'] },
  PING.storedBody,
  createTextMask({ caller: '+13105550100', isDisclosed: false }),
)
