import { sleep } from '../kernel/async/sleep.ts'
import type { Clock } from '../ports/clock.ts'
import { type Claim, type Claimant, claimWork } from '../runtime/ownership/claims.ts'

const KEY = 'sandbox-seed'
/** Pause (ms) between two attempts while another process seeds. */
const POLL_MS = 250

/** Waits until no other process prepares the sandbox, and claims that work. @throws StoreUnavailable */
export async function claimSeed(claimant: Claimant, clock: Clock): Promise<Claim> {
  for (;;) {
    const claim = await claimWork(claimant, clock, KEY)
    if (claim) return claim
    await sleep(clock, POLL_MS, new AbortController().signal)
  }
}
