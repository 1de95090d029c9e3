import type { ApiRoute } from '../ports/api.ts'

/**
 * Makes writes fail with StoreUnavailable while the read store is unavailable: nothing is written that could not be read
 * back. `check` throws StoreUnavailable then.
 */
export function requireReadStore(routes: readonly ApiRoute[], check: () => Promise<unknown>): readonly ApiRoute[] {
  return routes.map((route) =>
    route.write
      ? {
          ...route,
          async run(request) {
            await check()
            return route.run(request)
          },
        }
      : route,
  )
}
