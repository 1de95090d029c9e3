import fc from 'fast-check'
import type { Conversion } from './books.ts'
import * as edits from './edits.ts'
import { advanceCall, type DialScript, type ModelRun, openCalls, repeatNotice, startCall, wait } from './play.ts'
import {
  hasLiveOffers,
  hasOffers,
  pingLanes,
  playPaidCall,
  playWonCall,
  post,
  postTogether,
  type SentPingModel,
} from './play-auctions.ts'
import { type CallScript, callBusyTarget, playCall, type ScriptedCall } from './scripted-calls.ts'
import * as settings from './settings.ts'
import type { CallModel, CorrectionsModel } from './state.ts'
import { BUYERS, CALLERS, CAMPAIGNS, LANES, NUMBERS, PUBLISHERS, ROUTES, TARGETS } from './world.ts'

/** A step runs on model and system together and compares them, so both sides of fast-check have one type. */
type Command = fc.AsyncCommand<ModelRun, ModelRun>

/** Defines a step by its name and arguments; `possible` says when it can run. */
function step<Args extends readonly unknown[]>(
  name: string,
  args: fc.Arbitrary<Args>,
  run: (line: ModelRun, ...args: Args) => Promise<void>,
  possible: (line: ModelRun) => boolean = () => true,
): fc.Arbitrary<Command> {
  return args.map((values) => ({
    check: possible,
    run: (_model, line) => run(line, ...values),
    toString: () => `${name}(${values.map((value) => JSON.stringify(value)).join(', ')})`,
  }))
}

const target = fc.constantFrom(...TARGETS.map(({ name }) => name))
const buyer = fc.constantFrom(...BUYERS)
const campaign = fc.constantFrom(...CAMPAIGNS)
const publisher = fc.constantFrom(...PUBLISHERS)
const lane = fc.constantFrom(...LANES)
const number = fc.constantFrom(...NUMBERS.flatMap(({ e164, campaign }) => (campaign ? [e164, e164, e164] : [e164])))
// The first callers call most often, so that they are repeat callers.
const caller = fc.constantFrom(...CALLERS.slice(0, 1), ...CALLERS.slice(0, 2), ...CALLERS)
const known = fc.constantFrom(...CALLERS.filter((each) => each !== null))
const scope = fc.option(campaign)
const edge = fc.constantFrom('hour' as const, 'day' as const, 'month' as const)

const seconds = (max: number) =>
  fc.tuple(fc.integer({ min: 0, max }), fc.constantFrom(0, 0, 499, 500)).map(([whole, ms]) => whole * 1_000 + ms)

const dialEnd = fc.constantFrom('no_answer' as const, 'busy' as const, 'rejected' as const, 'failed' as const)
const dial: fc.Arbitrary<DialScript> = fc.record({
  end: fc.oneof(
    { weight: 4, arbitrary: fc.constant('answer' as const) },
    { weight: 5, arbitrary: dialEnd },
    { weight: 1, arbitrary: fc.constantFrom('gives_up' as const, 'unavailable' as const) },
  ),
  ringMs: seconds(40),
  retryAfterSeconds: fc.constantFrom(null, 10, 7_200),
})
const by = fc.constantFrom('caller' as const, 'agent' as const)
const called = { dialed: number, caller, key: fc.option(lane, { freq: 8 }) }
const course = {
  dials: fc.array(dial, { maxLength: 4 }),
  talkMs: fc.oneof(seconds(130), fc.constantFrom(29_499, 29_500, 30_000, 59_499, 60_000, 60_500)),
  by,
}
const script: fc.Arbitrary<ScriptedCall> = fc.record({
  ...called,
  ...course,
  before: fc.oneof(fc.integer({ min: 0, max: 60_000 }), fc.integer({ min: 0, max: 144_000_000 })),
  edge: fc.option(edge, { freq: 2 }),
})

