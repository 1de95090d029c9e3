import type { Planned } from '../call-facts.ts'
import type { Campaign } from '../campaign.ts'
import type { WorkspaceState } from '../workspace.ts'
import { randomFrom, weightedOrder } from './random.ts'

type Ordering = (targets: readonly Planned[], random: () => number) => readonly Planned[]

const byPriority: Ordering = (targets, random) => {
  const drawn = weightedOrder(targets, random)
  return [...drawn].sort((a, b) => a.priority - b.priority)
}

/** By price, then priority, then the earlier route. */
const byPrice: Ordering = (targets) =>
  [...targets].sort((a, b) => b.revenueCents - a.revenueCents || a.priority - b.priority)

/** How each routing mode orders the plan (Supplement §6). Until bids are asked for, `highest_bid` goes by the static price. */
const ORDERINGS: Readonly<Record<Campaign['routingMode'], Ordering>> = {
  priority: byPriority,
  weighted: weightedOrder,
  highest_bid: byPrice,
}

/**
 * The targets that a call may try, in order: active routes to targets that are in use. Prices and thresholds are those
 * of now, for a call that arrives now. The same seed gives the same order.
 */
export function planFor(workspace: WorkspaceState, campaign: Campaign, seed: number): readonly Planned[] {
  // A map's own order tells how it was built; the draw must not: ids grow, so this is from the earliest route on.
  const routes = [...(workspace.routes.get(campaign.id)?.values() ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1))
  const targets: Planned[] = []
  for (const { targetId, priority, weight, active, revenueOverrideCents } of routes) {
    const target = workspace.targets.get(targetId)
    if (!active || !target || (target.status !== 'active' && target.status !== 'paused')) continue
    const price = target.revenueCents ?? 0
    targets.push({
      targetId,
      targetName: target.name,
      priority,
      weight,
      revenueCents: target.type !== 'rtb' && price === 0 ? 0 : (revenueOverrideCents ?? price),
      durationThresholdSeconds: target.durationThresholdSeconds,
    })
  }
  return ORDERINGS[campaign.routingMode](targets, randomFrom(seed))
}
