import type { PayloadCore } from './webhook-events.ts'

/** What the fields of the payload core mean. */
export const coreTexts: Readonly<Record<keyof PayloadCore, string>> = {
  callId: 'Id of the call.',
  ref: 'Reference of the call, for people.',
  status: 'What the call log shows after the event.',
  campaignId: 'The campaign.',
  campaignName: "The campaign's name.",
  publisherId: "The publisher; null for the workspace's own media.",
  publisherName: "The publisher's name.",
  publisherRef: 'The reference that the publisher gave at the auction; null on a call that was dialled.',
  buyerId: 'The buyer; null until a target is chosen, and on an unrouted call.',
  buyerName: "The buyer's name.",
  targetId: 'The target at which the call is, or that the event is about.',
  targetName: "The target's name.",
  targetExternalRef: "The buyer's own reference of the target.",
  callerNumber: 'In E.164; null when withheld.',
  callerState: 'Two letters.',
  callerCity: 'Null on a call that was dialled.',
  callerZip: 'Null on a call that was dialled.',
  dialedNumber: 'The tracking number, in E.164.',
  startedAt: 'When the call arrived.',
  answeredAt: 'When a buyer answered.',
  endedAt: 'When the call ended.',
  talkSeconds: '0 until a buyer is on the line.',
  converted: 'Whether the call earned its price.',
  revenueCents: 'What the buyer pays; 0 until settlement.',
  payoutCents: 'What the publisher earns; 0 until settlement.',
  tags: 'Values by key.',
}

/** What the other fields of payloads mean. */
export const extraTexts: Readonly<Record<string, string>> = {
  attemptNo: 'Number of the dial, from 1.',
  reason: 'Why, as a code.',
  sipCode: 'SIP status; null when the carrier gave none.',
  sentence: 'Why, in words.',
  nextTargetId: 'The target that is tried next; null when none is left.',
  nextTargetName: "That target's name.",
  action: 'What was done with the caller.',
  scope: 'Whose cap it is.',
  window: 'The window of the cap; `daily revenue` is a cap of revenue.',
  cap: 'A cap of calls: the cap.',
  count: 'A cap of calls: the calls in the window.',
  capCents: 'A cap of revenue: the cap.',
  cents: 'A cap of revenue: the revenue in the window.',
  consecutiveFailures: 'Failed dials in a row.',
  agencyId: 'The workspace.',
  agencyName: "The workspace's name.",
  balanceCents: 'Balance of the wallet: zero or below.',
}

/** What `reason` is in the events that settle a call: it has no fixed list. */
const SETTLED_REASON =
  'One of `duration`, `postback`, `manual`, `not_answered`, `no_buyer`, or `under_threshold:<talk>s_of_<threshold>s`'

/** Texts of fields in one event, where they differ, by `event.field`. */
export const eventTexts: Readonly<Record<string, string>> = {
  'call.completed.reason': `${SETTLED_REASON}.`,
  'call.converted.reason': `${SETTLED_REASON}; or the note that a person typed with a correction.`,
}
