import { createWorkspace } from '../../../commands/access/create-workspace.ts'
import { createWebhook } from '../../../commands/delivery/create-webhook.ts'
import { creditWallet } from '../../../commands/money/credit-wallet.ts'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { secretHash } from '../../../src/api/secret-hash.ts'
import { laneNumbers } from '../../../src/domain/auctions/lane-numbers.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import type { CommandContext } from '../../../src/ports/command-handler.ts'
import { emptyFold, foldEvents } from '../../../src/runtime/write/fold.ts'
import { createStreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type CampaignLine, createWorkspaceBuilder } from '../e2e/world.ts'
import { WORKSPACE } from '../fixtures/spec.ts'
import { createManualClock } from '../memory/clock.ts'
import { createMemoryLog } from '../memory/event-log.ts'
import { createMemoryOperationalStore } from '../memory/operational-store.ts'
import type { Endpoint } from '../oracle/deliveries.ts'
import { simulatedRandom } from './chance.ts'

/** Two minutes before an hour, a day and a month end at the same instant. */
export const SIMULATED_START = Date.UTC(2026, 10, 30, 23, 58)
/** Before the clock of any process shows it: endpoints hear what happens after they were created. */
const CONFIGURED_AT = SIMULATED_START - 600_000
const OPENING_CENTS = 40

/** A lane of a publisher. */
export interface SimulatedLane {
  readonly campaignId: string
  readonly publisherId: string
  readonly keyId: string
  /** Its numbers, in E.164. */
  readonly numbers: readonly string[]
}

/** An endpoint of the workspace. Nobody ever answers for a dead one. */
export interface SimulatedEndpoint extends Endpoint {
  readonly isDead: boolean
}

/** A workspace whose calls meet every kind of cap, failover, buffer and terms. It is the same in every run. */
export interface SimulatedWorld {
  readonly lines: readonly CampaignLine[]
  /** Buyers and targets whose settings never change, and those that are edited, paused and reset. */
  readonly steady: { readonly targets: readonly string[]; readonly buyers: readonly string[] }
  readonly edited: { readonly targets: readonly string[]; readonly buyers: readonly string[] }
  readonly publisherId: string
  /** The lanes of the publisher, on which it pings. */
  readonly lanes: readonly SimulatedLane[]
  /** The concurrency caps of the targets that are never edited. */
  readonly concurrency: ReadonlyMap<string, number>
  /** The events of the configuration without its endpoints. */
  readonly events: readonly RecordedEvent[]
  /** The endpoints of the workspace where it has any, and the events that create them. */
  readonly endpoints: readonly SimulatedEndpoint[]
  readonly endpointEvents: readonly RecordedEvent[]
}

/** The metadata of a simulated user's command. */
export function simulatedCommandCall(commandId: string): CommandContext {
  return {
    workspaceId: WORKSPACE,
    actor: { type: 'user', id: null, name: 'Ada' },
    commandId,
    correlationId: commandId,
    causationId: null,
    surface: 'console',
    ip: null,
  }
}

/** Executes commands on a log in memory, each at an instant of its own. */
function createExecutor() {
  const log = createMemoryLog()
  const clock = createManualClock(CONFIGURED_AT)
  const random = simulatedRandom(7, clock)
  const ops = createMemoryOperationalStore()
  const writer = createStreamWriter({ log, ops, clock, random, lookUp: async () => null })
  let commands = 0
  const handle = async (command: AnyCommand, input: unknown) => {
    commands += 1
    // Ids are ordered by the time at which they are made.
    await clock.advance(1)
    const outcome = await writer.handle(command, command.input.parse(input), simulatedCommandCall(`world-${commands}`))
    if (isRefusal(outcome)) throw new Error(`${command.name}: ${JSON.stringify(outcome)}`)
    return outcome.events
  }
  return { log, handle, token: (prefix: string) => `${prefix}${commands}` }
}

/** The lanes of a configuration. */
function lanesOf(events: readonly RecordedEvent[]): readonly SimulatedLane[] {
  const { lanes, numbers } = foldEvents(
    workspace,
    emptyFold(workspace),
    events.filter(({ type }) => type in workspace.events),
  ).state
  return [...lanes.values()].map(({ campaignId, publisherId, keyId }) => ({
    campaignId,
    publisherId,
    keyId: keyId ?? '',
    numbers: [...laneNumbers({ numbers }, campaignId, publisherId)].map(({ e164 }) => e164),
  }))
}

type Handle = ReturnType<typeof createExecutor>['handle']

/** Creates the endpoints: one that hears everything, one of a campaign, one of two events, and one that is dead. */
async function createEndpoints(handle: Handle, campaignId: string): Promise<readonly SimulatedEndpoint[]> {
  const all = [
    { name: 'everything', events: null, campaignId: null, isDead: false },
    { name: 'campaign', events: null, campaignId, isDead: false },
    { name: 'two', events: ['call.routed', 'call.completed'], campaignId: null, isDead: false },
    { name: 'dead', events: ['target.capped', 'wallet.low'], campaignId: null, isDead: true },
  ]
  const created: SimulatedEndpoint[] = []
  for (const [place, { name, ...rest }] of all.entries()) {
    const endpoint = { ...rest, id: `00000000-0000-7000-8000-00000000000${place}`, url: `https://${name}.example/in` }
    const settings = {
      ...{ name, url: endpoint.url, method: 'POST', headers: {}, bodyTemplate: null, note: null },
      ...{ eventPattern: endpoint.events ?? ['*'], campaignId: endpoint.campaignId, publisherId: null },
    }
    const secret = { version: 1, hash: secretHash(name), hint: 'whsec_' }
    await handle(createWebhook, { webhookId: endpoint.id, kind: 'webhook', settings, secret })
    created.push(endpoint)
  }
  return created
}

