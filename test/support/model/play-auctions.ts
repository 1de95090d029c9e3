import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { type AuctionHeld, auctionEvents } from '../../../src/domain/auctions/auction.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import type { OfferModel, PingModel, PostAnswerModel } from './auction-state.ts'
import { editLane, editTarget } from './edits.ts'
import { recordedTerms } from './expectations.ts'
import { isLive, type LaneName } from './offers.ts'
import { type AnswerModel, type PingInputModel, possibleAnswers, recordPing } from './pings.ts'
import type { ModelRun } from './play.ts'
import { postOffer } from './posts.ts'
import { keyName } from './records.ts'
import { type CallScript, playLiveCall } from './scripted-calls.ts'
import { need } from './state.ts'
import type { System } from './system.ts'
import { LANES, numberOf } from './world.ts'

/** The answer of an auction, in the words of the model. */
function shownAnswer({
  outcome,
  reason,
  offer,
  skipped,
  plan,
}: AuctionHeld): Record<keyof Omit<AnswerModel, 'terms'>, unknown> {
  return {
    outcome,
    reason: reason?.reason ?? null,
    number: offer?.number?.e164 ?? null,
    skipped: skipped.map((skip) => [skip.targetName, skip.reason]),
    plan: plan.map(({ targetName: target, revenueCents, durationThresholdSeconds: thresholdSeconds }) => ({
      target,
      revenueCents,
      thresholdSeconds,
    })),
    offerOf: offer?.auctionId ?? null,
    payoutCents: offer?.payoutCents ?? null,
    thresholdSeconds: offer?.durationThresholdSeconds ?? null,
    expiresAt: offer && Date.parse(offer.expiresAt),
  }
}

/** A ping without the id that the platform gives it. */
export type SentPingModel = Omit<PingInputModel, 'id'>

/** A publisher pings, and gets one of the answers that the documents allow. */
async function ping(line: ModelRun, sent: SentPingModel): Promise<PingModel> {
  const { model, system, ids } = line
  const { campaign, publisher, singleStep, ...body } = sent
  const protocol = singleStep ? 'rtb_v1_compat' : 'rtb_v1'
  const events = await system.ping({ keyId: need(ids, keyName(campaign, publisher)), protocol, body })
  const judged = events.find(({ type }) => type === 'AuctionHeld')
  if (!judged) throw new Error('The ping was not judged.')
  const held = auctionEvents.AuctionHeld.parse(judged.data)
  const input = { ...sent, id: held.ping.auctionId }
  const [answers, received] = [possibleAnswers(model, input), shownAnswer(held)]
  const answer = answers.find(({ terms: _, ...each }) => isDeepStrictEqual(each, received))
  if (!answer) return expect.fail(`${held.ref}: ${JSON.stringify(received)} is none of ${JSON.stringify(answers)}.`)
  expect(held.terms, `the terms of ${held.ref}`).toEqual(answer.terms && recordedTerms(answer.terms))
  return recordPing(model, input, answer)
}

/** Pings for one caller on a lane, and on the others until one makes an offer. */
export async function pingLanes(line: ModelRun, sent: SentPingModel): Promise<void> {
  const isFirst = ({ campaign, publisher }: LaneName) => campaign === sent.campaign && publisher === sent.publisher
  for (const lane of LANES.toSorted((one, other) => Number(isFirst(other)) - Number(isFirst(one)))) {
    const { offer } = await ping(line, { ...sent, ...lane })
    if (offer) return
  }
}

function shownPost(answer: Awaited<ReturnType<System['post']>>): PostAnswerModel | null {
  if (answer === null) return null
  if (isRefusal(answer)) return { outcome: 'refused', reason: answer.refused }
  if (answer.outcome === 'no_bid') return { outcome: 'no_bid', reason: answer.reason.reason }
  const { outcome, number, payoutCents, expiresAt } = answer
  return { outcome, number, payoutCents, expiresAt: Date.parse(expiresAt) }
}

/** A publisher posts the offer of a ping for a caller. */
async function postFor({ model, system, ids }: ModelRun, pinged: PingModel, caller: string): Promise<void> {
  const { id: auctionId, campaign, publisher } = pinged
  const received = await system.post({
    keyId: need(ids, keyName(campaign, publisher)),
    auctionId,
    callerNumber: caller,
  })
  expect(shownPost(received), `the post of ${auctionId}`).toEqual(postOffer(model, pinged, caller))
}

/** The caller whom a ping announces; a hidden one is made known by the post. */
const callerOf = ({ offer, caller }: PingModel, hidden: string) => offer?.post?.caller ?? caller ?? hidden

const withOffer = ({ model: { pings } }: ModelRun) => pings.filter(({ offer }) => offer !== null)

/** Whether a ping was offered something. */
export const hasOffers = (line: ModelRun) => withOffer(line).length > 0

/** Posts the offer of a recent ping, mostly for its caller. */
export async function post(line: ModelRun, pick: number, known: string, isOther: boolean): Promise<void> {
  const won = withOffer(line)
  const pinged = won.at(-1 - (pick % won.length))
  if (pinged) await postFor(line, pinged, isOther ? known : callerOf(pinged, known))
}

/** Two pings of a lane are posted at once, though the target that won the first has room for one call. */
export async function postTogether(
  line: ModelRun,
  first: SentPingModel,
  second: SentPingModel,
  hidden: string,
): Promise<void> {
  const { campaign, publisher } = first
  const pings = [await ping(line, first), await ping(line, { ...second, campaign, publisher })]
  const [winner] = pings[0]?.offer?.plan ?? []
  if (!winner) return
  await editTarget(line, winner.target, { concurrencyCap: 1 })
  for (const pinged of pings) await postFor(line, pinged, callerOf(pinged, hidden))
}

/** Whether an offer waits for its call. */
export const hasLiveOffers = ({ model: { offers, now } }: ModelRun) => offers.some((offer) => isLive(offer, now))

/** The call of an offer arrives on its number. */
async function playCallOf(line: ModelRun, offer: OfferModel, hidden: string, script: CallScript): Promise<void> {
  const dialed = offer.post?.number ?? offer.number ?? numberOf(offer)
  await playLiveCall(line, { dialed, caller: offer.post?.caller ?? offer.caller ?? hidden, key: null }, script)
}

/** The call of one of the live offers arrives. */
export async function playWonCall(line: ModelRun, pick: number, hidden: string, script: CallScript): Promise<void> {
  const { offers, now } = line.model
  const live = offers.filter((offer) => isLive(offer, now))
  const offer = live[pick % live.length]
  if (offer) await playCallOf(line, offer, hidden, script)
}

const paying = (payoutCents: number) => ({
  payoutMode: 'fixed' as const,
  payoutCents,
  revsharePct: null,
  minPayoutCents: null,
  maxPayoutCents: null,
})

/** A lane makes an offer that pays, and pays another amount when its call arrives. */
export async function playPaidCall(
  line: ModelRun,
  sent: SentPingModel,
  hidden: string,
  script: CallScript,
): Promise<void> {
  const { campaign, publisher } = sent
  await editLane(line, campaign, publisher, paying(700))
  const { offer } = await ping(line, sent)
  if (!offer) return
  await editLane(line, campaign, publisher, paying(1_250))
  await playCallOf(line, offer, hidden, script)
}
