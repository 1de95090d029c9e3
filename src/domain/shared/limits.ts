/**
 * Every figure of the documents, once, grouped by context.
 *
 * A group is an object. A range has `min`, `max` and, where a request may leave it out, `default`. A single figure is a
 * maximum unless its comment says otherwise. Units stand in the name (`Bytes`, `Ms`, `Seconds`, `Minutes`, `Hours`,
 * `Days`, `Cents`); the length of a text is in characters and has none.
 *
 * Source: Document 1, "Limits", unless a line names another.
 */

// Shared

/**
 * Rows of a page; a larger `pageSize` is clamped (Document 1, shared convention 4). `longDefault`: ping ledger, request log. `cursor`:
 * characters of a cursor, which holds the values of one row.
 */
export const PAGE = { default: 25, longDefault: 50, max: 200, cursor: 4_096 } as const

/**
 * A request. `path` is one path parameter; `bodyDepth` counts nested objects and lists (Supplement 1.1); the key is
 * Supplement 1.5; `problems` are named in one refusal (Supplement 1.19).
 */
export const REQUEST = {
  path: 16_384,
  bodyBytes: 2 * 1024 * 1024,
  /** A body of sign-in, sessions, passwords and invitations (Supplement 1.19). */
  credentialBodyBytes: 16 * 1024,
  /** A body on the real-time-bidding endpoints. */
  biddingBodyBytes: 32 * 1024,
  /** A webhook of the carrier; real ones are a few thousand bytes. */
  webhookBytes: 256 * 1024,
  bodyDepth: 32,
  /** Fields of one object in a body: more than any record or tag list has. */
  objectFields: 1_000,
  /** Objects and arrays of a whole body, and fields of all its objects: more than any record has. */
  containers: 20_000,
  fields: 20_000,
  problems: 20,
  idempotencyKey: 128,
  /** Names of unknown query parameters in a response header: how many, and how many characters of each. */
  ignoredParameters: { count: 20, length: 64 },
} as const

/** How long the first outcome of an `Idempotency-Key` is repeated (Supplement 1.5). */
export const IDEMPOTENCY = { hours: 24 } as const

/** A list's `q` filter: of texts, and of numbers. */
export const SEARCH = { text: 120, number: 40 } as const

/** Free texts that several records share (Document 1, "Endpoints" and "Shared conventions", as all lengths below). */
export const TEXT = {
  contact: 200,
  phone: 40,
  reference: 200,
  statusNote: 500,
  notes: 4_000,
  zone: 64,
  token: 200,
  email: 254,
} as const

