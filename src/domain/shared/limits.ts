/** Every number of the documents, once. Document 1, "Limits", unless a line says otherwise. */

// Pages

/** Rows of a page when the request names no `pageSize`. */
export const PAGE_SIZE = 25
/** Rows of a page of the ping ledger and of an API key's request log, when the request names no `pageSize`. */
export const LONG_PAGE_SIZE = 50
/** Rows of the largest page; a larger `pageSize` is clamped. */
export const LARGEST_PAGE_SIZE = 200

// Requests

/** Longest parameter of a path that is read at all: whatever fits into the head of a request. */
export const PATH_CHARACTERS = 16_384
/** Bytes of the largest request body. */
export const BODY_BYTES = 2 * 1024 * 1024
/** Bytes of the largest body on the real-time-bidding endpoints. */
export const BIDDING_BODY_BYTES = 32 * 1024
/** Bytes of the largest webhook of the carrier's: its own are a few thousand. */
export const WEBHOOK_BYTES = 256 * 1024
/** Levels of objects and lists in the deepest JSON body (Supplement §1.1). */
export const BODY_DEPTH = 32
/** Characters of the longest idempotency key (Supplement §1.5). */
export const IDEMPOTENCY_KEY_LENGTH = 128

// API keys

/** Requests a minute of an API key that names no rate of its own. */
export const KEY_RATE_PER_MINUTE = 120
/** Requests a minute of the busiest API key. */
export const LARGEST_KEY_RATE_PER_MINUTE = 1_200
/** Requests a minute of a console user (Supplement §1.9). */
export const USER_RATE_PER_MINUTE = 600
/** Milliseconds of the sliding window that rates a minute are judged in. */
export const RATE_WINDOW_MS = 60_000
/** Scopes on one API key. */
export const KEY_SCOPES = 20
/** Characters of the longest scope. */
export const KEY_SCOPE_LENGTH = 40
/** Entries of an API key's address allowlist. */
export const KEY_ADDRESSES = 50
/** Minutes for which a rotated secret goes on working, unless the rotation says otherwise. */
export const KEY_GRACE_MINUTES = 24 * 60
/** Minutes of the longest grace of a rotated secret. */
export const LONGEST_KEY_GRACE_MINUTES = 7 * 24 * 60

/** An API key's request log: bytes of a query that is kept whole, characters of what else is cut, and its days (Supplement §2). */
export const REQUEST_LOG = { queryBytes: 4 * 1024, path: 2_000, userAgent: 500, days: 30 } as const

/** Hours for which a session lasts after it was last used (Supplement §2). */
export const SESSION_HOURS = 12
/** Hours that a session must have left for its use to leave it alone: what is short of `SESSION_HOURS` goes unrecorded. */
export const SESSION_SLACK_HOURS = 11
/** Sessions that a user may have open; another ends the one that would end first. */
export const SESSIONS_PER_USER = 1_000
/** Failed sign-ins that one e-mail address and one source may have within so many minutes (Supplement §2). */
export const SIGN_IN_FAILURES = { address: 10, source: 100, minutes: 15 } as const
/** Characters of a password. */
export const PASSWORD = { min: 8, max: 200 } as const

// Calls