const sentPing: fc.Arbitrary<SentPingModel> = fc
  .record({
    lane,
    singleStep: fc.constantFrom(false, false, true),
    callerNumber: fc.oneof(
      { weight: 20, arbitrary: caller },
      { weight: 3, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constant('call me') },
    ),
    callerState: fc.constantFrom(null, null, null, 'NY', 'TX'),
    floorCents: fc.constantFrom(null, null, null, null, null, 600, 2_000),
    tags: fc.constantFrom({}, {}, { publisher: 'P2' }, { callerState: 'NY', deal: 'open' }),
  })
  .map(({ lane, ...sent }) => ({ ...lane, ...sent }))
const hiddenPing = sentPing.map((sent) => ({ ...sent, callerNumber: null }))

const wonCall: fc.Arbitrary<CallScript> = fc.record(course)

const onOff = fc.constantFrom('active' as const, 'active' as const, 'active' as const, 'paused' as const)
const liveOrNot = fc.constantFrom('live' as const, 'live' as const, 'live' as const, 'paused' as const)

const figure = fc.constantFrom(0, 500, 2_500)
const conversion: fc.Arbitrary<Conversion> = fc.record({
  source: fc.constantFrom('postback' as const, 'manual' as const),
  revenueCents: fc.option(figure),
  externalId: fc.constantFrom(null, 'deal-1'),
})
const correction: fc.Arbitrary<CorrectionsModel> = fc.record<Required<CorrectionsModel>, never>(
  { converted: fc.boolean(), revenueCents: figure, payoutCents: figure },
  { requiredKeys: [] },
)
const tags = fc.constantFrom({ deal: 'won' }, { deal: null, 'a.b': '1' }, { publisher: null })

const hasCalls = ({ model }: ModelRun) => model.calls.length > 0
/** One of the calls, most likely a recent one. */
function recentCall({ model: { calls } }: ModelRun, pick: number): CallModel {
  const call = calls.at(-1 - (pick % calls.length))
  if (!call) throw new Error('Nobody has called.')
  return call
}

/** One setting of a record. */
function oneSetting<Settings>(arbitraries: { readonly [K in keyof Settings]: fc.Arbitrary<Settings[K]> }) {
  const each = Object.entries<fc.Arbitrary<unknown>>(arbitraries).map(([key, values]) =>
    values.map((value) => ({ [key]: value })),
  )
  return fc.oneof(...each) as fc.Arbitrary<Partial<Settings>>
}

/** The steps and how often each is taken. */
const WEIGHED: readonly (readonly [number, fc.Arbitrary<Command>])[] = [
  [40, step('playCall', fc.tuple(script), playCall)],
  [2, step('callBusyTarget', fc.tuple(fc.record(called), caller, dialEnd), callBusyTarget)],
  [8, step('startCall', fc.tuple(fc.record(called)), startCall)],
  [16, step('goOn', fc.tuple(fc.nat(5), dial, by), advanceCall, (line) => openCalls(line).length > 0)],
  [8, step('wait', fc.tuple(fc.oneof(seconds(40), seconds(7_300)), fc.option(edge, { freq: 2 })), wait)],
  [
    6,
    step(
      'convert',
      fc.tuple(fc.nat(20), conversion),
      (line, pick, conversion) => edits.convert(line, recentCall(line, pick), conversion),
      hasCalls,
    ),
  ],
  [
    5,
    step(
      'correct',
      fc.tuple(fc.nat(20), correction),
      (line, pick, changes) => edits.correct(line, recentCall(line, pick), changes),
      hasCalls,
    ),
  ],
  [
    1,
    step(
      'tag',
      fc.tuple(fc.nat(20), tags),
      (line, pick, sent) => edits.tag(line, recentCall(line, pick), sent),
      hasCalls,
    ),
  ],
  [10, step('pingLanes', fc.tuple(sentPing), pingLanes)],
  [8, step('post', fc.tuple(fc.nat(2), known, fc.constantFrom(false, false, false, false, true)), post, hasOffers)],
  [2, step('postTogether', fc.tuple(sentPing, fc.oneof(sentPing, hiddenPing), known), postTogether)],
  [6, step('playWonCall', fc.tuple(fc.nat(3), known, wonCall), playWonCall, hasLiveOffers)],
  [4, step('playPaidCall', fc.tuple(sentPing, known, wonCall), playPaidCall)],
  [3, step('repeat', fc.tuple(fc.nat()), repeatNotice, ({ notices }) => notices.length > 0)],
  [4, step('editTarget', fc.tuple(target, oneSetting(settings.targetSettings)), edits.editTarget)],
  [2, step('editBuyer', fc.tuple(buyer, oneSetting(settings.buyerSettings)), edits.editBuyer)],
  [2, step('editCampaign', fc.tuple(campaign, oneSetting(settings.campaignSettings)), edits.editCampaign)],
  [
    2,
    step('editLane', fc.tuple(lane, settings.someLane), (line, { campaign, publisher }, terms) =>
      edits.editLane(line, campaign, publisher, terms),
    ),
  ],
  [2, step('editRoute', fc.tuple(campaign, target, oneSetting(settings.routeSettings)), edits.editRoute)],
  [1, step('dropRoute', fc.tuple(campaign, target), edits.dropRoute)],
  [4, step('resetCaps', fc.tuple(target), edits.resetCaps)],
  [2, step('switchTarget', fc.tuple(target, onOff), edits.switchTarget)],
  [2, step('switchBuyer', fc.tuple(buyer, onOff), edits.switchBuyer)],
  [2, step('switchCampaign', fc.tuple(campaign, liveOrNot), edits.switchCampaign)],
  [1, step('switchPublisher', fc.tuple(publisher, liveOrNot), edits.switchPublisher)],
  [
    1,
    step(
      'subscribe',
      fc.tuple(fc.constantFrom('active' as const, 'active' as const, 'active' as const, 'past_due' as const)),
      edits.subscribe,
    ),
  ],
  [
    1,
    step(
      'movePlan',
      fc.tuple(fc.constantFrom('starter' as const, 'growth' as const, 'scale' as const)),
      edits.movePlan,
    ),
  ],
  [2, step('credit', fc.tuple(fc.constantFrom(1, 10, 200)), edits.credit)],
  [1, step('block', fc.tuple(known, scope), edits.block)],
  [1, step('unblock', fc.tuple(known, scope), edits.unblock)],
]

