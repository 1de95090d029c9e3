import type { FieldTexts } from './field-text.ts'

/** Fields of the overview and of the portal. */
export const reportingTexts: FieldTexts = {
  // Overview
  date: ['The day.', '2026-11-01'],
  'GetOverviewResponse.live': ['Calls in progress.'],
  last7: ['Seven days, the earliest first.'],
  'GetOverviewResponse.wallet': ['What the wallet holds.'],
  alerts: ['The most severe first.'],
  'Alert.sentence': ['What is wrong, in words.'],
  'Alert.to': ['Page of the console.', '/wallet'],
  topCampaigns: ['The campaigns with the most revenue.'],
  topBuyers: ['The buyers with the most revenue.'],

  // Portal
  invitationId: ['Id of the invitation.'],
  'ListPortalPayoutsResponse.totals': ['Sums over the window.'],
  'PortalLane.payout': ['Terms in force; null where the campaign is gone.'],
  'PortalCall.reason': ['Why no buyer took the call; null where one did.'],
}
