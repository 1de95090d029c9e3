import { apiKeys } from '../../projections/access/api-keys.ts'
import { credentials } from '../../projections/access/credentials.ts'
import { publisherUsers } from '../../projections/access/publisher-users.ts'
import { seats } from '../../projections/access/seats.ts'
import { sessions } from '../../projections/access/sessions.ts'
import { users } from '../../projections/access/users.ts'
import { workspaces } from '../../projections/access/workspaces.ts'
import { activity as activityLog } from '../../projections/activity/activity.ts'
import { auctionJobs } from '../../projections/auctions/auction-jobs.ts'
import { bidColumns, bidLedger } from '../../projections/auctions/bid-ledger.ts'
import { pingColumns, pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { pingStory } from '../../projections/auctions/ping-story.ts'
import { callJobs } from '../../projections/calls/call-jobs.ts'
import { callColumns, callLog } from '../../projections/calls/call-log.ts'
import { callRecordings } from '../../projections/calls/call-recordings.ts'
import { callStory } from '../../projections/calls/call-story.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { routes } from '../../projections/campaigns/routes.ts'
import { verticals } from '../../projections/campaigns/verticals.ts'
import { revisions } from '../../projections/configuration/revisions.ts'
import { deliveries } from '../../projections/delivery/deliveries.ts'
import { webhookCounters } from '../../projections/delivery/webhook-counters.ts'
import { webhookJobs } from '../../projections/delivery/webhook-jobs.ts'
import { webhookStats } from '../../projections/delivery/webhook-stats.ts'
import { webhooks } from '../../projections/delivery/webhooks.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { leaseJobs } from '../../projections/insertion/lease-jobs.ts'
import { leases } from '../../projections/insertion/leases.ts'
import { walletEntries } from '../../projections/money/wallet-entries.ts'
import { wallets } from '../../projections/money/wallets.ts'
import { bookColumns, bookRows } from '../../projections/reporting/book-rows.ts'
import { poolNames } from '../../projections/reporting/pool-names.ts'
import { blockedCallers } from '../../projections/routing/blocked-callers.ts'
import { bookedCalls } from '../../projections/routing/booked-calls.ts'
import { callerMemory } from '../../projections/routing/caller-memory.ts'
import { capCounters } from '../../projections/routing/cap-counters.ts'
import { timersOf } from '../../projections/shared/timers.ts'
import { lanes } from '../../projections/supply/lanes.ts'
import { numberJobs } from '../../projections/supply/number-jobs.ts'
import { numberOrders } from '../../projections/supply/number-orders.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { poolKeys } from '../../projections/supply/pool-keys.ts'
import { pools } from '../../projections/supply/pools.ts'
import { publisherCredentials } from '../../projections/supply/publisher-credentials.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { routingKeys } from '../../projections/supply/routing-keys.ts'
import { getAdministeredWorkspace } from '../../queries/access/get-administered-workspace.ts'
import { getApiKey } from '../../queries/access/get-api-key.ts'
import { getInvitation } from '../../queries/access/get-invitation.ts'
import { getPortalSession } from '../../queries/access/get-portal-session.ts'
import { getPublisherInvitation } from '../../queries/access/get-publisher-invitation.ts'
import { getSession } from '../../queries/access/get-session.ts'
import { getUser } from '../../queries/access/get-user.ts'
import { getWorkspace } from '../../queries/access/get-workspace.ts'
import { listApiKeyRequests } from '../../queries/access/list-api-key-requests.ts'
import { listApiKeys } from '../../queries/access/list-api-keys.ts'
import { listPublisherUsers } from '../../queries/access/list-publisher-users.ts'
import { listUsers } from '../../queries/access/list-users.ts'
import { listWorkspaces } from '../../queries/access/list-workspaces.ts'
import { listActivity } from '../../queries/activity/list-activity.ts'
import { verifyActivity } from '../../queries/activity/verify-activity.ts'
import { getBid } from '../../queries/auctions/get-bid.ts'
import { getPing } from '../../queries/auctions/get-ping.ts'
import { listPings } from '../../queries/auctions/list-pings.ts'
import { listPortalPings } from '../../queries/auctions/list-portal-pings.ts'
import { pingSummary } from '../../queries/auctions/ping-summary.ts'
import { getCall } from '../../queries/calls/get-call.ts'
import { getPortalCall } from '../../queries/calls/get-portal-call.ts'
import { listCalls } from '../../queries/calls/list-calls.ts'
import { listPortalCalls } from '../../queries/calls/list-portal-calls.ts'
import { listPortalPayouts } from '../../queries/calls/list-portal-payouts.ts'
import { liveCalls } from '../../queries/calls/live-calls.ts'
import { getCampaign } from '../../queries/campaigns/get-campaign.ts'
import { getRoute } from '../../queries/campaigns/get-route.ts'
import { getVertical } from '../../queries/campaigns/get-vertical.ts'
import { listCampaigns } from '../../queries/campaigns/list-campaigns.ts'
import { listRoutes } from '../../queries/campaigns/list-routes.ts'
import { listVerticals } from '../../queries/campaigns/list-verticals.ts'
import { getDelivery } from '../../queries/delivery/get-delivery.ts'
import { getWebhook } from '../../queries/delivery/get-webhook.ts'
import { listDeliveries } from '../../queries/delivery/list-deliveries.ts'
import { listWebhooks } from '../../queries/delivery/list-webhooks.ts'
import { webhookVocabulary } from '../../queries/delivery/webhook-vocabulary.ts'
import { getBuyer } from '../../queries/demand/get-buyer.ts'
import { getBuyerRow } from '../../queries/demand/get-buyer-row.ts'
import { getTarget } from '../../queries/demand/get-target.ts'
import { listBuyers } from '../../queries/demand/list-buyers.ts'
import { listTargets } from '../../queries/demand/list-targets.ts'
import { listLeases } from '../../queries/insertion/list-leases.ts'
import { getWallet } from '../../queries/money/get-wallet.ts'
import { getWalletEntry } from '../../queries/money/get-wallet-entry.ts'
import { callsReport } from '../../queries/reporting/calls-report.ts'
import { getOverview } from '../../queries/reporting/get-overview.ts'
import { lostCalls } from '../../queries/reporting/lost-calls.ts'
import { listBlockedCallers } from '../../queries/routing/list-blocked-callers.ts'
import { getLane } from '../../queries/supply/get-lane.ts'
import { getNumber } from '../../queries/supply/get-number.ts'
import { getNumberOrder } from '../../queries/supply/get-number-order.ts'
import { getPool } from '../../queries/supply/get-pool.ts'
import { getPortalKey } from '../../queries/supply/get-portal-key.ts'
import { getPublisher } from '../../queries/supply/get-publisher.ts'
import { getRoutingKey } from '../../queries/supply/get-routing-key.ts'
import { listAdministeredNumberOrders } from '../../queries/supply/list-administered-number-orders.ts'
import { listAdministeredNumbers } from '../../queries/supply/list-administered-numbers.ts'
import { listLanes } from '../../queries/supply/list-lanes.ts'
import { listNumberOrders } from '../../queries/supply/list-number-orders.ts'
import { listNumbers } from '../../queries/supply/list-numbers.ts'
import { listPools } from '../../queries/supply/list-pools.ts'
import { listPortalLanes } from '../../queries/supply/list-portal-lanes.ts'
import { listPortalNumbers } from '../../queries/supply/list-portal-numbers.ts'
import { listPublishers } from '../../queries/supply/list-publishers.ts'
import { platform } from '../domain/access/platform.ts'
import { user } from '../domain/access/user.ts'
import { activity } from '../domain/activity/activity.ts'
import { auction } from '../domain/auctions/auction.ts'
import { call } from '../domain/calls/call.ts'
import { workspace } from '../domain/configuration/workspace.ts'
import { delivery } from '../domain/delivery/delivery.ts'
import { poolLeases } from '../domain/insertion/lease.ts'
import { wallet } from '../domain/money/wallet.ts'
import { blocklist } from '../domain/routing/blocklist.ts'
import { ledger } from '../domain/routing/ledger.ts'
import type { AnyEntity } from '../kernel/entity.ts'
import type { AnyProjection } from '../kernel/projection.ts'
import type { AnyQuery } from '../kernel/query.ts'
import type { QueryPorts } from '../ports/query-ports.ts'
import type { ColumnSpec } from '../runtime/columns/column-spec.ts'
import { upcastsOf } from '../runtime/upcasts.ts'

/** Every kind of stream. */
export const entities: readonly AnyEntity[] = [
  workspace,
  blocklist,
  ledger,
  auction,
  call,
  wallet,
  user,
  platform,
  activity,
  delivery,
  poolLeases,
]

/** Work that falls due, over the jobs of every context. */
export const timers = timersOf([callJobs, auctionJobs, numberJobs, webhookJobs, leaseJobs])

/** Every read model. */
export const projections: readonly AnyProjection[] = [
  activityLog,
  apiKeys,
  bidLedger,
  blockedCallers,
  bookedCalls,
  bookRows,
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
  pingLedger,
  pingStory,
  leases,
  poolKeys,
  poolNames,
  pools,
  publishers,
  revisions,
  routes,
  publisherCredentials,
  publisherUsers,
  routingKeys,
  seats,
  sessions,
  targets,
  timers,
  capCounters,
  users,
  verticals,
  walletEntries,
  wallets,
  deliveries,
  webhookCounters,
  webhookStats,
  webhooks,
  workspaces,
]

/** Read models that are kept as columns too. */
export const columns: readonly ColumnSpec[] = [callColumns, pingColumns, bidColumns, bookColumns]

/** Names of the read models whose documents are followed by position. */
export const followed: readonly string[] = [callLog.name, pingLedger.name, bidLedger.name, bookRows.name]

/** Every question. */
export const queries: readonly AnyQuery<QueryPorts>[] = [
  callsReport,
  getApiKey,
  getBid,
  getBuyer,
  getBuyerRow,
  getCall,
  getCampaign,
  getLane,
  getNumber,
  getNumberOrder,
  getOverview,
  getPing,
  getPool,
  getPortalCall,
  getPortalKey,
  getPublisher,
  getRoutingKey,
  getRoute,
  getPortalSession,
  getPublisherInvitation,
  getSession,
  getTarget,
  getDelivery,
  getWebhook,
  webhookVocabulary,
  getWallet,
  getWalletEntry,
  getInvitation,
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
  listLeases,
  listNumberOrders,
  listNumbers,
  listPings,
  listPortalCalls,
  listPortalLanes,
  listPortalNumbers,
  listPortalPayouts,
  listPortalPings,
  listPublishers,
  listPools,
  listRoutes,
  listTargets,
  listPublisherUsers,
  listUsers,
  getAdministeredWorkspace,
  listAdministeredNumberOrders,
  listAdministeredNumbers,
  listDeliveries,
  listWebhooks,
  listWorkspaces,
  listVerticals,
  liveCalls,
  lostCalls,
  pingSummary,
  verifyActivity,
]

/** How older events are lifted, by type. */
export const upcasts = upcastsOf(entities)
