import { START } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { advancePosition, endEpoch, type Subscription, startEpoch } from './subscription.ts'

/** How long a lease lasts without renewal, and how often other processes try to acquire it (ms). */
export const LEASE_MS = 10_000
const CONTEND_EVERY_MS = 2_000
/** How often the checkpoint is committed (ms). */
const COMMIT_EVERY_MS = 200

/** The operational store, and the name of this process in it. */
export interface LeasePorts {
  readonly ops: OperationalStore
  readonly owner: string
}

const leaseKey = (name: string) => `reaction:${name}`
const checkpointKey = (name: string) => `reaction-position:${name}`

/** Acquires, renews or loses the lease of a subscription. @throws StoreUnavailable */
export async function renewLease<Tools>(
  { ops, owner }: LeasePorts,
  subscription: Subscription<Tools>,
  now: number,
): Promise<void> {
  const { name } = subscription.reaction
  if (subscription.state === 'owner' && now >= subscription.leaseUntil) endEpoch(subscription, 'contending')
  const isOwner = await ops.acquireLease(leaseKey(name), owner, now + LEASE_MS, now)
  if (isOwner) subscription.leaseUntil = now + LEASE_MS
  subscription.leaseDueAt = now + (isOwner ? LEASE_MS / 3 : CONTEND_EVERY_MS)
  if (isOwner && subscription.state === 'contending') {
    const entry = await ops.get(checkpointKey(name), now)
    const position = typeof entry?.value === 'number' ? entry.value : START
    startEpoch(subscription, { position, version: entry?.version ?? 0 })
  } else if (!isOwner && subscription.state === 'owner') endEpoch(subscription, 'contending')
}

/**
 * Commits the subscription's position as its checkpoint when that is due, or at once. A checkpoint that is not the
 * expected one ends the epoch. @throws StoreUnavailable
 */
export async function commitPosition<Tools>(
  { ops }: LeasePorts,
  subscription: Subscription<Tools>,
  now: number,
  atOnce = false,
): Promise<void> {
  advancePosition(subscription)
  const { epoch, position, version, reaction } = subscription
  if (position === subscription.committed || (!atOnce && now - subscription.committedAt < COMMIT_EVERY_MS)) return
  const moved = await ops.putIf(checkpointKey(reaction.name), version, position, null, now)
  if (subscription.epoch !== epoch) return
  if (!moved) {
    // An earlier commit of ours may have landed unacknowledged: start a new epoch from the stored checkpoint.
    endEpoch(subscription, 'contending')
    subscription.leaseDueAt = now
    return
  }
  subscription.committed = position
  subscription.version = version + 1
  subscription.committedAt = now
}

/** When the position is committed next (ms since the epoch); null when it is committed. */
export function commitDueAt<Tools>({ position, committed, committedAt }: Subscription<Tools>): number | null {
  return position === committed ? null : committedAt + COMMIT_EVERY_MS
}

/** Commits the position and releases the lease. @throws StoreUnavailable */
export async function releaseLease<Tools>(
  ports: LeasePorts,
  subscription: Subscription<Tools>,
  now: number,
): Promise<void> {
  await commitPosition(ports, subscription, now, true)
  await ports.ops.releaseLease(leaseKey(subscription.reaction.name), ports.owner)
}
