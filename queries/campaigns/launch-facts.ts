import type { campaigns } from '../../projections/campaigns/campaigns.ts'
import { routes } from '../../projections/campaigns/routes.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { wallets } from '../../projections/money/wallets.ts'
import { lanes } from '../../projections/supply/lanes.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { routingKeys } from '../../projections/supply/routing-keys.ts'
import type { LaunchFacts } from '../../src/domain/configuration/checklist.ts'
import { isDelivering } from '../../src/domain/supply/number.ts'
import { isLiveKey } from '../../src/domain/supply/routing-key.ts'
import type { WithId } from '../../src/kernel/document.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { type DocOf, readAll, readOne, readReferenced } from '../shared/documents.ts'

/** The launch facts of a campaign, from the read models. */
export async function readLaunchFacts(
  views: ReadStore,
  { id: campaignId, workspaceId, status }: Pick<WithId<DocOf<typeof campaigns>>, 'id' | 'workspaceId' | 'status'>,
): Promise<LaunchFacts> {
  const filter = { workspaceId, campaignId }
  const [plan, assigned, open, keys, wallet] = await Promise.all([
    readAll(views, routes, { filter }),
    readAll(views, numbers, { filter }),
    readAll(views, lanes, { filter, sort: { assignedAt: 1 } }),
    readAll(views, routingKeys, { filter }),
    readOne(views, wallets, workspaceId, workspaceId),
  ])
  const [planned, senders] = await Promise.all([
    readReferenced(views, targets, plan, ({ targetId }) => targetId),
    readReferenced(views, publishers, open, ({ publisherId }) => publisherId),
  ])
  const owners = await readReferenced(views, buyers, planned.values(), ({ buyerId }) => buyerId)
  return {
    campaignId,
    status,
    activeBuyers: [...owners.values()].filter((buyer) => buyer.status === 'active').length,
    activeTargets: [...planned.values()].filter((target) => target.status === 'active').length,
    activeRoutes: plan.filter(({ active }) => active).length,
    readyNumbers: assigned.filter(isDelivering).length,
    keyedLanes: keys.filter(isLiveKey).length,
    lanes: open.length,
    idlePublishers: open
      .flatMap(({ publisherId }) => senders.get(publisherId) ?? [])
      .filter((publisher) => publisher.status !== 'live'),
    balanceCents: wallet?.balanceCents ?? 0,
  }
}
