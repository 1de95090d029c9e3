/** The numbers of Document 1 and Supplement §4–5 that bound configuration, once each. Texts in characters. */

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

export const CAMPAIGN = { description: 300, unroutedMessage: 500, verticalId: 80 } as const
export const ROUTE = {
  priority: { min: 1, max: 1_000, usual: 100 },
  weight: { min: 0, max: 1_000, usual: 100 },
} as const
export const RTB = {
  header: 1_000,
  timeoutMs: { min: 50, max: 5_000, usual: 2_000 },
  url: 2_000,
  body: 10_000,
  path: 500,
  modifierPct: 100,
} as const
export const TARGET = { sipUri: 255, digits: 32, sipField: 255, whisper: 500, tagFilters: 20 } as const
/** `values` are those of one filter. */
export const TAG = { key: 64, value: 512, values: 100 } as const

/** Characters of a key that are kept to tell it by. */
export const SECRET_PREFIX = 32

/** State codes in one list. */
export const STATES_MAX = 62
/** Windows in one day of a schedule. */
export const WINDOWS_PER_DAY = 6
export const NUMBER = { label: 120 } as const
export const PREFIX = { min: 2, max: 8, usual: 4 } as const
export const BLOCK = { number: 32, digitsMin: 7, digitsMax: 15, reason: 300 } as const
export const WALLET = { reference: 200, note: 300 } as const
/** Calls in thirty days under which a publisher has no quality score (Supplement §4). */
export const QUALITY = { calls: 20, days: 30 } as const
/** How long folds remember references before the decision memory takes over, in milliseconds (Architecture §2). */
export const MEMORY_MS = 3_600_000
