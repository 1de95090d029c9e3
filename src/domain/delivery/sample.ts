import type { Envelope, PayloadCore, WebhookData, WebhookEventName } from './webhook-events.ts'

/** The event of the vocabulary's sample, and of a test that names none: its payload has a value in every field. */
export const SAMPLE_EVENT = 'call.completed'
/** The hash of the sample's caller. */
export const SAMPLE_CALLER_HASH = '6b1d9c0f4a7e2583b6c1d0e9f8a75432'

/** A call that a publisher won at auction, at its end. Numbers are fictional. */
const ended: PayloadCore = {
  callId: '0198f2c4-7a10-7c3e-9b52-1f6d0a4e8b21',
  ref: 'CA-0000004821',
  status: 'completed',
  campaignId: '0198f2c4-7a10-7c3e-9b52-1f6d0a4e8b22',
  campaignName: 'Roofing New York',
  publisherId: '0198f2c4-7a10-7c3e-9b52-1f6d0a4e8b23',
  publisherName: 'North Media',
  publisherRef: 'lead-7781',
  buyerId: '0198f2c4-7a10-7c3e-9b52-1f6d0a4e8b24',
  buyerName: 'Acme Roofing',
  targetId: '0198f2c4-7a10-7c3e-9b52-1f6d0a4e8b25',
  targetName: 'Front desk',
  targetExternalRef: 'desk-1',
  callerNumber: '+12125550142',
  callerState: 'NY',
  callerCity: 'New York',
  callerZip: '10001',
  dialedNumber: '+12125550100',
  startedAt: '2026-03-10T15:00:00.000Z',
  answeredAt: '2026-03-10T15:00:09.000Z',
  endedAt: '2026-03-10T15:02:21.000Z',
  talkSeconds: 132,
  converted: true,
  revenueCents: 5_000,
  payoutCents: 3_000,
  tags: { source: 'radio', caller_state: 'NY' },
}

/** The call before its end: nothing is settled. */
const unsettled = { talkSeconds: 0, converted: false, revenueCents: 0, payoutCents: 0, endedAt: null } as const
const connected: PayloadCore = { ...ended, ...unsettled, status: 'in_progress' }
const ringing: PayloadCore = { ...connected, status: 'ringing', answeredAt: null }
const untargeted = {
  buyerId: null,
  buyerName: null,
  targetId: null,
  targetName: null,
  targetExternalRef: null,
} as const

const samples: { readonly [Name in WebhookEventName]: WebhookData<Name> } = {
  'call.incoming': { ...ringing, ...untargeted, status: 'routing' },
  'call.routed': { ...ringing, attemptNo: 1 },
  'call.failover': {
    ...ringing,
    attemptNo: 1,
    reason: 'busy',
    sipCode: 486,
    sentence: 'The target was busy.',
    nextTargetId: '0198f2c4-7a10-7c3e-9b52-1f6d0a4e8b26',
    nextTargetName: 'Back office',
  },
  'call.connected': { ...connected, attemptNo: 1 },
  'call.completed': { ...ended, reason: 'duration' },
  'call.converted': { ...ended, reason: 'duration' },
  'call.unrouted': {
    ...ringing,
    ...untargeted,
    status: 'rejected',
    reason: 'no_eligible_target',
    sentence: 'No target could take the call.',
    action: 'hangup',
  },
  'target.capped': { ...ringing, scope: 'target', window: 'daily', cap: 50, count: 50 },
  'target.down': {
    ...ringing,
    reason: 'no_answer',
    consecutiveFailures: 3,
    sentence: 'The target did not answer three times in a row.',
  },
  'wallet.low': {
    agencyId: '0198f2c4-7a10-7c3e-9b52-1f6d0a4e8b20',
    agencyName: 'Ringworks',
    balanceCents: 0,
    reason: 'workspace_unfunded',
  },
}

/** A payload of an event with every field. Null are only those that the event's calls lack, such as the buyer of `call.incoming`. */
export function sampleData<Name extends WebhookEventName>(name: Name): WebhookData<Name> {
  return samples[name]
}

/** The sample of an event as it is delivered. */
export function sampleEnvelope(event: WebhookEventName, test = false): Envelope {
  return {
    id: 'req_0198f2c47a107c3e9b521f6d0a4e8b27',
    event,
    createdAt: '2026-03-10T15:02:36.000Z',
    data: sampleData(event),
    ...(test && { test }),
  }
}