/** Days of the widest window of the call log. */
export const CALL_WINDOW_DAYS = 366
/** Days of the call log before today when the request names no `from`. */
export const CALL_WINDOW_DEFAULT_DAYS = 6
/** Digits of the shortest caller filter. */
export const CALLER_FILTER_DIGITS = 4
/** Characters of the longest caller filter. */
export const CALLER_FILTER_LENGTH = 32
/** Seconds of the largest `minTalk` or `maxTalk`. */
export const TALK_FILTER_SECONDS = 86_400
/** Hours after its start for which a call stays on the live board. */
export const LIVE_BOARD_HOURS = 6
/** Calls on the live board. */
export const LIVE_BOARD_CALLS = 200
/** The live board as a stream: streams of a workspace in one process; milliseconds between looks, between signs of life, and for which a reader may not read. */
export const LIVE_STREAM = { most: 50, gapMs: 250, heartbeatMs: 15_000, slowMs: 30_000 } as const
/** Seconds after its arrival at which a call that has not ended is looked into: a carrier's own longest call. */
export const STUCK_CALL_SECONDS = 4 * 3_600
/** Failed dials in a row at which a target is down, and at which it is switched off for a while (Supplement §5, Health). */
export const TARGET_FAILURES = { down: 3, suppressed: 5 } as const
/**
 * For how many seconds a target is switched off: at `first`, doubled with each further failure up to `longest`;
 * after a 503 that says nothing for `unavailable`, and after one with a `Retry-After` at most for `longestAsked`.
 */
export const SUPPRESSION_SECONDS = { first: 60, longest: 15 * 60, unavailable: 30, longestAsked: 3_600 } as const
/** Characters of the longest id that a carrier gives a recording, and its most channels. */
export const RECORDING = { carrierId: 200, channels: 8 } as const
/** Seconds for which a browser may keep a recording that it played. */
export const PLAYBACK_CACHE_SECONDS = 3_600
/** Cents of the largest figure on one call. */
export const LARGEST_FIGURE_CENTS = 100_000_000
/** A posted conversion: hours after the end of its call for which it is taken; characters (Supplement §6). */
export const CONVERSION = { windowHours: 72, note: 500, externalId: 200 } as const
/** Adjustments of one call, and characters of the reason that each must give. */
export const ADJUSTMENT = { most: 50, reason: 500 } as const

// Configuration (Document 1, "Endpoints" and "Shared conventions")

/** Characters of a list's `q` filter. */
export const SEARCH_LENGTH = 120
/** Characters of the number list's `q` filter. */
export const NUMBER_SEARCH_LENGTH = 40

/** Lengths of free texts that several records share. */
export const TEXT = {
  contact: 200,
  phone: 40,
  reference: 200,
  statusNote: 500,
  notes: 4_000,
  zone: 64,
  email: 254,
} as const

export const NAME = {
  workspace: { min: 1, max: 120 },
  buyer: { min: 2, max: 120 },
  publisher: { min: 2, max: 120 },
  target: { min: 2, max: 120 },
  campaign: { min: 1, max: 120 },
  vertical: { min: 1, max: 80 },
  pool: { min: 1, max: 120 },
  apiKey: { min: 1, max: 120 },
  user: { min: 1, max: 120 },
} as const

/** Largest call caps; 0 means unlimited everywhere. */
export const CALL_CAP = {
  concurrency: 100_000,
  laneConcurrency: 10_000,
  hourly: 1_000_000,
  daily: 1_000_000,
  monthly: 10_000_000,
  total: 100_000_000,
} as const

/** Largest figures of money, in cents. */
export const CENTS = {
  price: 100_000_000,
  payout: 10_000_000,
  dailyRevenueCap: 100_000_000_000,
  dailyPayoutCap: 1_000_000_000,
  credit: 10_000_000,
} as const

/** Seconds. */
export const SECONDS = {
  buffer: 3_600,
  dedupe: 7_776_000,
  durationThreshold: 86_400,
  dialTimeout: { min: 5, max: 120, usual: 25 },
  failoverBudget: { min: 10, max: 180, usual: 90 },
  ringTimeout: { min: 5, max: 120 },
} as const

