import { activity as activityLog } from '../../projections/activity.ts'
import { apiKeys } from '../../projections/api-keys.ts'
import { blockedCallers } from '../../projections/blocked-callers.ts'
import { bookedCalls } from '../../projections/booked-calls.ts'
import { buyers } from '../../projections/buyers.ts'
import { callColumns, callLog } from '../../projections/call-log.ts'
import { callRecordings } from '../../projections/call-recordings.ts'
import { callStory } from '../../projections/call-story.ts'
import { callerMemory } from '../../projections/caller-memory.ts'
import { campaigns } from '../../projections/campaigns.ts'
import { credentials } from '../../projections/credentials.ts'
import { lanes } from '../../projections/lanes.ts'
import { numberOrders } from '../../projections/number-orders.ts'
import { numbers } from '../../projections/numbers.ts'
import { pools } from '../../projections/pools.ts'
import { publishers } from '../../projections/publishers.ts'
import { revisions } from '../../projections/revisions.ts'
import { routes } from '../../projections/routes.ts'
import { routingKeys } from '../../projections/routing-keys.ts'
import { seats } from '../../projections/seats.ts'
import { sessions } from '../../projections/sessions.ts'
import { targets } from '../../projections/targets.ts'
import { timers } from '../../projections/timers.ts'
import { usage } from '../../projections/usage.ts'
import { users } from '../../projections/users.ts'
import { verticals } from '../../projections/verticals.ts'
import { walletEntries } from '../../projections/wallet-entries.ts'
import { wallets } from '../../projections/wallets.ts'
import { workspaces } from '../../projections/workspaces.ts'
import { getAdministeredWorkspace } from '../../queries/get-administered-workspace.ts'
import { getApiKey } from '../../queries/get-api-key.ts'
import { getBuyer } from '../../queries/get-buyer.ts'
import { getBuyerRow } from '../../queries/get-buyer-row.ts'
import { getCall } from '../../queries/get-call.ts'
import { getCampaign } from '../../queries/get-campaign.ts'
import { getLane } from '../../queries/get-lane.ts'
import { getNumber } from '../../queries/get-number.ts'
import { getNumberOrder } from '../../queries/get-number-order.ts'
import { getPool } from '../../queries/get-pool.ts'
import { getPublisher } from '../../queries/get-publisher.ts'
import { getRoute } from '../../queries/get-route.ts'
import { getRoutingKey } from '../../queries/get-routing-key.ts'
import { getSession } from '../../queries/get-session.ts'
import { getTarget } from '../../queries/get-target.ts'
import { getUser } from '../../queries/get-user.ts'
import { getVertical } from '../../queries/get-vertical.ts'
import { getWallet } from '../../queries/get-wallet.ts'
import { getWalletEntry } from '../../queries/get-wallet-entry.ts'
import { getWorkspace } from '../../queries/get-workspace.ts'
import { listActivity } from '../../queries/list-activity.ts'
import { listApiKeyRequests } from '../../queries/list-api-key-requests.ts'
import { listApiKeys } from '../../queries/list-api-keys.ts'
import { listBlockedCallers } from '../../queries/list-blocked-callers.ts'
import { listBuyers } from '../../queries/list-buyers.ts'
import { listCalls } from '../../queries/list-calls.ts'
import { listCampaigns } from '../../queries/list-campaigns.ts'
import { listLanes } from '../../queries/list-lanes.ts'
import { listNumberOrders } from '../../queries/list-number-orders.ts'
import { listNumbers } from '../../queries/list-numbers.ts'
import { listPools } from '../../queries/list-pools.ts'
import { listPublishers } from '../../queries/list-publishers.ts'
import { listRoutes } from '../../queries/list-routes.ts'
import { listTargets } from '../../queries/list-targets.ts'
import { listUsers } from '../../queries/list-users.ts'
import { listVerticals } from '../../queries/list-verticals.ts'
import { listWorkspaces } from '../../queries/list-workspaces.ts'
import { liveCalls } from '../../queries/live-calls.ts'
import { verifyActivity } from '../../queries/verify-activity.ts'
import { activity } from '../domain/activity.ts'
import { blocklist } from '../domain/blocklist.ts'
import { call } from '../domain/call.ts'
import { ledger } from '../domain/ledger.ts'
import { platform } from '../domain/platform.ts'
import { user } from '../domain/user.ts'
import { wallet } from '../domain/wallet.ts'
import { workspace } from '../domain/workspace.ts'
import type { AnyEntity } from '../kernel/entity.ts'
import type { AnyProjection } from '../kernel/projection.ts'
import type { AnyQuery } from '../kernel/query.ts'
import type { QueryPorts } from '../ports/query-ports.ts'
import type { ColumnSpec } from '../runtime/column-store.ts'
import { upcastsOf } from '../runtime/upcasts.ts'

/** Every kind of stream. */
export const entities: readonly AnyEntity[] = [workspace, blocklist, ledger, call, wallet, user, platform, activity]

/** Every read model. */
export const projections: readonly AnyProjection[] = [
  activityLog,
  apiKeys,
  blockedCallers,
  bookedCalls,
  buyers,
  callLog,
  callRecordings,
  callStory,
  callerMemory,
  campaigns,
  credentials,
  lanes,
  numberOrders,
  numbers,
  pools,
  publishers,
  revisions,
  routes,
  routingKeys,
  seats,
  sessions,
  targets,
  timers,
  usage,
  users,
  verticals,
  walletEntries,
  wallets,
  workspaces,
]

/** Read models that are kept as columns too. */
export const columns: readonly ColumnSpec[] = [callColumns]

/** Names of the read models whose documents are followed by position. */
export const followed: readonly string[] = [callLog.name]

/** Every question. */
export const queries: readonly AnyQuery<QueryPorts>[] = [
  getApiKey,
  getBuyer,
  getBuyerRow,
  getCall,
  getCampaign,
  getLane,
  getNumber,
  getNumberOrder,
  getPool,
  getPublisher,
  getRoutingKey,
  getRoute,
  getSession,
  getTarget,
  getWallet,
  getWalletEntry,
  getUser,
  getWorkspace,
  getVertical,
  listApiKeyRequests,
  listApiKeys,
  listBlockedCallers,
  listActivity,
  listBuyers,
  listCalls,
  listCampaigns,
  listLanes,
  listNumberOrders,
  listNumbers,
  listPublishers,
  listPools,
  listRoutes,
  listTargets,
  listUsers,
  getAdministeredWorkspace,
  listWorkspaces,
  listVerticals,
  liveCalls,
  verifyActivity,
]

/** How older events are lifted, by type. */
export const upcasts = upcastsOf(entities)
