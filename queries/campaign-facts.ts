import { buyers } from '../projections/buyers.ts'
import type { campaigns } from '../projections/campaigns.ts'
import { lanes } from '../projections/lanes.ts'
import { numbers } from '../projections/numbers.ts'
import { routes } from '../projections/routes.ts'
import { routingKeys } from '../projections/routing-keys.ts'
import { targets } from '../projections/targets.ts'
import { wallets } from '../projections/wallets.ts'
import type { LaunchFacts } from '../src/domain/checklist.ts'
import { delivers } from '../src/domain/number.ts'
import { keyWorks } from '../src/domain/routing-key.ts'
import type { ReadStore } from '../src/ports/read-store.ts'
import { type DocOf, type Kept, readAll, readMany, readOne } from './documents.ts'

/** The facts that a campaign's launch is judged by, as the read models have them. */
export async function factsOf(
  views: ReadStore,
  { id: campaignId, workspaceId, status }: Pick<Kept<DocOf<typeof campaigns>>, 'id' | 'workspaceId' | 'status'>,
): Promise<LaunchFacts> {
  const filter = { workspaceId, campaignId }
  const [plan, assigned, open, keys, purse] = await Promise.all([
    readAll(views, routes, { filter }),
    readAll(views, numbers, { filter }),
    readAll(views, lanes, { filter }),
    readAll(views, routingKeys, { filter }),
    readOne(views, wallets, workspaceId, workspaceId),
  ])
  const planned = await readMany(
    views,
    targets,
    plan.map(({ targetId }) => targetId),
  )
  const owners = await readMany(
    views,
    buyers,
    [...planned.values()].map(({ buyerId }) => buyerId),
  )
  return {
    campaignId,
    status,
    activeBuyers: [...owners.values()].filter((buyer) => buyer.status === 'active').length,
    activeTargets: [...planned.values()].filter((target) => target.status === 'active').length,
    activeRoutes: plan.filter(({ active }) => active).length,
    readyNumbers: assigned.filter(delivers).length,
    keyedLanes: keys.filter(keyWorks).length,
    lanes: open.length,
    balanceCents: purse?.balanceCents ?? 0,
  }
}
