import { expect } from 'vitest'
import { changePlan } from '../../../commands/access/change-plan.ts'
import { changeSubscription } from '../../../commands/access/change-subscription.ts'
import { adjustCall } from '../../../commands/calls/adjust-call.ts'
import { postConversion } from '../../../commands/calls/post-conversion.ts'
import { tagCall } from '../../../commands/calls/tag-call.ts'
import { changeCampaign } from '../../../commands/campaigns/change-campaign.ts'
import { removeRoute } from '../../../commands/campaigns/remove-route.ts'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { setRoute } from '../../../commands/campaigns/set-route.ts'
import { changeBuyer } from '../../../commands/demand/change-buyer.ts'
import { changeTarget } from '../../../commands/demand/change-target.ts'
import { setBuyerStatus } from '../../../commands/demand/set-buyer-status.ts'
import { setTargetStatus } from '../../../commands/demand/set-target-status.ts'
import { creditWallet } from '../../../commands/money/credit-wallet.ts'
import { blockCaller } from '../../../commands/routing/block-caller.ts'
import { resetTargetCaps } from '../../../commands/routing/reset-target-caps.ts'
import { unblockCaller } from '../../../commands/routing/unblock-caller.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { setPublisherStatus } from '../../../commands/supply/set-publisher-status.ts'
import { callEvents } from '../../../src/domain/calls/call.ts'
import { sameFigures } from '../../../src/domain/money/figures.ts'
import { capFigures } from '../../../src/domain/routing/ledger-events.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import { hashOf } from '../fixtures/workspace-fixture.ts'
import { adjust, type Conversion, post } from './books.ts'
import { usageOf } from './counts.ts'
import type { Ids } from './records.ts'
import {
  type BuyerModel,
  blockName,
  type CallModel,
  type CampaignModel,
  type CorrectionsModel,
  type LaneModel,
  laneName,
  type Model,
  need,
  type RouteModel,
  routeName,
  type TargetModel,
} from './state.ts'
import { ADA, KEY, type System } from './system.ts'
import { newRoute } from './world.ts'

/** The model and the system that it is compared with. */
export interface ModelAndSystem {
  readonly model: Model
  readonly system: System
  readonly ids: Ids
}

type Edit<Args extends readonly unknown[]> = (pair: ModelAndSystem, ...args: Args) => Promise<void>

const idOf = ({ ids }: ModelAndSystem, name: string): string => need(ids, name)

/** Executes a command that must be accepted. */
async function executeAccepted({ system }: ModelAndSystem, command: AnyCommand, input: object) {
  const events = await system.execute(command, input)
  if (isRefusal(events)) throw new Error(`${command.name}: ${JSON.stringify(events)}`)
  return events
}

const isEmpty = (changes: object) => Object.keys(changes).length === 0

export const editTarget: Edit<[string, Partial<TargetModel>]> = async (pair, name, changes) => {
  if (isEmpty(changes)) return
  const { ringTimeoutSeconds, ...settings } = changes
  const endpoint = ringTimeoutSeconds === undefined ? {} : { endpoint: { ringTimeoutSeconds } }
  await executeAccepted(pair, changeTarget, { targetId: idOf(pair, name), changes: { ...settings, ...endpoint } })
  Object.assign(need(pair.model.targets, name), changes)
}

export const editBuyer: Edit<[string, Partial<BuyerModel>]> = async (pair, name, changes) => {
  if (isEmpty(changes)) return
  await executeAccepted(pair, changeBuyer, { buyerId: idOf(pair, name), changes })
  Object.assign(need(pair.model.buyers, name), changes)
}

export const editCampaign: Edit<[string, Partial<CampaignModel>]> = async (pair, name, changes) => {
  if (isEmpty(changes)) return
  await executeAccepted(pair, changeCampaign, { campaignId: idOf(pair, name), changes })
  Object.assign(need(pair.model.campaigns, name), changes)
}

export const editLane: Edit<[string, string, Partial<LaneModel>]> = async (pair, campaign, publisher, changes) => {
  const [campaignId, publisherId] = [idOf(pair, campaign), idOf(pair, publisher)]
  const key = { prefix: 'rk_', hash: hashOf(`${campaign} ${publisher}`) }
  await executeAccepted(pair, setLane, { campaignId, publisherId, terms: changes, key })
  Object.assign(need(pair.model.lanes, laneName(campaign, publisher)), changes)
}

export const editRoute: Edit<[string, string, Partial<RouteModel>]> = async (pair, campaign, target, settings) => {
  const { model } = pair
  await executeAccepted(pair, setRoute, { campaignId: idOf(pair, campaign), targetId: idOf(pair, target), settings })
  const name = routeName(campaign, target)
  const route = model.routes.get(name) ?? newRoute(campaign, target, model.routesMade++)
  model.routes.set(name, { ...route, ...settings })
}

export const dropRoute: Edit<[string, string]> = async (pair, campaign, target) => {
  if (!pair.model.routes.delete(routeName(campaign, target))) return
  await executeAccepted(pair, removeRoute, { campaignId: idOf(pair, campaign), targetId: idOf(pair, target) })
}

export const switchTarget: Edit<[string, 'active' | 'paused']> = async (pair, name, status) => {
  await executeAccepted(pair, setTargetStatus, { targetId: idOf(pair, name), status })
  need(pair.model.targets, name).status = status
}

