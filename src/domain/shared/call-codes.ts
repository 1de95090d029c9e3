import { z } from 'zod'

/** The call statuses of Document 2 that this platform gives. */
export const callStatus = z
  .enum([
    'initiated',
    'routing',
    'reserved',
    'ringing',
    'waiting',
    'in_progress',
    'completed',
    'missed',
    'rejected',
    'abandoned',
    'no_agent',
    'no_answer',
    'busy',
    'failed',
    'terminated',
  ])
  .meta({ id: 'CallStatus' })

export type CallStatus = z.infer<typeof callStatus>

export const callOutcome = z.enum(['connected', 'converted', 'unrouted', 'missed', 'live']).meta({ id: 'CallOutcome' })

export type CallOutcome = z.infer<typeof callOutcome>

export const attribution = z
  .enum(['tracking_number', 'routing_key', 'ping_window', 'direct', 'rtb_bid'])
  .meta({ id: 'Attribution' })

/** The eight gates, in the order in which they are tried (Document 1, Life of a call; codes by Supplement §6). */
export const gateCode = z.enum([
  'subscription',
  'wallet',
  'campaign_status',
  'blocked_caller',
  'anonymous_caller',
  'hours',
  'campaign_cap',
  'repeat_caller',
])

export type GateCode = z.infer<typeof gateCode>

/** Why a call reached no buyer (Document 2, Unrouted reasons). */
export const unroutedReason = z.enum([
  'workspace_inactive',
  'workspace_unfunded',
  'campaign_not_live',
  'caller_blocked',
  'anonymous_blocked',
  'campaign_closed',
  'campaign_capped',
  'repeat_blocked',
  'no_targets',
  'no_eligible_target',
  'all_targets_failed',
])

export type UnroutedReason = z.infer<typeof unroutedReason>

/** Why one target was passed over (Document 2, Skip reasons). */
export const skipReason = z.enum([
  'paused',
  'buyer_paused',
  'no_destination',
  'suppressed',
  'closed',
  'state',
  'concurrency',
  'capped',
  'buyer_capped',
  'spend_capped',
  'duplicate',
  'tag_filter',
  'no_bid',
  'timeout',
  'error',
])

export type SkipReason = z.infer<typeof skipReason>

/** How a dial ended without an answer. */
export const dialOutcome = z.enum(['no_answer', 'busy', 'rejected', 'failed', 'abandoned']).meta({ id: 'DialOutcome' })

export type DialOutcome = z.infer<typeof dialOutcome>
