import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'

/** How long a claim lasts without being prolonged (ms): then another process may run the work of one that died. */
export const CLAIM_MS = 10_000
const PROLONG_EVERY_MS = CLAIM_MS / 4

/** Where processes claim work, and the name of this process there. */
export interface Claimant {
  readonly ops: Pick<OperationalStore, 'claim' | 'releaseClaim' | 'get'>
  readonly owner: string
  /** Whether a process lives. The claims of one that does not are broken; without it, they expire. */
  readonly isAlive?: (owner: string) => boolean
}

/** A claim on one piece of work. It is prolonged until it is released or left. */
export interface Claim {
  /** Lets others claim the work at once. */
  readonly release: () => Promise<void>
  /** Prolongs it no more: it lasts until it expires. */
  readonly leave: () => void
}

/** Releases a claim whose owner does not live. Resolves to whether it did. @throws StoreUnavailable */
async function breakClaim({ ops, isAlive }: Claimant, clock: Clock, key: string): Promise<boolean> {
  if (isAlive === undefined) return false
  const holder = (await ops.get(key, clock.now()))?.value
  if (typeof holder !== 'string' || isAlive(holder)) return false
  await ops.releaseClaim(key, holder)
  return true
}

/**
 * Claims work and prolongs the claim while the work goes on; null while another living process has it.
 * @throws StoreUnavailable
 */
export async function claimWork(claimant: Claimant, clock: Clock, key: string): Promise<Claim | null> {
  const { ops, owner } = claimant
  const claim = () => ops.claim(key, owner, clock.now() + CLAIM_MS, clock.now())
  const isClaimed = (await claim()) || ((await breakClaim(claimant, clock, key)) && (await claim()))
  if (!isClaimed) return null
  let prolonging: Promise<unknown> | null = null
  let cancel = () => {}
  const prolongLater = () => {
    cancel = clock.schedule(clock.now() + PROLONG_EVERY_MS, () => {
      prolongLater()
      // A claim that cannot be prolonged expires. The work is idempotent, so it may run twice.
      prolonging ??= claim()
        .catch(() => undefined)
        .finally(() => {
          prolonging = null
        })
    })
  }
  prolongLater()
  return {
    leave: () => cancel(),
    async release() {
      cancel()
      await prolonging
      await ops.releaseClaim(key, owner).catch(() => undefined)
    },
  }
}
