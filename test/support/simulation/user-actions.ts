import { adjustCall } from '../../../commands/calls/adjust-call.ts'
import { postConversion } from '../../../commands/calls/post-conversion.ts'
import { tagCall } from '../../../commands/calls/tag-call.ts'
import { changeCampaign } from '../../../commands/campaigns/change-campaign.ts'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { changeBuyer } from '../../../commands/demand/change-buyer.ts'
import { changeTarget } from '../../../commands/demand/change-target.ts'
import { setBuyerStatus } from '../../../commands/demand/set-buyer-status.ts'
import { setTargetStatus } from '../../../commands/demand/set-target-status.ts'
import { creditWallet } from '../../../commands/money/credit-wallet.ts'
import { blockCaller } from '../../../commands/routing/block-caller.ts'
import { resetTargetCaps } from '../../../commands/routing/reset-target-caps.ts'
import { changeRoutingKey } from '../../../commands/supply/change-routing-key.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { setPublisherStatus } from '../../../commands/supply/set-publisher-status.ts'
import { secretHash } from '../../../src/api/secret-hash.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { Chance } from './chance.ts'
import type { SimulatedWorld } from './world.ts'

/** The key of a new lane: lanes are open already, and keep theirs. */
const SPARE_KEY = { prefix: 'rk_spare_key', hash: secretHash('rk_spare_key') }

/** A command of a user. */
export interface UserAction {
  readonly command: AnyCommand
  readonly input: unknown
}

/** One of few callers, so that deduplication windows are met. */
export function someCaller(chance: Chance): string | null {
  if (chance.odds(0.1)) return null
  return chance.among(['+12125550101', '+12125550102', '+13105550103', '+13105550104', '+14155550105', '+15125550106'])
}

/** Actions on a call. If the call has not arrived yet, they are refused, as in production. */
const CALL_ACTIONS: readonly ((chance: Chance, callId: string) => UserAction)[] = [
  (chance, callId) => ({
    command: postConversion,
    input: { callId, converted: true, ...(chance.odds(0.5) && { revenueCents: 100 * chance.pick(50) }) },
  }),
  (chance, callId) => ({
    command: adjustCall,
    input: {
      callId,
      ...chance.among([
        { converted: chance.odds(0.5) },
        { revenueCents: 100 * chance.pick(50) },
        { payoutCents: 100 * chance.pick(10) },
      ]),
      reason: 'By hand',
    },
  }),
  (chance, callId) => ({ command: tagCall, input: { callId, tags: { source: chance.pick(3), once: null } } }),
]

type ActionGenerator = (chance: Chance, world: SimulatedWorld) => UserAction

/** Actions of users while calls go on. They edit only the records that the world sets aside for it. */
const ACTIONS: readonly ActionGenerator[] = [
  (chance, { edited }) => ({
    command: setTargetStatus,
    input: { targetId: chance.among(edited.targets), status: chance.among(['active', 'paused']) },
  }),
  (chance, { edited }) => ({
    command: setBuyerStatus,
    input: { buyerId: chance.among(edited.buyers), status: chance.among(['active', 'paused']) },
  }),
  (chance, { edited }) => ({
    command: changeTarget,
    input: {
      targetId: chance.among(edited.targets),
      changes: chance.among([
        { dailyCap: chance.pick(4) },
        { concurrencyCap: chance.pick(3) },
        { hourlyCap: chance.pick(4), capCountsOn: chance.among(['claimed', 'connected', 'converted']) },
        { revenueCents: 100 * chance.pick(30) },
      ]),
    },
  }),
  (chance, { edited }) => ({
    command: changeBuyer,
    input: {
      buyerId: chance.among(edited.buyers),
      changes: chance.among([{ dailyCap: chance.pick(6) }, { concurrencyCap: chance.pick(3) }]),
    },
  }),
  (chance, { lines }) => ({
    command: changeCampaign,
    input: {
      campaignId: chance.among(lines).campaignId,
      changes: chance.among([{ bufferSeconds: chance.pick(60) }, { dialTimeoutSeconds: 5 + chance.pick(40) }]),
    },
  }),
  (chance, { lines }) => ({
    command: setCampaignStatus,
    input: { campaignId: chance.among(lines).campaignId, status: chance.among(['live', 'live', 'paused']) },
  }),
  (chance, { publisherId }) => ({
    command: setPublisherStatus,
    input: { publisherId, status: chance.among(['live', 'paused']), note: 'By hand' },
  }),
  (chance, { steady, edited }) => ({
    command: resetTargetCaps,
    input: { targetId: chance.among([...edited.targets, ...steady.targets]) },
  }),
  (chance, { lanes }) => ({
    command: changeRoutingKey,
    input: {
      keyId: chance.among(lanes).keyId,
      changes: { environment: chance.among(['test', 'production', 'production']) },
    },
  }),
  (chance, { lanes }) => {
    const { campaignId, publisherId } = chance.among(lanes)
    const terms = chance.among([
      { payoutMode: 'fixed', payoutCents: 200 + 50 * chance.pick(3) },
      { dailyCap: chance.pick(5), blockWhenCapped: chance.odds(0.8) },
    ])
    return { command: setLane, input: { campaignId, publisherId, terms, key: SPARE_KEY } }
  },
  (chance) => ({ command: blockCaller, input: { callerNumber: someCaller(chance) ?? '+12125550199' } }),
  (chance) => ({
    command: creditWallet,
    input: { amountCents: 500, reference: `credit-${chance.pick(5)}` },
  }),
]

/** A random action on the workspace, or on one of these calls. */
export function someAction(chance: Chance, world: SimulatedWorld, calls: readonly string[]): UserAction {
  if (calls.length > 0 && chance.odds(0.4)) return chance.among(CALL_ACTIONS)(chance, chance.among(calls))
  return chance.among(ACTIONS)(chance, world)
}
