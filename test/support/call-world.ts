import { changeBuyer } from '../../commands/change-buyer.ts'
import { changeCampaign } from '../../commands/change-campaign.ts'
import { changeTarget } from '../../commands/change-target.ts'
import { createTarget } from '../../commands/create-target.ts'
import { creditWallet } from '../../commands/credit-wallet.ts'
import { endCall } from '../../commands/end-call.ts'
import { recordAnswer } from '../../commands/record-answer.ts'
import { recordArrival } from '../../commands/record-arrival.ts'
import { recordFailure } from '../../commands/record-failure.ts'
import { routeCall } from '../../commands/route-call.ts'
import { setCampaignStatus } from '../../commands/set-campaign-status.ts'
import { setLane } from '../../commands/set-lane.ts'
import { setPublisherStatus } from '../../commands/set-publisher-status.ts'
import { setRoute } from '../../commands/set-route.ts'
import { setTargetStatus } from '../../commands/set-target-status.ts'
import { blocklist } from '../../src/domain/blocklist.ts'
import { call } from '../../src/domain/call.ts'
import type { Campaign } from '../../src/domain/campaign.ts'
import { ledger } from '../../src/domain/ledger.ts'
import { wallet } from '../../src/domain/wallet.ts'
import { workspace } from '../../src/domain/workspace.ts'
import type { AnyCommand } from '../../src/kernel/command.ts'
import type { NewEvent } from '../../src/kernel/event.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { buyerIn, campaignIn, furnished, hashOf, publisherIn, type Step, targetIn } from './configured.ts'
import { folded, given, idOf, NOW } from './spec.ts'

/** A caller from California, and the tracking number that is called. */
export const CALLER = '+14155550199'
export const DIALED = '+14155550123'

/** A wallet with a thousand dollars in it. */
export const CREDITED: readonly NewEvent[] = given(wallet).when(creditWallet, {
  amountCents: 100_000,
  reference: 'first',
}).events

/** What a configured workspace is changed by, one step at a time; targets and buyers by their number, from 0. */
export const changing = {
  campaign: (changes: object): Step => [changeCampaign, (events) => ({ campaignId: campaignIn(events), changes })],
  target: (changes: object, n = 0): Step => [changeTarget, (events) => ({ targetId: targetIn(events, n), changes })],
  targetStatus: (status: string, n = 0): Step => [
    setTargetStatus,
    (events) => ({ targetId: targetIn(events, n), status }),
  ],
  buyer: (changes: object): Step => [changeBuyer, (events) => ({ buyerId: buyerIn(events), changes })],
  route: (settings: object, n = 0): Step => [
    setRoute,
    (events) => ({ campaignId: campaignIn(events), targetId: targetIn(events, n), settings }),
  ],
  lane: (terms: object): Step => [
    setLane,
    (events) => ({
      campaignId: campaignIn(events),
      publisherId: publisherIn(events),
      terms,
      key: { prefix: 'rk_', hash: hashOf('another') },
    }),
  ],
}

/** One more active number target on the plan, the n-th of the workspace (from 1: there is one already). */
export function anotherTarget(n: number, settings: object = {}, route: object = {}): readonly Step[] {
  return [
    [
      createTarget,
      (events) => ({
        name: `Target ${n}`,
        type: 'number',
        buyerId: buyerIn(events),
        revenueCents: 3_000,
        endpoint: { destinationE164: `+1415555${1_000 + n}` },
        ...settings,
      }),
    ],
    changing.targetStatus('active', n),
    changing.route(route, n),
  ]
}

/** A funded workspace whose campaign and publisher are live, and what is decided on there. */
export function callWorld(...more: readonly Step[]) {
  const configured = furnished(...more)
  const [campaignId, publisherId] = [campaignIn(configured), publisherIn(configured)]
  const funded = { wallet: folded(wallet, CREDITED) }
  const published = given(workspace, configured).when(setPublisherStatus, { publisherId, status: 'live' })
  const launched = given(workspace, published.events).when(
    setCampaignStatus,
    { campaignId, status: 'live' },
    { reads: funded },
  )
  launched.gives([{ type: 'CampaignStatusChanged' }])
  const state = launched.state
  return {
    events: launched.events,
    reads: { workspace: state, blocklist: blocklist.initial, ...funded },
    campaignId,
    publisherId,
    campaign: state.campaigns.get(campaignId) as Campaign,
    targetId: (n = 0) => targetIn(configured, n),
    buyerId: buyerIn(configured),
  }
}
export type CallWorld = ReturnType<typeof callWorld>

/** The n-th call of a specification. */
export function callOf(n: number): string {
  return idOf(0xca00 + n)
}

/** A call on the number of a world, with what its ledger holds already. */
export function arrives(
  { reads }: Pick<CallWorld, 'reads'>,
  sent: object = {},
  before: readonly NewEvent[] = [],
  memory: Readonly<Record<string, unknown>> = {},
) {
  const input = { callId: callOf(1), carrierCallId: 'carrier-1', to: DIALED, caller: CALLER, occurredAt: NOW, ...sent }
  return given(ledger, before).when(routeCall, input, { reads, memory })
}

/** An instant so many seconds after the present of the specifications. */
export function after(seconds: number, from = NOW): string {
  return new Date(Date.parse(from) + seconds * 1_000).toISOString()
}

/** The one event that an arrival gives. */
export function decided(arrival: ReturnType<typeof arrives>): NewEvent {
  if (isRefusal(arrival.outcome) || !arrival.outcome[0]) throw new Error('Nothing was decided.')
  return arrival.outcome[0]
}

/** What the carrier tells of a call, each so many seconds after its arrival. */
export const told = {
  answer: (attempt: number, seconds: number, whisperAccepted: boolean | null = null) =>
    [recordAnswer, { callId: callOf(1), attempt, whisperAccepted, occurredAt: after(seconds) }] as const,
  failure: (attempt: number, outcome: string, seconds: number, sipCode: number | null = null) =>
    [
      recordFailure,
      {
        callId: callOf(1),
        attempt,
        outcome,
        sipCode,
        retryAfterSeconds: null,
        whisperAccepted: null,
        occurredAt: after(seconds),
      },
    ] as const,
  end: (seconds: number, more: object = {}) =>
    [endCall, { callId: callOf(1), hungUpBy: 'caller', recorded: true, occurredAt: after(seconds), ...more }] as const,
}

/** The events of a call's own stream: from the ledger's decision on, by commands one after another. */
export function lifeOf(
  arrival: ReturnType<typeof arrives>,
  ...steps: readonly (readonly [AnyCommand, object])[]
): readonly NewEvent[] {
  const begun = given(call).when(recordArrival, decided(arrival).data).events
  return steps.reduce((events, [command, input]) => given(call, events).when(command, input).events, begun)
}

/** A call's state as its events leave it. */
export function stateAfter(events: readonly NewEvent[]) {
  const state = folded(call, events)
  if (!state) throw new Error('The call has not arrived.')
  return state
}
