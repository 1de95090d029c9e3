/** Every number of the documents, once. Document 1, "Limits", unless a line says otherwise. */

// Pages

/** Rows of a page when the request names no `pageSize`. */
export const PAGE_SIZE = 25
/** Rows of a page of the ping ledger and of an API key's request log, when the request names no `pageSize`. */
export const LONG_PAGE_SIZE = 50
/** Rows of the largest page; a larger `pageSize` is clamped. */
export const LARGEST_PAGE_SIZE = 200

// Requests

/** Bytes of the largest request body. */
export const BODY_BYTES = 2 * 1024 * 1024
/** Bytes of the largest body on the real-time-bidding endpoints. */
export const BIDDING_BODY_BYTES = 32 * 1024
/** Levels of objects and lists in the deepest JSON body (Supplement §1.1). */
export const BODY_DEPTH = 32
/** Characters of the longest idempotency key (Supplement §1.5). */
export const IDEMPOTENCY_KEY_LENGTH = 128
/** Milliseconds for which a request waits to have read, or to be read back, as far as it asks (Supplement §1.6, §1.7). */
export const READ_WAIT_MS = 2_000

// API keys

/** Requests a minute of an API key that names no rate of its own. */
export const KEY_RATE_PER_MINUTE = 120
/** Requests a minute of the busiest API key. */
export const LARGEST_KEY_RATE_PER_MINUTE = 1_200
/** Requests a minute of a console user (Supplement §1.9). */
export const USER_RATE_PER_MINUTE = 600
/** Scopes on one API key. */
export const KEY_SCOPES = 20
/** Characters of the longest scope. */
export const SCOPE_LENGTH = 40
/** Entries of an API key's address allowlist. */
export const KEY_ADDRESSES = 50
/** Minutes for which a rotated secret goes on working, unless the rotation says otherwise. */
export const KEY_GRACE_MINUTES = 24 * 60
/** Minutes of the longest grace of a rotated secret. */
export const LONGEST_KEY_GRACE_MINUTES = 7 * 24 * 60

/** Hours for which a session lasts after it was last used (Supplement §2). */
export const SESSION_HOURS = 12

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
/** Seconds after its arrival at which a call that has not ended is looked into: a carrier's own longest call. */
export const STUCK_CALL_SECONDS = 4 * 3_600
/** Cents of the largest figure on one call. */
export const LARGEST_FIGURE_CENTS = 100_000_000

// Tags

/** Characters of the longest tag key. */
export const TAG_KEY_LENGTH = 64
/** Characters of a tag's value; a longer one is cut. */
export const TAG_VALUE_LENGTH = 512
/** Tags on one call. */
export const CALL_TAGS = 80

// Configuration (Document 1, "Endpoints" and "Shared conventions")

/** Characters of a buyer's, campaign's or target's name. */
export const NAME_LENGTH = 120
/** Characters of the note of a status change. */
export const STATUS_NOTE_LENGTH = 500
/** State codes in one list. */
export const STATES = 62
/** Windows in one day of a schedule. */
export const DAY_WINDOWS = 6
/** Characters of the longest zone name. */
export const ZONE_LENGTH = 64
/** Characters of a list's `q` filter. */
export const SEARCH_LENGTH = 120
/** Characters of the number list's `q` filter. */
export const NUMBER_SEARCH_LENGTH = 40
