import { buyers } from '../../projections/buyers.ts'
import { callColumns, callLog } from '../../projections/call-log.ts'
import { callStory } from '../../projections/call-story.ts'
import { callerMemory } from '../../projections/caller-memory.ts'
import { campaigns } from '../../projections/campaigns.ts'
import { credentials } from '../../projections/credentials.ts'
import { lanes } from '../../projections/lanes.ts'
import { numbers } from '../../projections/numbers.ts'
import { publishers } from '../../projections/publishers.ts'
import { revisions } from '../../projections/revisions.ts'
import { routes } from '../../projections/routes.ts'
import { sessions } from '../../projections/sessions.ts'
import { targets } from '../../projections/targets.ts'
import { timers } from '../../projections/timers.ts'
import { usage } from '../../projections/usage.ts'
import { users } from '../../projections/users.ts'
import { walletEntries } from '../../projections/wallet-entries.ts'
import { wallets } from '../../projections/wallets.ts'
import { workspaces } from '../../projections/workspaces.ts'
import { getBuyer } from '../../queries/get-buyer.ts'
import { getCall } from '../../queries/get-call.ts'
import { getCampaign } from '../../queries/get-campaign.ts'
import { getPublisher } from '../../queries/get-publisher.ts'
import { getTarget } from '../../queries/get-target.ts'
import { listBuyers } from '../../queries/list-buyers.ts'
import { listCalls } from '../../queries/list-calls.ts'
import { listCampaigns } from '../../queries/list-campaigns.ts'
import { listNumbers } from '../../queries/list-numbers.ts'
import { listPublishers } from '../../queries/list-publishers.ts'
import { listTargets } from '../../queries/list-targets.ts'
import { liveCalls } from '../../queries/live-calls.ts'
import { blocklist } from '../domain/blocklist.ts'
import { call } from '../domain/call.ts'
import { ledger } from '../domain/ledger.ts'
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
export const entities: readonly AnyEntity[] = [workspace, blocklist, ledger, call, wallet, user]

/** Every read model. */
export const projections: readonly AnyProjection[] = [
  buyers,
  callLog,
  callStory,
  callerMemory,
  campaigns,
  credentials,
  lanes,
  numbers,
  publishers,
  revisions,
  routes,
  sessions,
  targets,
  timers,
  usage,
  users,
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
  getBuyer,
  getCall,
  getCampaign,
  getPublisher,
  getTarget,
  listBuyers,
  listCalls,
  listCampaigns,
  listNumbers,
  listPublishers,
  listTargets,
  liveCalls,
]

/** How older events are lifted, by type. */
export const upcasts = upcastsOf(entities)
