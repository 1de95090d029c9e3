import { createCampaign } from '../../commands/campaigns/create-campaign.ts'
import { setCampaignStatus } from '../../commands/campaigns/set-campaign-status.ts'
import { setRoute } from '../../commands/campaigns/set-route.ts'
import { changeTarget } from '../../commands/demand/change-target.ts'
import { createBuyer } from '../../commands/demand/create-buyer.ts'
import { createTarget } from '../../commands/demand/create-target.ts'
import { setBuyerStatus } from '../../commands/demand/set-buyer-status.ts'
import { setTargetStatus } from '../../commands/demand/set-target-status.ts'
import { creditWallet } from '../../commands/money/credit-wallet.ts'
import { blockCaller } from '../../commands/routing/block-caller.ts'
import { assignNumber } from '../../commands/supply/assign-number.ts'
import { createPublisher } from '../../commands/supply/create-publisher.ts'
import { provisionNumber } from '../../commands/supply/provision-number.ts'
import { reportNumberDelivery } from '../../commands/supply/report-number-delivery.ts'
import { setLane } from '../../commands/supply/set-lane.ts'
import { setPublisherStatus } from '../../commands/supply/set-publisher-status.ts'
import { campaignEvents } from '../domain/campaigns/campaign.ts'
import { buyerEvents } from '../domain/demand/buyer.ts'
import { targetEvents } from '../domain/demand/target.ts'
import { numberEvents } from '../domain/supply/number.ts'
import { type Publisher, publisherEvents } from '../domain/supply/publisher.ts'
import { keyStem } from '../domain/supply/routing-key.ts'
import type { AnyCommand } from '../kernel/command.ts'
import type { RecordedEvent } from '../kernel/event.ts'

/** Handles a command once per step name: a repetition returns the events of the first time. */
export type SeedStep = (step: string, command: AnyCommand, input: unknown) => Promise<readonly RecordedEvent[]>

const CLOSED = [] as const
/** Open for one minute a week, so that nearly every call arrives outside of these hours. */
const NEARLY_CLOSED = {
  tz: 'UTC',
  days: { mon: [['00:00', '00:01']], tue: CLOSED, wed: CLOSED, thu: CLOSED, fri: CLOSED, sat: CLOSED, sun: CLOSED },
}
const WALLET_CENTS = 100_000

/** The caller on the sandbox workspace's block list. */
export const BLOCKED_CALLER = '+12125550199'

const BUYERS = {
  acme: { name: 'Acme Roofing', company: 'Acme Inc.', contactName: 'Ada Stone' },
  bright: { name: 'Bright Solar', dailyCap: 1 },
  civic: { name: 'Civic Legal' },
  dormant: { name: 'Dormant Leads' },
} as const

const number = (destinationE164: string) => ({ destinationE164 })

const TARGETS = {
  primary: {
    type: 'number',
    name: 'Acme front desk',
    buyer: 'acme',
    revenueCents: 4_500,
    durationThresholdSeconds: 30,
    endpoint: number('+13125550101'),
  },
  overflow: {
    type: 'sip',
    name: 'Acme overflow',
    buyer: 'acme',
    revenueCents: 3_800,
    durationThresholdSeconds: 30,
    endpoint: { sipUri: 'sip:overflow@acme.example' },
  },
  delivery: { type: 'number', name: 'Civic intake', buyer: 'civic', revenueCents: 0, endpoint: number('+13125550102') },
  paused: {
    type: 'number',
    name: 'Acme night shift',
    buyer: 'acme',
    revenueCents: 5_000,
    endpoint: number('+13125550103'),
  },
  dormant: {
    type: 'number',
    name: 'Dormant desk',
    buyer: 'dormant',
    revenueCents: 6_000,
    endpoint: number('+13125550104'),
  },
  unplugged: {
    type: 'number',
    name: 'Acme unplugged',
    buyer: 'acme',
    revenueCents: 5_500,
    endpoint: number('+13125550105'),
  },
  closed: {
    type: 'number',
    name: 'Acme early bird',
    buyer: 'acme',
    revenueCents: 5_200,
    hoursSchedule: NEARLY_CLOSED,
    endpoint: number('+13125550106'),
  },
  texas: {
    type: 'number',
    name: 'Civic Texas',
    buyer: 'civic',
    revenueCents: 5_100,
    states: ['TX'],
    endpoint: number('+13125550107'),
  },
  single: {
    type: 'number',
    name: 'Civic single line',
    buyer: 'civic',
    revenueCents: 7_000,
    concurrencyCap: 1,
    endpoint: number('+13125550108'),
  },
  scarce: {
    type: 'number',
    name: 'Civic scarce',
    buyer: 'civic',
    revenueCents: 6_500,
    dailyCap: 2,
    capCountsOn: 'claimed',
    endpoint: number('+13125550109'),
  },
  bright: {
    type: 'number',
    name: 'Bright hotline',
    buyer: 'bright',
    revenueCents: 8_000,
    durationThresholdSeconds: 60,
    endpoint: number('+13125550110'),
  },
  bidder: { type: 'rtb', name: 'Civic exchange', buyer: 'civic' },
} as const

