import { acceptInvitation } from '../../commands/access/accept-invitation.ts'
import { acceptPublisherInvitation } from '../../commands/access/accept-publisher-invitation.ts'
import { changeApiKey } from '../../commands/access/change-api-key.ts'
import { changePassword } from '../../commands/access/change-password.ts'
import { changePlan } from '../../commands/access/change-plan.ts'
import { changeSeatRole } from '../../commands/access/change-seat-role.ts'
import { changeSubscription } from '../../commands/access/change-subscription.ts'
import { changeWorkspace } from '../../commands/access/change-workspace.ts'
import { createApiKey } from '../../commands/access/create-api-key.ts'
import { createPlatformKey } from '../../commands/access/create-platform-key.ts'
import { createWorkspace } from '../../commands/access/create-workspace.ts'
import { extendSession } from '../../commands/access/extend-session.ts'
import { grantSeat } from '../../commands/access/grant-seat.ts'
import { invitePerson } from '../../commands/access/invite-person.ts'
import { invitePublisherUser } from '../../commands/access/invite-publisher-user.ts'
import { openWorkspace } from '../../commands/access/open-workspace.ts'
import { registerUser } from '../../commands/access/register-user.ts'
import { removePublisherUser } from '../../commands/access/remove-publisher-user.ts'
import { removeSeat } from '../../commands/access/remove-seat.ts'
import { requestPasswordReset } from '../../commands/access/request-password-reset.ts'
import { resetPassword } from '../../commands/access/reset-password.ts'
import { revokeApiKey } from '../../commands/access/revoke-api-key.ts'
import { revokeInvitation } from '../../commands/access/revoke-invitation.ts'
import { revokePublisherInvitation } from '../../commands/access/revoke-publisher-invitation.ts'
import { rotateApiKey } from '../../commands/access/rotate-api-key.ts'
import { signIn } from '../../commands/access/sign-in.ts'
import { signOut } from '../../commands/access/sign-out.ts'
import { retryParkedStream } from '../../commands/activity/retry-parked-stream.ts'
import { skipParkedEvent } from '../../commands/activity/skip-parked-event.ts'
import { startExport } from '../../commands/activity/start-export.ts'
import { claimOffer } from '../../commands/auctions/claim-offer.ts'
import { countBids } from '../../commands/auctions/count-bids.ts'
import { expireOffer } from '../../commands/auctions/expire-offer.ts'
import { holdAuction } from '../../commands/auctions/hold-auction.ts'
import { recordConfirmation } from '../../commands/auctions/record-confirmation.ts'
import { recordPost } from '../../commands/auctions/record-post.ts'
import { refusePing } from '../../commands/auctions/refuse-ping.ts'
import { refusePost } from '../../commands/auctions/refuse-post.ts'
import { releaseReservation } from '../../commands/auctions/release-reservation.ts'
import { reserveOffer } from '../../commands/auctions/reserve-offer.ts'
import { voidBid } from '../../commands/auctions/void-bid.ts'
import { adjustCall } from '../../commands/calls/adjust-call.ts'
import { endCall } from '../../commands/calls/end-call.ts'
import { postConversion } from '../../commands/calls/post-conversion.ts'
import { recordAnswer } from '../../commands/calls/record-answer.ts'
import { recordArrival } from '../../commands/calls/record-arrival.ts'
import { recordDial } from '../../commands/calls/record-dial.ts'
import { recordFailure } from '../../commands/calls/record-failure.ts'
import { recordPlanSpent } from '../../commands/calls/record-plan-spent.ts'
import { recordUsage } from '../../commands/calls/record-usage.ts'
import { saveRecording } from '../../commands/calls/save-recording.ts'
import { settleCall } from '../../commands/calls/settle-call.ts'
import { tagCall } from '../../commands/calls/tag-call.ts'
import { changeCampaign } from '../../commands/campaigns/change-campaign.ts'
import { changeVertical } from '../../commands/campaigns/change-vertical.ts'
import { createCampaign } from '../../commands/campaigns/create-campaign.ts'
import { createVertical } from '../../commands/campaigns/create-vertical.ts'
import { removeRoute } from '../../commands/campaigns/remove-route.ts'
import { restrictCampaign } from '../../commands/campaigns/restrict-campaign.ts'
import { setCampaignStatus } from '../../commands/campaigns/set-campaign-status.ts'
import { setRoute } from '../../commands/campaigns/set-route.ts'
import { unrestrictCampaign } from '../../commands/campaigns/unrestrict-campaign.ts'
import { changeWebhook } from '../../commands/delivery/change-webhook.ts'
import { createWebhook } from '../../commands/delivery/create-webhook.ts'
import { deleteWebhook } from '../../commands/delivery/delete-webhook.ts'
import { finishWebhookRemoval } from '../../commands/delivery/finish-webhook-removal.ts'
import { queueDelivery } from '../../commands/delivery/queue-delivery.ts'
import { queueTestDelivery } from '../../commands/delivery/queue-test-delivery.ts'
import { recordAttempt } from '../../commands/delivery/record-attempt.ts'
import { removeDelivery } from '../../commands/delivery/remove-delivery.ts'
import { replayDelivery } from '../../commands/delivery/replay-delivery.ts'
import { reportWebhookHealth } from '../../commands/delivery/report-webhook-health.ts'
import { rotateWebhookSecret } from '../../commands/delivery/rotate-webhook-secret.ts'
import { stopDelivery } from '../../commands/delivery/stop-delivery.ts'
import { changeBuyer } from '../../commands/demand/change-buyer.ts'
import { changeTarget } from '../../commands/demand/change-target.ts'
import { createBuyer } from '../../commands/demand/create-buyer.ts'
import { createTarget } from '../../commands/demand/create-target.ts'
import { recordTargetTest } from '../../commands/demand/record-target-test.ts'
import { setBuyerStatus } from '../../commands/demand/set-buyer-status.ts'
import { setTargetStatus } from '../../commands/demand/set-target-status.ts'
import { endLeases } from '../../commands/insertion/end-leases.ts'
import { recordLease } from '../../commands/insertion/record-lease.ts'
import { chargeUsage } from '../../commands/money/charge-usage.ts'
import { creditSandboxWallet } from '../../commands/money/credit-sandbox-wallet.ts'
import { creditWallet } from '../../commands/money/credit-wallet.ts'
import { blockCaller } from '../../commands/routing/block-caller.ts'
import { countAnswer } from '../../commands/routing/count-answer.ts'
import { countSettlement } from '../../commands/routing/count-settlement.ts'
import { failOver } from '../../commands/routing/fail-over.ts'
import { recountCall } from '../../commands/routing/recount-call.ts'
import { releaseCall } from '../../commands/routing/release-call.ts'
import { resetTargetCaps } from '../../commands/routing/reset-target-caps.ts'
import { routeCall } from '../../commands/routing/route-call.ts'
import { unblockCaller } from '../../commands/routing/unblock-caller.ts'
import { assignNumber } from '../../commands/supply/assign-number.ts'
import { billRenewal } from '../../commands/supply/bill-renewal.ts'
import { changePool } from '../../commands/supply/change-pool.ts'
import { changePublisher } from '../../commands/supply/change-publisher.ts'
import { changeRoutingKey } from '../../commands/supply/change-routing-key.ts'
import { chargeSetupFee } from '../../commands/supply/charge-setup-fee.ts'
import { closeLane } from '../../commands/supply/close-lane.ts'
import { completeNumberRelease } from '../../commands/supply/complete-number-release.ts'
import { createPool } from '../../commands/supply/create-pool.ts'
import { createPublisher } from '../../commands/supply/create-publisher.ts'
import { declineNumberOrder } from '../../commands/supply/decline-number-order.ts'
import { deletePool } from '../../commands/supply/delete-pool.ts'
import { missRenewal } from '../../commands/supply/miss-renewal.ts'
import { placeNumberOrder } from '../../commands/supply/place-number-order.ts'
import { provisionNumber } from '../../commands/supply/provision-number.ts'
import { recordNumberOrder } from '../../commands/supply/record-number-order.ts'
import { releaseSetupFee } from '../../commands/supply/release-setup-fee.ts'
import { renewNumber } from '../../commands/supply/renew-number.ts'
import { reportNumberDelivery } from '../../commands/supply/report-number-delivery.ts'
import { requestNumberRelease } from '../../commands/supply/request-number-release.ts'
import { reserveSetupFee } from '../../commands/supply/reserve-setup-fee.ts'
import { resolveNumberOrder } from '../../commands/supply/resolve-number-order.ts'
import { rotateCompatToken } from '../../commands/supply/rotate-compat-token.ts'
import { rotatePoolKey } from '../../commands/supply/rotate-pool-key.ts'
import { rotateRoutingKey } from '../../commands/supply/rotate-routing-key.ts'
import { rotateSigningSecret } from '../../commands/supply/rotate-signing-secret.ts'
import { setLane } from '../../commands/supply/set-lane.ts'
import { setNumberStatus } from '../../commands/supply/set-number-status.ts'
import { setPublisherStatus } from '../../commands/supply/set-publisher-status.ts'
import { switchCompat } from '../../commands/supply/switch-compat.ts'
import { requireAttribution } from '../domain/configuration/attribution.ts'
import { requireRecordAt } from '../domain/configuration/entity-tags.ts'
import type { AnyCommand } from '../kernel/command.ts'
import type { AnyPrecondition } from '../kernel/precondition.ts'