export const switchBuyer: Edit<[string, 'active' | 'paused']> = async (pair, name, status) => {
  await executeAccepted(pair, setBuyerStatus, { buyerId: idOf(pair, name), status })
  need(pair.model.buyers, name).status = status
}

export const switchPublisher: Edit<[string, 'live' | 'paused']> = async (pair, name, status) => {
  await executeAccepted(pair, setPublisherStatus, { publisherId: idOf(pair, name), status })
  need(pair.model.publishers, name).status = status
}

/** Whether the checklist lets a campaign go live (Supplement §5). Its numbers are always ready here. */
function canGoLive({ routes, targets, buyers, balanceCents }: Model, name: string): boolean {
  const plan = [...routes.values()].filter(({ campaign }) => campaign === name)
  const planned = plan.map(({ target }) => need(targets, target))
  return (
    planned.some(({ status }) => status === 'active') &&
    planned.some(({ buyer }) => need(buyers, buyer).status === 'active') &&
    plan.some(({ active }) => active) &&
    balanceCents > 0
  )
}

export const switchCampaign: Edit<[string, 'live' | 'paused']> = async (pair, name, status) => {
  const { model, system } = pair
  const campaign = need(model.campaigns, name)
  const refused = status === 'live' && campaign.status !== 'live' && !canGoLive(model, name)
  const received = await system.execute(setCampaignStatus, { campaignId: idOf(pair, name), status })
  expect(isRefusal(received), `a move of ${name} to ${status} is refused`).toBe(refused)
  if (!refused) campaign.status = status
}

export const subscribe: Edit<[Model['subscription']]> = async (pair, subscription) => {
  await executeAccepted(pair, changeSubscription, { subscriptionStatus: subscription })
  pair.model.subscription = subscription
}

export const movePlan: Edit<[Model['plan']]> = async (pair, planId) => {
  await executeAccepted(pair, changePlan, { planId })
  pair.model.plan = planId
}

export const credit: Edit<[number]> = async (pair, amountCents) => {
  await executeAccepted(pair, creditWallet, { amountCents, reference: pair.system.newId() })
  pair.model.balanceCents += amountCents
}

export const block: Edit<[string, string | null]> = async (pair, caller, campaign) => {
  await executeAccepted(pair, blockCaller, { callerNumber: caller, campaignId: campaign && idOf(pair, campaign) })
  pair.model.blocked.add(blockName(caller, campaign))
}

export const unblock: Edit<[string, string | null]> = async (pair, caller, campaign) => {
  if (!pair.model.blocked.delete(blockName(caller, campaign))) return
  const campaignId = campaign && idOf(pair, campaign)
  const rows = [...pair.system.docs('blocked-callers')]
  const row = rows.find(([, doc]) => doc.campaignId === campaignId && caller.endsWith(String(doc.callerLast10)))
  await executeAccepted(pair, unblockCaller, { blockId: row?.[0] ?? '' })
}

/** Resets the caps of a target; the event reports the usage that was shown before as cleared. */
export const resetCaps: Edit<[string]> = async (pair, name) => {
  const { model } = pair
  const { dayCents, ...counted } = usageOf(model, { kind: 'target', name })
  const events = await executeAccepted(pair, resetTargetCaps, { targetId: idOf(pair, name) })
  const [reset] = events.filter(({ type }) => type === 'TargetCapsReset')
  const cleared = reset && typeof reset.data === 'object' && reset.data && 'cleared' in reset.data && reset.data.cleared
  expect(capFigures.parse(cleared), `the figures that the reset of ${name} cleared`).toEqual({
    ...counted,
    dayRevenueCents: dayCents,
  })
  for (const call of model.calls) for (const claim of call.claims) if (claim.target === name) claim.capsReset = true
  for (const { plan, post } of model.offers) if (post && plan[0]?.target === name) post.capsReset = true
  model.capNotices.reset(name)
}

/** A buyer posts a conversion with a key, or a user does. */
export const convert: Edit<[CallModel, Conversion]> = async ({ model, system }, call, conversion) => {
  const { source, revenueCents, externalId } = conversion
  const sent = { callId: call.id, converted: true, externalId, ...(revenueCents === null ? {} : { revenueCents }) }
  const received = await system.execute(postConversion, sent, source === 'postback' ? KEY : ADA)
  const expected = post(model, call, conversion)
  if (isRefusal(received)) return expect(received.refused, `a conversion of ${call.ref}`).toBe(expected)
  const posted = received.find(({ type }) => type === 'ConversionPosted')
  const figures = posted && callEvents.ConversionPosted.parse(posted.data)
  const moved = figures !== undefined && !sameFigures(figures.before, figures.after)
  expect(moved, `whether a conversion of ${call.ref} moves a figure`).toBe(expected)
}

/** A user corrects the figures of a call. */
export const correct: Edit<[CallModel, CorrectionsModel]> = async ({ model, system }, call, changes) => {
  const received = await system.execute(adjustCall, { callId: call.id, reason: 'Agreed by telephone.', ...changes })
  expect(isRefusal(received) ? received.refused : null, `an adjustment of ${call.ref}`).toBe(
    adjust(model, call, changes),
  )
}

/** A user sets or removes tags of a call. */
export const tag: Edit<[CallModel, Readonly<Record<string, string | null>>]> = async (pair, call, tags) => {
  await executeAccepted(pair, tagCall, { callId: call.id, tags })
  const after = Object.entries({ ...call.tags, ...tags }).filter(([, value]) => value !== null)
  call.tags = Object.fromEntries(after.map(([key, value]) => [key, value ?? '']))
}