type TargetKey = keyof typeof TARGETS

const PUBLISHERS = { north: 'North Media', south: 'South Search' } as const

export interface CampaignSeed {
  readonly key: string
  readonly settings: Readonly<Record<string, unknown>>
  /** Keys of its targets, in their order. */
  readonly plan: readonly string[]
  readonly e164: string
  readonly publisher?: keyof typeof PUBLISHERS
  readonly terms?: Readonly<Record<string, unknown>>
}

const FALLBACK: readonly TargetKey[] = ['primary', 'overflow']

/** Each campaign demonstrates what its name says. */
const CAMPAIGNS = [
  {
    key: 'waterfall',
    settings: { name: 'Roofing leads', verticalId: 'roofing' },
    plan: FALLBACK,
    e164: '+13105550101',
    publisher: 'north',
    terms: { payoutMode: 'revshare', revsharePct: 60, minPayoutCents: 500 },
  },
  {
    key: 'weighted',
    settings: { name: 'Home services mix', verticalId: 'home-services', routingMode: 'weighted', bufferSeconds: 60 },
    plan: ['primary', 'overflow', 'bright', 'delivery'],
    e164: '+13105550102',
    publisher: 'south',
    terms: { payoutMode: 'fixed', payoutCents: 1_500 },
  },
  {
    key: 'skips',
    settings: { name: 'Every skip reason', verticalId: 'legal' },
    plan: ['paused', 'dormant', 'unplugged', 'closed', 'texas', 'scarce', 'bright', 'overflow'],
    e164: '+13105550103',
  },
  {
    key: 'busy',
    settings: { name: 'One line only', verticalId: 'legal' },
    plan: ['single', 'delivery'],
    e164: '+13105550104',
  },
  {
    key: 'strict',
    settings: { name: 'No anonymous callers', verticalId: 'medicare', anonymousPolicy: 'block' },
    plan: FALLBACK,
    e164: '+13105550105',
  },
  {
    key: 'shut',
    settings: { name: 'Nearly always closed', verticalId: 'tax', hoursSchedule: NEARLY_CLOSED },
    plan: FALLBACK,
    e164: '+13105550106',
  },
  {
    key: 'capped',
    settings: { name: 'Two calls a day', verticalId: 'travel', dailyCap: 2 },
    plan: FALLBACK,
    e164: '+13105550107',
  },
  {
    key: 'once',
    settings: {
      name: 'Each caller once',
      verticalId: 'solar',
      repeatCallerPolicy: 'block',
      dedupeWindowSeconds: 604_800,
      unroutedAction: 'message',
      unroutedMessage: 'You have reached us already.',
    },
    plan: FALLBACK,
    e164: '+13105550108',
  },
  {
    key: 'resting',
    settings: { name: 'Paused campaign', verticalId: 'mortgage' },
    plan: FALLBACK,
    e164: '+13105550109',
  },
  {
    key: 'blind',
    settings: { name: 'Nobody can take it', verticalId: 'plumbing' },
    plan: ['paused', 'dormant'],
    e164: '+13105550110',
  },
  { key: 'hollow', settings: { name: 'No plan left', verticalId: 'other' }, plan: ['bidder'], e164: '+13105550111' },
] as const satisfies readonly CampaignSeed[]

/** Numbers of the campaigns, in the order in which they are seeded. */
export const CAMPAIGN_NUMBERS: readonly string[] = CAMPAIGNS.map(({ e164 }) => e164)

export type CampaignKey = (typeof CAMPAIGNS)[number]['key']

const created = (events: readonly RecordedEvent[], type: string) => events.find((event) => event.type === type)?.data

/** The world that the seed has built. */
export interface World {
  /** Number to dial (E.164) for each campaign. */
  readonly dial: ReadonlyMap<CampaignKey, string>
  readonly buyers: Ids
  readonly targets: Ids
  readonly publishers: Readonly<Record<string, Publisher>>
}

/** Ids by the key of a table above. */
type Ids = Readonly<Record<string, string>>

async function buildBuyers(step: SeedStep): Promise<Ids> {
  const ids: Record<string, string> = {}
  for (const [key, settings] of Object.entries(BUYERS)) {
    const events = await step(`buyer-${key}`, createBuyer, settings)
    ids[key] = buyerEvents.BuyerCreated.parse(created(events, 'BuyerCreated')).buyer.id
  }
  return ids
}

