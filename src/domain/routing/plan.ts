import type { Bid } from '../bidding/bid.ts'
import type { Campaign } from '../campaigns/campaign.ts'
import type { Route } from '../campaigns/route.ts'
import type { WorkspaceState } from '../configuration/workspace.ts'
import { type Target, targetKindOf } from '../demand/target.ts'
import { bidOn } from './bids.ts'
import type { Planned } from './decision.ts'
import { createRandom, weightedOrder } from './random.ts'

type Ordering = (targets: readonly Planned[], random: () => number) => readonly Planned[]

const byPriority: Ordering = (targets, random) => weightedOrder(targets, random, ({ priority }) => priority)

/** By price, then priority, then the earlier route. */
const byPrice: Ordering = (targets) =>
  [...targets].sort((a, b) => b.revenueCents - a.revenueCents || a.priority - b.priority)

/** How each routing mode orders the plan (Supplement §6); a bidder's price is its bid. */
const ORDERINGS: Readonly<Record<Campaign['routingMode'], Ordering>> = {
  priority: byPriority,
  weighted: weightedOrder,
  highest_bid: byPrice,
}

/** A route with its target. */
interface RoutedTarget {
  readonly route: Route
  readonly target: Target
}

/** Plans by the map of their campaign's routes: routes change seldom, and every call reads them. */
const planCache = new WeakMap<
  object,
  { readonly targets: WorkspaceState['targets']; readonly plan: readonly Planned[] }
>()

/** The unordered plan of a campaign: its active routes to targets in use, oldest route first. Memoized. */
export function campaignPlan({ routes, targets }: WorkspaceState, { id }: Pick<Campaign, 'id'>): readonly Planned[] {
  const onCampaign = routes.get(id)
  if (!onCampaign) return []
  const cached = planCache.get(onCampaign)
  if (cached?.targets === targets) return cached.plan
  const places = [...onCampaign.values()].flatMap((route): readonly RoutedTarget[] => {
    const target = targets.get(route.targetId)
    const used = target && (target.status === 'active' || target.status === 'paused')
    return route.active && used ? [{ route, target }] : []
  })
  // The order of a persistent map depends on how it was built, and a weighted draw must not: ids grow, so sort by id.
  const plan = places.sort((a, b) => (a.route.id < b.route.id ? -1 : 1)).map(plannedTarget)
  planCache.set(onCampaign, { targets, plan })
  return plan
}

/** Price of a call: the route's override, else the target's own price; always 0 for a delivery target. */
function priceOf({ route: { revenueOverrideCents }, target }: RoutedTarget): number {
  return targetKindOf(target) === 'delivery' ? 0 : (revenueOverrideCents ?? target.revenueCents ?? 0)
}

function plannedTarget({ route, target }: RoutedTarget): Planned {
  return {
    targetId: target.id,
    targetName: target.name,
    priority: route.priority,
    weight: route.weight,
    revenueCents: priceOf({ route, target }),
    durationThresholdSeconds: target.durationThresholdSeconds,
  }
}

/**
 * The targets that a call may try, in order, with their present prices and thresholds: a bidder's by its bid. The same seed gives
 * the same order.
 */
export function orderedPlan(
  workspace: WorkspaceState,
  campaign: Pick<Campaign, 'id' | 'routingMode'>,
  seed: number,
  bids: readonly Bid[] = [],
): readonly Planned[] {
  const plan = campaignPlan(workspace, campaign)
  const priced = bids.length === 0 ? plan : plan.map((planned) => bidOn(planned, bids))
  return ORDERINGS[campaign.routingMode](priced, createRandom(seed))
}