/** `most`: verticals of a workspace's own. */
export const VERTICAL = { short: 40, most: 200 } as const
export const CAMPAIGN = { description: 300, unroutedMessage: 500, verticalId: 80 } as const
export const ROUTE = {
  priority: { min: 1, max: 1_000, usual: 100 },
  weight: { min: 0, max: 1_000, usual: 100 },
} as const
/** `header` is the length of one value, `headers` their number, `answerBytes` the longest answer of a bidder that is read. */
export const RTB = {
  /** Characters of a header's value sealed: never more than the value's and what sealing adds to it, in base64. */
  sealedHeader: 2_800,
  header: 1_000,
  headers: 20,
  answerBytes: 64 * 1024,
  timeoutMs: { min: 50, max: 5_000, usual: 2_000 },
  url: 2_000,
  body: 10_000,
  path: 500,
  modifierPct: 100,
} as const
export const TARGET = { sipUri: 255, digits: 32, sipField: 255, whisper: 500, tagFilters: 20 } as const
/** `values` are those of one filter; `request` keys fit into one tagging request, `call` tags on one call. */
export const TAG = { key: 64, value: 512, values: 100, request: 40, call: 80 } as const

/** Characters of a key that are kept to tell it by. */
export const SECRET_PREFIX = 32
/** Characters of an issued key that stay visible: the form of its kind, and a few of its own. */
export const SECRET_SHOWN = 12

/** State codes in one list. */
export const STATES_MAX = 62
/** Windows in one day of a schedule. */
export const WINDOWS_PER_DAY = 6
export const NUMBER = { label: 120, statusNote: 500 } as const
/** What a search for numbers may say (Document 1, "search available numbers"); characters, but for `features` and `limit`. */
export const NUMBER_QUERY = {
  areaCode: 8,
  place: 100,
  contains: 15,
  startsWith: 16,
  endsWith: 15,
  features: 8,
  limit: { min: 1, max: 250, usual: 20 },
} as const
/** An order of a number (Document 1, "buy a number"); `quoteToken` is longer than any that is issued. */
export const NUMBER_ORDER = { label: 120, tags: 12, tag: 40, customerReference: 100, quoteToken: 2_000 } as const
/** Minutes for which the price of a number that was found holds. */
export const QUOTE_MINUTES = 15
/** Seconds after which the carrier is asked again for an order that it has not filled, or for a number that it has not pointed at us. */
export const ORDER_POLL_SECONDS = 5
export const CONNECT_RETRY_SECONDS = 5
export const PREFIX = { min: 2, max: 8, usual: 4 } as const
/** Pings that a routing key may make in each window, unless it has rates of its own, and at the most. */
export const PUBLISHER_RATE = {
  minute: { usual: 120, max: 6_000 },
  hour: { usual: 5_000, max: 360_000 },
  day: { usual: 50_000, max: 8_640_000 },
} as const
/** Minutes for which a rotated routing key goes on working, unless the rotation says otherwise; at most as an API key. */
export const ROUTING_KEY = { label: 120, graceMinutes: 60, shown: 4 } as const
/** A pool's settings (Supplement §9); `params` are the keys that it keeps ("Pool parameters kept"). */
export const POOL = { ttlSeconds: { min: 60, max: 86_400, usual: 1_800 }, params: 20, domains: 50 } as const
export const BLOCK = { number: 32, digitsMin: 7, digitsMax: 15, reason: 300, search: 40 } as const
export const WALLET = { reference: 200, note: 300 } as const
/** Entries of a batch of the wallet's export. */
export const WALLET_EXPORT_BATCH = 2_000
/** Days after which a renewal that failed is tried again, and after which a number that is past due is suspended (Supplement §3). */
export const RENEWAL = { retryAfterDays: 1, suspendAfterDays: 7 } as const
/** Calls in thirty days under which a publisher has no quality score (Supplement §4). */
export const QUALITY = { calls: 20, days: 30 } as const
/** How long folds remember references before the decision memory takes over, in milliseconds (Architecture §2). */
export const MEMORY_MS = 3_600_000

// Exports

/** Rows of exports: of the call log; of the activity log, when the request names no `limit`, and at most; rows read at a time; characters kept of a filter. */
export const EXPORT = { calls: 100_000, activityUsual: 10_000, activity: 50_000, batch: 2_000, filter: 512 } as const
/** Entries of the activity log that a check of its chain reads at a time. */
export const VERIFY_BATCH = 1_000