async function buildTargets(step: SeedStep, buyers: Ids): Promise<Ids> {
  const ids: Record<string, string> = {}
  for (const [key, { buyer, ...settings }] of Object.entries(TARGETS)) {
    const rtb = settings.type === 'rtb' ? { rtb: { bidUrl: 'http://127.0.0.1:9/bid' } } : {}
    const events = await step(`target-${key}`, createTarget, { ...settings, ...rtb, buyerId: buyers[buyer] })
    const targetId = targetEvents.TargetCreated.parse(created(events, 'TargetCreated')).target.id
    ids[key] = targetId
    await step(`target-${key}-active`, setTargetStatus, { targetId, status: 'active' })
  }
  return ids
}

async function buildPublishers(step: SeedStep): Promise<Readonly<Record<string, Publisher>>> {
  const publishers: Record<string, Publisher> = {}
  for (const [key, name] of Object.entries(PUBLISHERS)) {
    const events = await step(`publisher-${key}`, createPublisher, { name })
    const { publisher } = publisherEvents.PublisherCreated.parse(created(events, 'PublisherCreated'))
    publishers[key] = publisher
    await step(`publisher-${key}-live`, setPublisherStatus, { publisherId: publisher.id, status: 'live' })
  }
  return publishers
}

/** Creates a lane's routing key from its stem; only its prefix and hash are stored. */
export type NewKey = (stem: string) => { readonly prefix: string; readonly hash: string }

/** Creates a campaign with its lane, routes and number, and sets it live. Resolves to its id. */
export async function buildCampaign(
  step: SeedStep,
  { key, settings, plan, e164, publisher: publisherKey, terms = {} }: CampaignSeed,
  {
    targets,
    publishers,
    newKey,
    renewsAt,
  }: {
    readonly targets: Ids
    readonly publishers: Readonly<Record<string, Publisher>>
    readonly newKey: NewKey
    readonly renewsAt: string
  },
): Promise<string> {
  const events = await step(`campaign-${key}`, createCampaign, settings)
  const { campaign } = campaignEvents.CampaignCreated.parse(created(events, 'CampaignCreated'))
  const campaignId = campaign.id
  const publisher = publisherKey && publishers[publisherKey]
  const publisherId = publisher?.id ?? null
  if (publisher) {
    const routingKey = newKey(keyStem(campaign.routingKeyPrefix, publisher.routingPrefix))
    await step(`lane-${key}`, setLane, { campaignId, publisherId, terms, key: routingKey })
  }
  for (const [n, target] of plan.entries()) {
    const route = { priority: (n + 1) * 10, weight: 100 }
    await step(`route-${key}-${target}`, setRoute, { campaignId, targetId: targets[target], settings: route })
  }
  const number = { e164, type: 'local', label: settings.name, renewsAt }
  const provisioned = await step(`number-${key}`, provisionNumber, number)
  const numberId = numberEvents.NumberProvisioned.parse(created(provisioned, 'NumberProvisioned')).number.id
  await step(`number-${key}-campaign`, assignNumber, { numberId, campaignId, publisherId })
  await step(`number-${key}-ready`, reportNumberDelivery, { numberId, error: null })
  await step(`campaign-${key}-live`, setCampaignStatus, { campaignId, status: 'live' })
  return campaignId
}

/** Applies the changes that are only possible on live records. */
async function applyChanges(step: SeedStep, buyers: Ids, targets: Ids, campaigns: Ids): Promise<void> {
  await step('pause-target', setTargetStatus, { targetId: targets.paused, status: 'paused' })
  await step('unplug-target', changeTarget, {
    targetId: targets.unplugged,
    changes: { endpoint: { destinationE164: null } },
  })
  await step('pause-buyer', setBuyerStatus, { buyerId: buyers.dormant, status: 'paused' })
  await step('pause-campaign', setCampaignStatus, {
    campaignId: campaigns.resting,
    status: 'paused',
    note: 'Resting',
  })
  await step('switch-off-route', setRoute, {
    campaignId: campaigns.hollow,
    targetId: targets.bidder,
    settings: { active: false },
  })
  await step('block', blockCaller, { callerNumber: BLOCKED_CALLER, reason: 'Prank calls' })
}

/**
 * Builds the sandbox workspace: its records show every gate and skip reason that one workspace can. The rent of its
 * numbers falls due at `renewsAt` (ISO).
 * @throws Error when a command is refused; LogUnavailable
 */
export async function buildWorld(step: SeedStep, newKey: NewKey, renewsAt: string): Promise<World> {
  await step('credit', creditWallet, { amountCents: WALLET_CENTS, reference: 'seed', note: 'Sandbox money' })
  const buyers = await buildBuyers(step)
  const targets = await buildTargets(step, buyers)
  const publishers = await buildPublishers(step)
  const campaigns: Record<string, string> = {}
  for (const seed of CAMPAIGNS) {
    campaigns[seed.key] = await buildCampaign(step, seed, { targets, publishers, newKey, renewsAt })
  }
  await applyChanges(step, buyers, targets, campaigns)
  return { dial: new Map(CAMPAIGNS.map(({ key, e164 }) => [key, e164])), buyers, targets, publishers }
}