/** The steps of one history. */
export const commands: fc.Arbitrary<Command>[] = WEIGHED.flatMap(([weight, arbitrary]) =>
  Array.from({ length: weight }, () => arbitrary),
)

/** The settings of the records before the first call. */
export const initialSettings = fc.record({
  startsAt: fc
    .tuple(
      fc.constantFrom(
        '2026-03-08T06:50:00.000Z',
        '2026-03-31T23:50:00.000Z',
        '2026-07-15T13:30:00.000Z',
        '2026-11-01T05:30:00.000Z',
        '2026-12-31T23:40:00.000Z',
      ),
      fc.nat(1_000_000),
    )
    .map(([instant, ms]) => Date.parse(instant) + ms),
  /** Seed of the chance that orders plans. */
  seed: fc.nat(),
  targets: fc.tuple(...TARGETS.map(() => settings.someTarget)),
  buyers: fc.tuple(...BUYERS.map(() => settings.someBuyer)),
  campaigns: fc.tuple(...CAMPAIGNS.map(() => settings.someCampaign)),
  lanes: fc.tuple(...LANES.map(() => settings.someLane)),
  routes: fc.tuple(...ROUTES.map(() => settings.someRoute)),
})

type InitialSettings = typeof initialSettings extends fc.Arbitrary<infer Value> ? Value : never

/** Applies the initial settings to model and system. */
export async function applySettings(line: ModelRun, furnished: InitialSettings): Promise<void> {
  const { targets, buyers, campaigns, lanes, routes } = furnished
  for (const [n, { name }] of TARGETS.entries()) await edits.editTarget(line, name, targets[n] ?? {})
  for (const [n, name] of BUYERS.entries()) await edits.editBuyer(line, name, buyers[n] ?? {})
  for (const [n, name] of CAMPAIGNS.entries()) await edits.editCampaign(line, name, campaigns[n] ?? {})
  for (const [n, { campaign, publisher }] of LANES.entries()) {
    await edits.editLane(line, campaign, publisher, lanes[n] ?? {})
  }
  for (const [n, { campaign, target }] of ROUTES.entries())
    await edits.editRoute(line, campaign, target, routes[n] ?? {})
}