/** Builds the workspace through commands. */
export async function buildSimulatedWorld(): Promise<SimulatedWorld> {
  const { log, handle, token } = createExecutor()
  const { buyer, target, publisher, line, number } = createWorkspaceBuilder(handle, token)
  await handle(createWorkspace, { name: 'Simulated', timezone: 'America/New_York', planId: 'scale', sandbox: true })
  await handle(creditWallet, { amountCents: OPENING_CENTS, reference: 'opening' })

  const acme = await buyer({ name: 'Acme' })
  const bright = await buyer({ name: 'Bright', concurrencyCap: 3, hourlyCap: 5 })
  const fickle = await buyer({ name: 'Fickle', dailyCap: 6, dailyRevenueCapCents: 3_000 })
  const single = await target(acme, { name: 'Single line', concurrencyCap: 1, revenueCents: 900 })
  const scarce = await target(bright, { name: 'Scarce', dailyCap: 2, capCountsOn: 'claimed' })
  const pair = await target(bright, { name: 'Two lines', concurrencyCap: 2, hourlyCap: 3, capCountsOn: 'connected' })
  const sold = await target(acme, {
    name: 'Sold by conversion',
    monthlyCap: 2,
    capCountsOn: 'converted',
    durationThresholdSeconds: 20,
  })
  const rare = await target(acme, { name: 'Rare', totalCap: 3, dedupeWindowSeconds: 120 })
  const moody = await target(fickle, { name: 'Moody', dailyCap: 3, concurrencyCap: 2, durationThresholdSeconds: 10 })
  const open = await target(fickle, { name: 'Open', revenueCents: 1_500, dailyRevenueCapCents: 3_000 })

  const bidder = (
    name: string,
    { rtb = {}, ...settings }: { readonly rtb?: object; readonly [name: string]: unknown } = {},
  ) => {
    const asked = {
      bidUrl: 'https://bidder.example/bid',
      destination: { type: 'number', value: '+13125550980' },
      ...rtb,
    }
    return target(acme, { name, type: 'rtb', rtb: asked, revenueCents: null, ...settings })
  }
  const keen = await bidder('Keen bidder', { concurrencyCap: 1 })
  const told = await bidder('Told bidder', { hourlyCap: 3, rtb: { confirmUrl: 'https://bidder.example/won' } })

  const publisherId = await publisher({ name: 'North' })
  const fixed = { publisherId, terms: { payoutMode: 'fixed', payoutCents: 300, dailyCap: 4 } }
  const shared = { publisherId, terms: { payoutMode: 'revshare', revsharePct: 37.5, maxPayoutCents: 400 } }
  const tight = {
    publisherId,
    terms: { payoutMode: 'fixed', payoutCents: 250, concurrencyCap: 2, dailyCap: 5, dedupeWindowSeconds: 0 },
  }
  const waterfall = await line({ name: 'Waterfall' }, [single, scarce, keen, pair, open], fixed)
  const scarceLane = await line(
    { name: 'Won calls', concurrencyCap: 3, hourlyCap: 6 },
    [{ targetId: single, revenueOverrideCents: 700 }, pair, scarce, moody],
    tight,
  )
  const lines = [
    await line({ name: 'Highest bid', routingMode: 'highest_bid', dailyCap: 8 }, [keen, told, pair], shared),
    waterfall,
    scarceLane,
    await line({ name: 'Buffered', bufferSeconds: 45, routingMode: 'weighted' }, [pair, sold, moody, rare], shared),
    await line(
      { name: 'Capped', dailyCap: 5, concurrencyCap: 2, repeatCallerPolicy: 'block', dedupeWindowSeconds: 90 },
      [single, moody, open],
    ),
    await line(
      { name: 'Loyal', repeatCallerPolicy: 'same_target', dedupeWindowSeconds: 600, anonymousPolicy: 'block' },
      [rare, sold, single, pair],
    ),
  ]
  // Two lanes have a number to spare: one number is held for one hidden caller at a time.
  for (const { campaignId } of [waterfall, scarceLane]) {
    const { numberId } = await number()
    await handle(assignNumber, { numberId, campaignId, publisherId })
  }
  const { events } = log
  const configured = events.length
  const endpoints = await createEndpoints(handle, waterfall.campaignId)
  return {
    lines,
    steady: { targets: [single, scarce, pair, sold, rare, keen, told], buyers: [acme, bright] },
    edited: { targets: [moody, open], buyers: [fickle] },
    publisherId,
    lanes: lanesOf(events.slice(0, configured)),
    concurrency: new Map([
      [single, 1],
      [keen, 1],
      [pair, 2],
    ]),
    events: events.slice(0, configured),
    endpoints,
    endpointEvents: events.slice(configured),
  }
}
