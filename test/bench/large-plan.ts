import { createCampaign } from '../../commands/campaigns/create-campaign.ts'
import { setCampaignStatus } from '../../commands/campaigns/set-campaign-status.ts'
import { setRoute } from '../../commands/campaigns/set-route.ts'
import { createBuyer } from '../../commands/demand/create-buyer.ts'
import { createTarget } from '../../commands/demand/create-target.ts'
import { setTargetStatus } from '../../commands/demand/set-target-status.ts'
import { creditWallet } from '../../commands/money/credit-wallet.ts'
import { blockCaller } from '../../commands/routing/block-caller.ts'
import { routeCall } from '../../commands/routing/route-call.ts'
import { assignNumber } from '../../commands/supply/assign-number.ts'
import { createPublisher } from '../../commands/supply/create-publisher.ts'
import { provisionNumber } from '../../commands/supply/provision-number.ts'
import { reportNumberDelivery } from '../../commands/supply/report-number-delivery.ts'
import { setLane } from '../../commands/supply/set-lane.ts'
import { setPublisherStatus } from '../../commands/supply/set-publisher-status.ts'
import { secretHash } from '../../src/api/secret-hash.ts'
import type { AnyCommand } from '../../src/kernel/command.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { createStreamWriter } from '../../src/runtime/write/stream-writer.ts'
import { createTenant, execute } from '../../src/seed/tenants.ts'
import { createManualClock } from '../support/memory/clock.ts'
import { createMemoryLog } from '../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../support/memory/operational-store.ts'
import { createSeededRandom } from '../support/memory/random.ts'

const CAMPAIGNS = 10
const PUBLISHERS = 100
const BUYERS = 40
export const TARGETS = 200
const BLOCKED = 500
/** Calls of the last half hour, which the ledger's fold keeps. */
const EARLIER = 400

export const DIALED = '+13055550100'
/** A Saturday at noon UTC. */
export const NOON = Date.UTC(2026, 10, 21, 12)
const ZONES = ['America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles', 'America/Phoenix', 'UTC']
const SHUT = [] as const
const HOURS = { mon: SHUT, tue: SHUT, wed: SHUT, thu: SHUT, fri: SHUT, sun: SHUT }
const OPEN = [
  ['00:00', '00:30'],
  ['01:00', '01:30'],
  ['02:00', '23:59'],
] as const

/** The rules that block the n-th target: hours, states, or a cap that earlier calls used up. */
const BLOCKING_RULES = [
  (tz: string) => ({ hoursSchedule: { tz, days: { ...HOURS, sat: [['00:00', '00:01']] } } }),
  (tz: string) => ({ hoursSchedule: { tz, days: { ...HOURS, sat: OPEN } }, states: ['AK', 'HI'] }),
  (tz: string) => ({ hoursSchedule: { tz, days: { ...HOURS, sat: OPEN } }, dailyCap: 1, capCountsOn: 'claimed' }),
  (tz: string) => ({
    hoursSchedule: { tz, days: { ...HOURS, sat: OPEN } },
    states: ['NY', 'CA', 'TX'],
    hourlyCap: 500,
    dailyCap: 1_000,
    totalCap: 1,
    capCountsOn: 'claimed',
  }),
] as const

/** The caller of the n-th call, from one of three states. */
export function callerOf(n: number): string {
  return `+1${['212', '415', '713'][n % 3]}555${String(n % 10_000).padStart(4, '0')}`
}

/** Runs commands of the workspace. */
type Run = (command: AnyCommand, input: unknown) => Promise<readonly RecordedEvent[]>

const many = (count: number, create: (n: number) => Promise<string>) =>
  Promise.all(Array.from({ length: count }, (_, n) => create(n)))

/** Creates a record; its id. */
async function create(run: Run, command: AnyCommand, input: unknown, record: string): Promise<string> {
  const [event] = await run(command, input)
  const { data } = event as RecordedEvent<string, Readonly<Record<string, { readonly id: string }>>>
  return data[record]?.id ?? ''
}

