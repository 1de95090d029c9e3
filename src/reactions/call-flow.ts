import { recordArrival } from '../../commands/calls/record-arrival.ts'
import { recordDial } from '../../commands/calls/record-dial.ts'
import { recordPlanSpent } from '../../commands/calls/record-plan-spent.ts'
import { recordUsage } from '../../commands/calls/record-usage.ts'
import { settleCall } from '../../commands/calls/settle-call.ts'
import { chargeUsage } from '../../commands/money/charge-usage.ts'
import { countAnswer } from '../../commands/routing/count-answer.ts'
import { countSettlement } from '../../commands/routing/count-settlement.ts'
import { failOver } from '../../commands/routing/fail-over.ts'
import { recountCall } from '../../commands/routing/recount-call.ts'
import { releaseCall } from '../../commands/routing/release-call.ts'
import { call } from '../domain/calls/call.ts'
import { walletEvents } from '../domain/money/wallet.ts'
import { bidsField } from '../domain/routing/bids.ts'
import { laneKeyOf, type UnroutedAction } from '../domain/routing/decision.ts'
import { ledger } from '../domain/routing/ledger.ts'
import type { RecordedEvent } from '../kernel/event.ts'
import { defineReaction } from '../kernel/reaction.ts'
import type { ReleaseCommand } from '../ports/carrier.ts'
import { decideWithBids } from './ask-bidders.ts'
import type { FlowTools } from './tools.ts'

const RELEASES: Readonly<Record<UnroutedAction['action'], (unrouted: UnroutedAction) => ReleaseCommand['action']>> = {
  hangup: () => ({ kind: 'hangup' }),
  message: ({ message }) => ({ kind: 'message', text: message ?? '' }),
  forward: ({ forwardE164 }) => (forwardE164 === null ? { kind: 'hangup' } : { kind: 'forward', e164: forwardE164 }),
}

const workspaceOf = ({ meta }: RecordedEvent) => meta.workspaceId ?? ''

/**
 * The next step after each event of a call, on its other streams and at the carrier. The process that appended an event
 * runs its step at once; after a crash another worker does. Every step has a natural key, so repeating it changes nothing.
 */
export const callFlow = defineReaction({
  name: 'call-flow',
  events: { ...ledger.events, ...call.events, WalletCharged: walletEvents.WalletCharged },
  from: 'start',
  doneBy: {
    CallAdmitted: ['CallArrived'],
    CallRefused: ['CallArrived'],
    TargetClaimed: ['TargetDialed'],
    PlanSpent: ['CallUnrouted'],
    TargetFailed: ['ClaimReleased'],
    TargetAnswered: ['ClaimConnected'],
    CallSettled: ['CallCounted'],
    BooksChanged: ['CallRecounted'],
    WalletCharged: ['UsageCharged'],
  },
  on: {
    CallAdmitted: (tools: FlowTools, event) => tools.run(recordArrival, event.data, event),
    CallRefused: ({ run }, event) => run(recordArrival, { ...event.data, plan: [], skipped: [], claim: null }, event),
    TargetClaimed: ({ run }, event) => run(recordDial, event.data, event),
    PlanSpent: ({ run }, event) => run(recordPlanSpent, event.data, event),
    TargetDialed: ({ carrier }, event) => {
      const { callId, carrierCallId, recordCall, claim } = event.data
      return carrier.dial({
        commandId: event.meta.eventId,
        workspaceId: workspaceOf(event),
        callId,
        carrierCallId,
        attempt: claim.attempt,
        targetId: claim.target.id,
        destination: claim.destination,
        callerId: claim.callerId,
        ringSeconds: claim.ringSeconds,
        whisper: claim.whisper,
        record: recordCall,
        at: claim.occurredAt,
      })
    },
    CallUnrouted: ({ carrier }, event) => {
      const { callId, carrierCallId, unrouted, occurredAt } = event.data
      return carrier.release({
        commandId: event.meta.eventId,
        workspaceId: workspaceOf(event),
        callId,
        carrierCallId,
        action: RELEASES[unrouted.action](unrouted),
        at: occurredAt,
      })
    },
    TargetFailed: async ({ run, askBidders }, event) => {
      const { callId, attempt, outcome, sipCode, retryAfterSeconds, occurredAt } = event.data
      // After the caller hung up there is no failover: the end of the call releases its claim.
      const failure = { callId, attempt, outcome, sipCode, retryAfterSeconds, occurredAt }
      if (outcome === 'abandoned') return
      await decideWithBids(
        (question) => askBidders(workspaceOf(event), question),
        (bids) => run(failOver, { ...failure, ...bidsField(bids) }, event),
      )
    },
    TargetAnswered: ({ run }, event) => {
      const { callId, attempt, occurredAt } = event.data
      return run(countAnswer, { callId, attempt, occurredAt }, event)
    },
    CallEnded: async ({ run, carrier, now }, event) => {
      const { callId, carrierCallId, connected, occurredAt, settlesAt, usageDueAt, usageCents } = event.data
      const due = (instant: string) => Date.parse(instant) <= now()
      await run(releaseCall, { callId, connected, occurredAt }, event)
      if (event.data.status === 'terminated') {
        const command = { commandId: event.meta.eventId, workspaceId: workspaceOf(event), callId, carrierCallId }
        await carrier.release({ ...command, action: { kind: 'hangup' }, at: occurredAt })
      }
      if (settlesAt > occurredAt && due(settlesAt)) await run(settleCall, { callId }, event)
      if (usageDueAt && due(usageDueAt))
        await run(chargeUsage, { callId, amountCents: usageCents, at: usageDueAt }, event)
    },
    CallSettled: async ({ run }, event) => {
      const { source, reason, sentence, ...settlement } = event.data
      if (settlement.targetId !== null) await run(countSettlement, settlement, event)
    },
    BooksChanged({ run }, event) {
      const { callId, change, settledAt, campaignId, publisherId, laneKeyId, claim } = event.data
      const { converted, revenueCents, payoutCents } = event.data
      const whose = { campaignId, publisherId, ...laneKeyOf({ laneKeyId }), claim }
      const figures = { converted, revenueCents, payoutCents }
      return run(recountCall, { callId, change, settledAt, ...whose, ...figures }, event)
    },
    WalletCharged: async ({ run }, event) => {
      const { callId, kind, amountCents, occurredAt } = event.data
      if (kind === 'usage' && callId) await run(recordUsage, { callId, usageCents: amountCents, occurredAt }, event)
    },
  },
})
