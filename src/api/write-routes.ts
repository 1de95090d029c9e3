import type { ApiRoute } from '../ports/api.ts'
import { activityExports } from './writes/activity.ts'
import { apiKeyWrites } from './writes/api-keys.ts'
import { authWrites } from './writes/auth.ts'
import { blockedCallerWrites } from './writes/blocked-callers.ts'
import { buyerWrites } from './writes/buyers.ts'
import { callWrites } from './writes/calls.ts'
import { exportCalls } from './writes/calls-export.ts'
import { campaignRestrictions } from './writes/campaign-restrictions.ts'
import { campaignWrites } from './writes/campaigns.ts'
import { invitationWrites } from './writes/invitations.ts'
import { laneWrites } from './writes/lanes.ts'
import { numberOrderWrites } from './writes/number-orders.ts'
import { searchNumbers } from './writes/number-search.ts'
import { numberWrites } from './writes/numbers.ts'
import { operatorWorkspaceWrites } from './writes/operator-workspaces.ts'
import { parkedStreamWrites } from './writes/parked-streams.ts'
import { passwordResetWrites } from './writes/password-resets.ts'
import { exportPings } from './writes/pings-export.ts'
import { pingWrites } from './writes/pings-void.ts'
import { platformKeyWrites } from './writes/platform-keys.ts'
import { poolWrites } from './writes/pools.ts'
import { rotatePortalKey } from './writes/portal-keys.ts'
import { projectionRebuilds } from './writes/projection-rebuilds.ts'
import { publisherKeyWrites } from './writes/publisher-keys.ts'
import { publisherUserWrites } from './writes/publisher-users.ts'
import { publisherWrites } from './writes/publishers.ts'
import { exportReport } from './writes/reports-export.ts'
import { routeWrites } from './writes/routes.ts'
import { targetWrites } from './writes/targets.ts'
import { userWrites } from './writes/users.ts'
import { verticalWrites } from './writes/verticals.ts'
import { walletWrites } from './writes/wallet.ts'
import { deliveryWrites } from './writes/webhook-deliveries.ts'
import { testWebhook } from './writes/webhook-tests.ts'
import { webhookWrites } from './writes/webhooks.ts'
import { workspaceWrites } from './writes/workspace.ts'
import type { Write } from './writes/write-route.ts'
import type { WriteTools } from './writes/write-tools.ts'

/** Every write that has a route. */
const writes: readonly Write[] = [
  ...activityExports,
  ...apiKeyWrites,
  ...authWrites,
  ...passwordResetWrites,
  ...userWrites,
  ...invitationWrites,
  ...workspaceWrites,
  ...operatorWorkspaceWrites,
  ...platformKeyWrites,
  ...projectionRebuilds,
  ...parkedStreamWrites,
  ...blockedCallerWrites,
  ...buyerWrites,
  exportCalls,
  ...callWrites,
  exportPings,
  exportReport,
  ...pingWrites,
  ...campaignWrites,
  ...laneWrites,
  searchNumbers,
  ...numberWrites,
  ...numberOrderWrites,
  ...poolWrites,
  ...webhookWrites,
  testWebhook,
  ...deliveryWrites,
  ...publisherKeyWrites,
  ...publisherWrites,
  ...publisherUserWrites,
  rotatePortalKey,
  ...campaignRestrictions,
  ...routeWrites,
  ...targetWrites,
  ...verticalWrites,
  ...walletWrites,
]

/** The routes of all writes. */
export function writeRoutes(tools: WriteTools): readonly ApiRoute[] {
  return writes.flatMap((write) => write(tools))
}
