import { callBooks } from './call-check.ts'
import { liveCounters, offerReservations } from './counter-checks.ts'
import type { AnyKeyedCheck } from './keyed-check.ts'
import { streams } from './stream-check.ts'
import { walletBalances, walletReferences } from './wallet-checks.ts'

/** Checks of events against earlier ones of the same key, in the order in which they are made. */
export const KEYED_CHECKS: readonly AnyKeyedCheck[] = [
  streams,
  walletBalances,
  walletReferences,
  callBooks,
  liveCounters,
  offerReservations,
]