/** Campaigns, and a lane of each for every publisher; the ids of the first campaign and publisher. */
async function createLanes(run: Run) {
  const publishers = await many(PUBLISHERS, async (n) => {
    const publisherId = await create(run, createPublisher, { name: `Publisher ${n}` }, 'publisher')
    await run(setPublisherStatus, { publisherId, status: 'live' })
    return publisherId
  })
  const campaigns = await many(CAMPAIGNS, (n) =>
    create(run, createCampaign, { name: `Campaign ${n}`, verticalId: 'roofing', routingMode: 'priority' }, 'campaign'),
  )
  const lanes = campaigns.flatMap((campaignId) => publishers.map((publisherId) => ({ campaignId, publisherId })))
  await Promise.all(
    lanes.map((lane, n) => {
      const key = { prefix: 'rk_', hash: secretHash(String(n)) }
      return run(setLane, { ...lane, terms: { dailyCap: 5_000 }, key })
    }),
  )
  return { campaignId: campaigns[0] ?? '', publisherId: publishers[0] ?? '' }
}

/** Targets on the campaign's plan. Only the last one can take a call. */
async function createTargets(run: Run, campaignId: string, buyers: readonly string[]): Promise<void> {
  await many(TARGETS, async (n) => {
    const last = n === TARGETS - 1
    const rules = last ? {} : BLOCKING_RULES[n % BLOCKING_RULES.length]?.(ZONES[n % ZONES.length] ?? 'UTC')
    const endpoint = { destinationE164: `+1312${String(5_550_000 + n)}` }
    const settings = { name: `Target ${n}`, type: 'number', buyerId: buyers[n % BUYERS], revenueCents: 1_000 + n }
    const targetId = await create(run, createTarget, { ...settings, endpoint, ...rules }, 'target')
    await run(setTargetStatus, { targetId, status: 'active' })
    await run(setRoute, {
      campaignId,
      targetId,
      settings: { priority: last ? 900 : 1 + (n % 50), weight: 1 + (n % 9) },
    })
    return targetId
  })
}

/** Puts the campaign live on a number. */
async function goLive(run: Run, lane: { readonly campaignId: string; readonly publisherId: string }): Promise<void> {
  const number = { e164: DIALED, type: 'local', label: 'Bench', renewsAt: '2027-01-01T00:00:00.000Z' }
  const numberId = await create(run, provisionNumber, number, 'number')
  await run(assignNumber, { numberId, ...lane })
  await run(reportNumberDelivery, { numberId, error: null })
  await run(setCampaignStatus, { campaignId: lane.campaignId, status: 'live' })
}

/** A live campaign in memory with 200 targets, of which one can take a call, in a workspace of 1,000 lanes. */
export async function largePlan() {
  const clock = createManualClock(NOON)
  const random = createSeededRandom(11)
  const log = createMemoryLog()
  const writer = createStreamWriter({
    log,
    ops: createMemoryOperationalStore(),
    clock,
    random,
    lookUp: async () => null,
  })
  const workspaceId = random.uuid()
  const owner = { email: 'owner@bench.example', name: 'Owner', password: random.uuid() }
  await createTenant(writer, { workspaceId, name: 'Bench', timezone: 'UTC', planId: 'scale', sandbox: true, owner })
  const run: Run = (command, input) => execute(writer, workspaceId, command, input)

  await run(creditWallet, { amountCents: 1_000_000, reference: 'bench' })
  const buyers = await many(BUYERS, (n) => create(run, createBuyer, { name: `Buyer ${n}`, dailyCap: 5_000 }, 'buyer'))
  const lane = await createLanes(run)
  await createTargets(run, lane.campaignId, buyers)
  await goLive(run, lane)
  await many(BLOCKED, async (n) => {
    await run(blockCaller, { callerNumber: `+1917555${String(n).padStart(4, '0')}` })
    return ''
  })

  const call = (n: number) => {
    const occurredAt = new Date(clock.now() - 1_800_000 + n).toISOString()
    const callId = random.uuid()
    return {
      callId,
      carrierCallId: callId,
      to: DIALED,
      caller: callerOf(n),
      routingKeyHash: null,
      judgesHeldBack: true,
      seed: null,
      occurredAt,
    }
  }
  for (let n = 0; n < EARLIER; n++) await run(routeCall, call(n))
  return { writer, workspaceId, call, log }
}