/** Every command. */
export const commands: readonly AnyCommand[] = [
  acceptInvitation,
  acceptPublisherInvitation,
  changeApiKey,
  changePassword,
  changePlan,
  changeSeatRole,
  changeSubscription,
  changeWorkspace,
  createApiKey,
  createPlatformKey,
  createWorkspace,
  extendSession,
  grantSeat,
  invitePerson,
  invitePublisherUser,
  openWorkspace,
  registerUser,
  removePublisherUser,
  removeSeat,
  requestPasswordReset,
  resetPassword,
  revokeApiKey,
  revokeInvitation,
  revokePublisherInvitation,
  rotateApiKey,
  signIn,
  signOut,
  retryParkedStream,
  skipParkedEvent,
  startExport,
  adjustCall,
  endCall,
  postConversion,
  recordAnswer,
  recordArrival,
  recordDial,
  recordFailure,
  recordPlanSpent,
  recordUsage,
  saveRecording,
  settleCall,
  tagCall,
  changeCampaign,
  changeVertical,
  createCampaign,
  createVertical,
  removeRoute,
  restrictCampaign,
  setCampaignStatus,
  setRoute,
  unrestrictCampaign,
  changeBuyer,
  changeTarget,
  createBuyer,
  createTarget,
  recordTargetTest,
  setBuyerStatus,
  setTargetStatus,
  chargeUsage,
  creditSandboxWallet,
  creditWallet,
  blockCaller,
  countAnswer,
  countSettlement,
  failOver,
  recountCall,
  releaseCall,
  resetTargetCaps,
  routeCall,
  unblockCaller,
  holdAuction,
  claimOffer,
  countBids,
  expireOffer,
  recordConfirmation,
  recordPost,
  refusePing,
  refusePost,
  releaseReservation,
  reserveOffer,
  voidBid,
  assignNumber,
  billRenewal,
  changePool,
  changePublisher,
  changeRoutingKey,
  chargeSetupFee,
  closeLane,
  completeNumberRelease,
  createPool,
  createPublisher,
  declineNumberOrder,
  deletePool,
  missRenewal,
  placeNumberOrder,
  provisionNumber,
  recordNumberOrder,
  releaseSetupFee,
  renewNumber,
  reportNumberDelivery,
  requestNumberRelease,
  reserveSetupFee,
  resolveNumberOrder,
  rotateCompatToken,
  rotatePoolKey,
  rotateRoutingKey,
  rotateSigningSecret,
  setLane,
  setNumberStatus,
  setPublisherStatus,
  switchCompat,
  changeWebhook,
  createWebhook,
  deleteWebhook,
  finishWebhookRemoval,
  queueDelivery,
  queueTestDelivery,
  recordAttempt,
  removeDelivery,
  replayDelivery,
  reportWebhookHealth,
  rotateWebhookSecret,
  stopDelivery,
  endLeases,
  recordLease,
]

/** Every precondition of commands. */
export const preconditions: readonly AnyPrecondition[] = [requireAttribution.definition, requireRecordAt.definition]

/**
 * Commands that a process always runs itself and never forwards: one that is not idempotent by its command id, and those that
 * begin a stream of their own.
 */
export const LOCAL_COMMANDS: ReadonlySet<AnyCommand> = new Set<AnyCommand>([resetTargetCaps, holdAuction, refusePing])