/** Names of records. */
export const NAME = {
  webhook: { min: 1, max: 120 },
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

/** Call caps; 0 means unlimited everywhere. */
export const CALL_CAP = {
  concurrency: 100_000,
  laneConcurrency: 10_000,
  hourly: 1_000_000,
  daily: 1_000_000,
  monthly: 10_000_000,
  total: 100_000_000,
} as const

/** Figures of money, in cents. */
export const CENTS = {
  price: 100_000_000,
  payout: 10_000_000,
  dailyRevenueCap: 100_000_000_000,
  dailyPayoutCap: 1_000_000_000,
  credit: 10_000_000,
} as const

/** Times that a person sets, in seconds. */
export const SECONDS = {
  buffer: 3_600,
  dedupe: 7_776_000,
  durationThreshold: 86_400,
  dialTimeout: { min: 5, max: 120, default: 25 },
  failoverBudget: { min: 10, max: 180, default: 90 },
  ringTimeout: { min: 5, max: 120 },
} as const

/** Tags: `values` of one filter, `request` keys in one tagging request, `ping` tags on one ping, `call` tags on one call. */
export const TAG = { key: 64, value: 512, values: 100, request: 40, ping: 40, call: 80 } as const

/** State codes in one list (Document 1, shared convention 9). */
export const STATES = { max: 62 } as const

/** Opening windows in one day (Document 1, shared convention 8). */
export const SCHEDULE = { windowsPerDay: 6 } as const

/** How long a fold remembers references before decision memory takes over (Architecture §2). */
export const FOLD_MEMORY = { ms: 3_600_000 } as const

/** Rates: of a console user (Supplement 1.9), and the sliding window in which every rate a minute is measured. */
export const RATE = { userPerMinute: 600, windowMs: 60_000 } as const

// Access

/** An API key. `scope` is the length of one scope; `graceMinutes` is how long a rotated secret goes on working. */
export const API_KEY = {
  ratePerMinute: { min: 1, max: 1_200, default: 120 },
  scopes: 20,
  scope: 40,
  addresses: 50,
  graceMinutes: { max: 7 * 24 * 60, default: 24 * 60 },
} as const

/** An issued key: characters stored as its prefix, and characters shown (the form of its kind, and a few of its own). */
export const SECRET = { prefix: 32, shown: 12 } as const

/** An API key's request log: bytes of a query stored whole, lengths of the other texts, days kept (Supplement §2). */
export const REQUEST_LOG = { queryBytes: 4 * 1024, path: 2_000, userAgent: 500, days: 30 } as const

/**
 * A session (Supplement §2): it ends `hours` after its last use. A use renews it only when less than `renewBelowHours`
 * are left. A sign-in past `perUser` open sessions ends the one that would end first.
 */
export const SESSION = { hours: 12, renewBelowHours: 11, perUser: 1_000 } as const

/**
 * Failed sign-ins within `minutes` of an e-mail address from one source, of an address from any source, and of a source for any
 * address (Supplement §2). A stranger alone does not lock an address for its owner.
 */
export const SIGN_IN_FAILURES = { pair: 10, address: 100, source: 100, minutes: 15 } as const

/** Open invitations of a workspace, and how long each can be accepted. */
export const INVITATION = { max: 100, days: 7 } as const

/** Users of a publisher's portal, with the open invitations to it. */
export const PUBLISHER_USERS = { max: 50 } as const

/** How long a password can be reset by a token. */
export const PASSWORD_RESET = { hours: 1 } as const

/** Characters of the tokens of the platform's staff (`OPERATOR_TOKEN`, `METRICS_TOKEN`; Supplement §2). */
export const STAFF_TOKEN = { min: 32 } as const

/** Wrong operator tokens from one source in a minute (Supplement §2). */
export const OPERATOR_GUESSES = { perMinute: 20 } as const

export const PASSWORD = { min: 8, max: 200 } as const

// Money

/** Wallet entries; `exportBatch` is rows read at a time. */
export const WALLET = { reference: 200, note: 300, exportBatch: 2_000 } as const

// Demand

export const TARGET = { sipUri: 255, digits: 32, sipField: 255, whisper: 500, tagFilters: 20 } as const

/**
 * Bidding. `headers` is their number, `header` the length of one value, `answerBytes` what is read of a bidder's answer,
 * `path` the length of a path into it and `pathSegments` the number of its segments (Supplement §5).
 */
export const RTB = {
  /** A header's value sealed: at most the value and what sealing adds, in base64. */
  sealedHeader: 2_800,
  header: 1_000,
  headers: 20,
  answerBytes: 64 * 1024,
  timeoutMs: { min: 50, max: 5_000, default: 2_000 },
  url: 2_000,
  body: 10_000,
  path: 500,
  pathSegments: 16,
  modifierPct: 100,
} as const

/** A reject code of a bidder or of a refused ping (Document 2, `reasonCode`). */
export const REJECT_CODE = { max: 99_999 } as const

/** `lifeSeconds` of a bid; `bidders` asked at once; a bid's destination is read up to `destination` characters (Supplement §7). */
export const BID = { lifeSeconds: 60, bidders: 100, destination: 255, confirmTries: 3 } as const

/** A simulated bidder: times of its answers and bids, and how rarely it fails at the most (Supplement §11). */
export const SANDBOX_BIDDER = {
  latencyMs: 10_000,
  durationSeconds: 86_400,
  expiresInSeconds: 3_600,
  failEvery: 1_000_000,
} as const

/**
 * A simulated load (Supplement §11): its attempts, how many begin in a second and are under way at once, and the publishers that it
 * names. Its progress is kept every `saveMs` and for `keptDays`; a run that has kept none for `silentMs` was left behind.
 */
export const SANDBOX_LOAD = {
  calls: { min: 1, max: 10_000 },
  perSecond: { min: 1, max: 200 },
  publishers: 100,
  underWay: 200,
  saveMs: 1_000,
  silentMs: 15_000,
  keptDays: 7,
} as const

/** A publisher's ping: lengths of its texts, and the time budget of its auction (Supplement §7). */
export const PING = {
  callerNumber: 40,
  zip: 20,
  city: 120,
  tmaxMs: { min: 100, max: 5_000, default: 3_000 },
  /** Time of the budget that is kept for storing and sending the answer; of a small budget a quarter. */
  answerMs: 250,
  /** Body in bytes, read raw (Document 1, Limits). */
  bodyBytes: 32 * 1024,
  /** Of a request's body and user agent, what its row shows (characters). */
  storedBody: 8 * 1024,
  userAgent: 500,
  /** How far the clock of a signed request may be off (seconds), either way. */
  signatureSeconds: 300,
  /** How old the folds may be on which a ping is judged (ms). */
  foldAgeMs: 500,
  /** Numbers of auctions that a process takes at once. */
  seqBlock: 1_000,
  /** Days after which a row of the ledger is removed, and the longest window of a query. */
  retentionDays: 30,
  windowDays: 92,
  /** Default start of a window: midnight this many days ago. */
  defaultDaysBack: 6,
  pageSize: 50,
  reasonCode: { min: 0, max: 99_999 },
  /** Longest search text, and longest id in a path. */
  search: 60,
  /** Bids that the detail of a ping shows. */
  shownBids: 100,
  /** Refused posts that it shows. */
  shownPosts: 50,
  /** Rows of each table of a summary. */
  summary: { reasons: 25, targets: 100, publishers: 100 },
} as const

/** How long rows of the ping ledger are kept (ms). */
export const PING_RETENTION_MS = PING.retentionDays * 86_400_000

// Campaigns

export const CAMPAIGN = { description: 300, unroutedMessage: 500, verticalId: 80 } as const

export const ROUTE = {
  priority: { min: 1, max: 1_000, default: 100 },
  weight: { min: 0, max: 1_000, default: 100 },
} as const

/** A workspace's own verticals: length of `short`, and their number. */
export const VERTICAL = { short: 40, max: 200 } as const

// Supply

/** `connectRetrySeconds`: wait before the carrier is asked again to deliver a number's calls to the platform. */
export const NUMBER = { label: 120, statusNote: 500, connectRetrySeconds: 5 } as const

/** Search for numbers (Document 1, "search available numbers"): lengths, but for `features` and `limit`, which count. */
export const NUMBER_QUERY = {
  areaCode: 8,
  place: 100,
  contains: 15,
  startsWith: 16,
  endsWith: 15,
  features: 8,
  limit: { min: 1, max: 250, default: 20 },
} as const

/**
 * An order of a number (Document 1, "buy a number"): `tags` counts, `quoteToken` is longer than any that is issued, a
 * quoted price holds for `quoteMinutes`, and the carrier is polled for an unfilled order every `pollSeconds`.
 */
export const NUMBER_ORDER = {
  label: 120,
  tags: 12,
  tag: 40,
  customerReference: 100,
  quoteToken: 2_000,
  quoteMinutes: 15,
  pollSeconds: 5,
} as const

/** When a failed renewal is tried again, and when a number that is past due is suspended (Supplement §3). */
export const RENEWAL = { retryAfterDays: 1, suspendAfterDays: 7 } as const

/** Routing prefix of a publisher or campaign. */
export const PREFIX = { min: 2, max: 8, default: 4 } as const

/** Pings of a routing key in each window; a key may have rates of its own. */
export const PUBLISHER_RATE = {
  minute: { min: 1, max: 6_000, default: 120 },
  hour: { min: 1, max: 360_000, default: 5_000 },
  day: { min: 1, max: 8_640_000, default: 50_000 },
} as const

/**
 * A routing key: `shown` characters of its own stay visible. The longest grace is that of an API key; a rotation from the portal
 * has the fixed one `portal`.
 */
export const ROUTING_KEY = { label: 120, graceMinutes: { default: 60, portal: 24 * 60 }, shown: 4 } as const

/**
 * A pool's settings (Supplement §9); `params` counts its keys ("Pool parameters kept"), `domain` is the length of one host
 * (RFC 1035).
 */
export const POOL = {
  ttlSeconds: { min: 60, max: 86_400, default: 1_800 },
  params: 20,
  domains: 50,
  domain: 253,
} as const

/**
 * Leases of a pool's numbers (Document 2, Public number-insertion endpoints). Texts in characters; `paramValue` is what is kept of a
 * parameter's value. A call matches a lease that ended less than `matchSeconds` before it. A session is known for `sessionHours`
 * beyond its end, a visitor's last number for `visitorDays`, a row of the list for `retentionDays` after its end.
 */
export const LEASE = {
  visitorId: { min: 8, max: 64 },
  sessionDigits: 18,
  url: 2_000,
  paramValue: 256,
  bodyBytes: 64 * 1024,
  requestsPerMinute: 300,
  matchSeconds: 600,
  sessionHours: 24,
  visitorDays: 30,
  retentionDays: 30,
  /** How old the configuration may be (ms) that leases and heartbeats go by. */
  foldAgeMs: 500,
  /** Shortest wait (seconds) between two looks for leases of one pool that have expired. */
  lookEverySeconds: 2,
  /** Leases that one append ends. */
  endBatch: 200,
} as const

/** A publisher's quality score: at least `calls` calls in the last `days` (Supplement §4). */
export const QUALITY = { calls: 20, days: 30 } as const

// Routing

/** A blocked caller: `digits` of the number once punctuation is removed, `search` of the list's filter. */
export const BLOCK = { number: 32, digits: { min: 7, max: 15 }, reason: 300, search: 40 } as const

/** Consecutive failed dials after which a target is down, and after which it is suppressed (Supplement §5, Health). */
export const TARGET_FAILURES = { down: 3, suppressed: 5 } as const

/**
 * How long a target is suppressed: `first`, doubled with each further failure up to `max`; after a 503 without
 * `Retry-After` for `unavailable`, after one with it for at most `retryAfterMax`.
 */
export const SUPPRESSION_SECONDS = { first: 60, max: 15 * 60, unavailable: 30, retryAfterMax: 3_600 } as const

// Calls

/** `stuckSeconds`: age at which a call without an end is looked into (the carrier's own longest call). `figureCents`: one figure. */
export const CALL = { stuckSeconds: 4 * 3_600, figureCents: 100_000_000 } as const

/**
 * The call log's filters. Without `from`, the window begins `defaultDaysBack` days before today; `talkSeconds` is the
 * largest `minTalk` or `maxTalk`.
 */
export const CALL_LOG = {
  windowDays: 366,
  defaultDaysBack: 6,
  caller: { minDigits: 4, max: 32 },
  talkSeconds: 86_400,
} as const

/**
 * A report (Document 1, Limits, Reports). `exportRows` is of its file. Of a call, the newest `tagChanges` are told apart as of an
 * instant, and of a pool the newest `poolNames`; `lostTargets` are shown of a reason;
 * `rowsPerCall` is more than the changes of a call's books can add.
 */
export const REPORT = {
  dimensions: 2,
  hourDays: 31,
  limit: { min: 1, max: 5_000, default: 500 },
  exportRows: 5_000,
  tagChanges: 25,
  poolNames: 100,
  lostTargets: 100,
  rowsPerCall: 256,
} as const

/** The live board: calls started in the last `hours`, at most `calls` of them. */
export const LIVE_BOARD = { hours: 6, calls: 200 } as const

/** The live board as a stream: streams of one workspace in a process, pause between two reads, heartbeat, slowest reader. */
export const LIVE_STREAM = { max: 50, gapMs: 250, heartbeatMs: 15_000, slowMs: 30_000 } as const

/** A recording: length of the carrier's id, number of channels, and how long a browser may cache its audio. */
export const RECORDING = { carrierId: 200, channels: 8, cacheSeconds: 3_600 } as const

/** A posted conversion, accepted until `windowHours` after the call's end (Supplement §6). */
export const CONVERSION = { windowHours: 72, note: 500, externalId: 200 } as const

/** Adjustments of one call, and the length of the required reason. */
export const ADJUSTMENT = { max: 50, reason: 500 } as const

// Reporting

/** The overview (Supplement §10): days shown, rows of a table of the best, and records with counters whose caps it looks at. */
export const OVERVIEW = { days: 7, top: 5, records: 2_000 } as const

/** Alerts of the overview: how many are shown, and the share of a cap from which on it is nearly full. */
export const ALERTS = { max: 50, nearShare: 0.9 } as const

// Activity and exports

/** Rows of an export; `batch` rows are read at a time, `filter` characters of the filter are recorded. */
export const EXPORT = {
  calls: 100_000,
  activity: { default: 10_000, max: 50_000 },
  pings: 50_000,
  batch: 2_000,
  filter: 512,
} as const

/** Entries that a check of the activity log's chain reads at a time. */
export const ACTIVITY = { verifyBatch: 1_000 } as const

/**
 * Webhook and pixel endpoints (Document 1, Limits; Document 2, Webhooks and pixels). Texts in characters; `pass` is deliveries of
 * one endpoint in a pass of the dispatcher, `inFlight` requests to one endpoint at a time, `silent` those to one that has not
 * answered its last request.
 */
export const WEBHOOK = {
  url: 2_000,
  events: 20,
  headers: 20,
  header: 1_000,
  /** A sealed header value. */
  sealedHeader: 4_000,
  template: 10_000,
  note: 500,
  search: 200,
  degradedAfter: 2,
  pass: 25,
  inFlight: 8,
  tickMs: 15_000,
  statsHours: 24,
  /** How old the configuration may be (ms) by which an event's endpoints are judged. */
  foldAgeMs: 250,
  testsWaiting: 5,
  replays: { min: 1, max: 500, default: 200 },
} as const

/**
 * One delivery (Document 1, Limits; Document 2, Answering a delivery). `backoffSeconds` are the waits after attempts 1, 2 and 3;
 * `timeoutMs` is the time to the headers of an answer, `bodyMs` what its body may take beyond; sizes are in bytes.
 */
export const DELIVERY = {
  attempts: 4,
  backoffSeconds: [1, 5, 25],
  timeoutMs: 10_000,
  bodyMs: 2_000,
  responseBytes: 2_048,
  requestBytes: 8_192,
  /** Attempts that a row of the log lists: the newest ones of a delivery that is replayed again and again. */
  listed: 100,
} as const

/** Deliveries that a simulated receiver remembers, and its longest delay (ms). */
export const SANDBOX_RECEIVER = { requests: 200, latencyMs: 30_000, failFirst: 1_000 } as const

/** The demo page of the sandbox: calls that one source may place in a minute, and how many times faster than real ones they go. */
export const SANDBOX_LANDING = { callsPerMinute: 20, speed: 20 } as const
