import { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { id, instant, wholeNumber } from '../../kernel/wire.ts'
import type { Targets, targetEvents } from '../demand/target.ts'
import { price } from '../money/money.ts'
import { ROUTE } from '../shared/limits.ts'
import type { SliceOf } from '../shared/slice.ts'

/** The settings of a route: a target on a campaign's routing plan. */
export const routeSettings = z.object({
  priority: wholeNumber(ROUTE.priority),
  weight: wholeNumber(ROUTE.weight),
  active: z.boolean(),
  revenueOverrideCents: price.nullable(),
})
export type RouteSettings = Readonly<z.infer<typeof routeSettings>>

export const route = routeSettings.extend({ id, campaignId: id, targetId: id, createdAt: instant })
export type Route = Readonly<z.infer<typeof route>>

/** The settings of a new route (Supplement §5). */
export const DEFAULT_ROUTE = {
  priority: ROUTE.priority.default,
  weight: ROUTE.weight.default,
  active: true,
  revenueOverrideCents: null,
} as const

/** These names are the storage format. */
export const routeEvents = {
  RouteSet: z.object({
    route,
    /** The settings before; null for a new route. */
    before: routeSettings.nullable(),
    campaignName: z.string(),
    targetName: z.string(),
  }),
  RouteRemoved: z.object({
    routeId: id,
    campaignId: id,
    targetId: id,
    campaignName: z.string(),
    targetName: z.string(),
  }),
}

/** Routing plans: campaign id → target id → route. */
export interface Routes extends Targets {
  readonly routes: PersistentMap<string, PersistentMap<string, Route>>
}

const withoutRoute = (routes: Routes['routes'], campaignId: string, targetId: string): Routes['routes'] =>
  routes.update(campaignId, PersistentMap(), (plan) => plan.delete(targetId))

export const evolveRoutes: SliceOf<Routes, typeof routeEvents & Pick<typeof targetEvents, 'TargetStatusChanged'>> = {
  RouteSet: (state, { data: { route } }) => ({
    ...state,
    routes: state.routes.update(route.campaignId, PersistentMap(), (plan) => plan.set(route.targetId, route)),
  }),
  RouteRemoved: (state, { data }) => ({ ...state, routes: withoutRoute(state.routes, data.campaignId, data.targetId) }),
  TargetStatusChanged: (state, { data, meta }) => ({
    ...state,
    targets: state.targets.update(data.targetId, (old) => old && { ...old, status: data.to, updatedAt: meta.at }),
    routes: data.removedFrom.reduce((left, campaignId) => withoutRoute(left, campaignId, data.targetId), state.routes),
  }),
}

/** Key of a route, among the records of a workspace. */
export function routeKey(campaignId: string, targetId: string): string {
  return `${campaignId}:${targetId}`
}
