import { type CampaignModel, type Model, need, routeName } from './state.ts'
import type { PlannedModel } from './terms-state.ts'

/**
 * The targets of a campaign's plan with their present price. A delivery target has the price 0, whatever its route
 * says.
 */
export function planOf(model: Model, campaign: CampaignModel): readonly PlannedModel[] {
  return [...model.routes.values()]
    .filter((route) => route.campaign === campaign.name && route.active)
    .map(({ target, revenueOverrideCents }) => {
      const { revenueCents, durationThresholdSeconds } = need(model.targets, target)
      return {
        target,
        revenueCents: revenueCents === 0 ? 0 : (revenueOverrideCents ?? revenueCents),
        thresholdSeconds: durationThresholdSeconds,
      }
    })
}

function permutations<Value>(values: readonly Value[]): readonly (readonly Value[])[] {
  if (values.length === 0) return [[]]
  return values.flatMap((value, place) => permutations(values.toSpliced(place, 1)).map((rest) => [value, ...rest]))
}

/** Every order that chance may give the plan of a campaign, with present prices. */
export function legalOrders(model: Model, campaign: CampaignModel): readonly (readonly PlannedModel[])[] {
  const orders = permutations(planOf(model, campaign))
  return orders.filter(
    (order) =>
      orderProblem(
        model,
        campaign,
        null,
        order.map(({ target }) => target),
      ) === null,
  )
}

/** What is wrong with the order of a plan; null when nothing is. */
export function orderProblem(
  model: Model,
  campaign: CampaignModel,
  first: string | null,
  order: readonly string[],
): string | null {
  const planned = planOf(model, campaign)
  const names = planned.map(({ target }) => target)
  if (order.toSorted().join() !== names.toSorted().join()) return `The plan is of ${names}, not of ${order}.`
  if (first !== null && names.includes(first) && order[0] !== first) return `${first} is not tried first.`
  const rest = order.filter((name) => name !== first)
  const rankOf = (name: string): readonly number[] => {
    const { priority, weight, made } = need(model.routes, routeName(campaign.name, name))
    const price = planned.find(({ target }) => target === name)?.revenueCents ?? 0
    const last = weight === 0 ? 1 : 0
    return { priority: [priority, last], weighted: [last], highest_bid: [-price, priority, made] }[campaign.routingMode]
  }
  for (const [place, name] of rest.entries()) {
    const next = rest[place + 1]
    if (next === undefined) break
    const [rank, after] = [rankOf(name), rankOf(next)]
    const differs = rank.findIndex((value, at) => value !== after[at])
    if (differs >= 0 && (rank[differs] ?? 0) > (after[differs] ?? 0)) return `${next} should come before ${name}.`
  }
  return null
}
