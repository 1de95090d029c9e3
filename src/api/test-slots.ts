import { WEBHOOK } from '../domain/shared/limits.ts'
import type { OperationalStore } from '../ports/operational-store.ts'

/** A test that was placed and cannot be found after so long (ms) was never queued. */
const PLACED_MS = 10_000
/** A slot that nobody gave back is free again after so long (ms). */
const SLOT_MS = 86_400_000

interface Placed {
  readonly deliveryId: string
  readonly at: number
}

/**
 * Takes one of an endpoint's slots for waiting tests, by compare-and-set, so that requests at the same time cannot take more
 * than there are. Resolves to false when every slot has a test that waits. @throws StoreUnavailable
 */
export async function takeTestSlot(
  {
    ops,
    isWaiting,
    now,
  }: {
    readonly ops: Pick<OperationalStore, 'get' | 'putIf'>
    /** Whether an attempt of a test waits; null for one that is not known. */
    readonly isWaiting: (deliveryId: string) => Promise<boolean | null>
    readonly now: number
  },
  webhookId: string,
  deliveryId: string,
): Promise<boolean> {
  for (let slot = 0; slot < WEBHOOK.testsWaiting; slot++) {
    const key = `webhook-test:${webhookId}:${slot}`
    const entry = await ops.get(key, now)
    const placed = entry?.value as Placed | undefined
    if (placed) {
      const waits = (await isWaiting(placed.deliveryId)) ?? now - placed.at < PLACED_MS
      if (waits) continue
    }
    const mine: Placed = { deliveryId, at: now }
    if (await ops.putIf(key, entry?.version ?? 0, mine, now + SLOT_MS, now)) return true
  }
  return false
}
