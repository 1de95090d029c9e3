import { createWorkspace } from '../../../commands/access/create-workspace.ts'
import { createCampaign } from '../../../commands/campaigns/create-campaign.ts'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { setRoute } from '../../../commands/campaigns/set-route.ts'
import { createBuyer } from '../../../commands/demand/create-buyer.ts'
import { createTarget } from '../../../commands/demand/create-target.ts'
import { setTargetStatus } from '../../../commands/demand/set-target-status.ts'
import { creditWallet } from '../../../commands/money/credit-wallet.ts'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { createPublisher } from '../../../commands/supply/create-publisher.ts'
import { provisionNumber } from '../../../commands/supply/provision-number.ts'
import { reportNumberDelivery } from '../../../commands/supply/report-number-delivery.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { setPublisherStatus } from '../../../commands/supply/set-publisher-status.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import { hashOf } from '../fixtures/workspace-fixture.ts'
import { laneName } from './state.ts'
import { createSystem, type System } from './system.ts'
import { BUYERS, CAMPAIGNS, FUNDS, LANES, NUMBERS, PUBLISHERS, ROUTES, TARGETS, ZONE } from './world.ts'

/** Ids of the initial records, by name. */
export type Ids = ReadonlyMap<string, string>

/** The name of the routing key of a lane. */
export const keyName = (campaign: string, publisher: string) => `key of ${laneName(campaign, publisher)}`

async function createRecords(system: System): Promise<Ids> {
  const ids = new Map<string, string>()
  const of = (name: string | null) => (name === null ? null : (ids.get(name) ?? name))
  const done = async (command: AnyCommand, input: object, name?: string) => {
    const events = await system.execute(command, input)
    if (isRefusal(events)) throw new Error(`${command.name}: ${JSON.stringify(events)}`)
    const created: unknown = events[0]?.data
    for (const record of Object.values(created && typeof created === 'object' ? created : {})) {
      if (name && record && typeof record === 'object' && 'id' in record) ids.set(name, String(record.id))
    }
  }
  await done(createWorkspace, { name: 'Acme Media', timezone: ZONE, planId: 'scale', sandbox: true })
  await done(creditWallet, { amountCents: FUNDS, reference: 'first' })
  for (const name of BUYERS) await done(createBuyer, { name }, name)
  for (const name of PUBLISHERS) {
    await done(createPublisher, { name }, name)
    await done(setPublisherStatus, { publisherId: of(name), status: 'live' })
  }
  const unanswered = { unroutedMessage: 'Nobody is here.', unroutedForwardE164: '+14155550300' }
  for (const name of CAMPAIGNS) await done(createCampaign, { name, verticalId: 'solar', ...unanswered }, name)
  for (const [n, { name, buyer, type }] of TARGETS.entries()) {
    const endpoint = type === 'sip' ? { sipUri: `sip:${name}@pbx.example.com` } : { destinationE164: `+1415555020${n}` }
    await done(createTarget, { name, type, buyerId: of(buyer), endpoint }, name)
    await done(setTargetStatus, { targetId: of(name), status: 'active' })
  }
  for (const { campaign, target } of ROUTES) {
    await done(setRoute, { campaignId: of(campaign), targetId: of(target), settings: {} })
  }
  for (const { campaign, publisher } of LANES) {
    const key = { prefix: 'rk_', hash: hashOf(`${campaign} ${publisher}`) }
    await done(
      setLane,
      { campaignId: of(campaign), publisherId: of(publisher), terms: {}, key },
      keyName(campaign, publisher),
    )
  }
  for (const { e164, campaign, publisher } of NUMBERS) {
    await done(provisionNumber, { e164, type: 'local' }, e164)
    if (campaign === null) continue
    await done(assignNumber, { numberId: of(e164), campaignId: of(campaign), publisherId: of(publisher) })
    await done(reportNumberDelivery, { numberId: of(e164), error: null })
  }
  for (const name of CAMPAIGNS) await done(setCampaignStatus, { campaignId: of(name), status: 'live' })
  return ids
}

/** The day on which the initial records are created, before every history. */
const RECORDS_CREATED_AT = Date.UTC(2026, 0, 1)
let startingPoint: Promise<{ readonly ids: Ids; readonly events: readonly RecordedEvent[] }> | null = null

async function createRecordsOnce() {
  const system = createSystem(RECORDS_CREATED_AT, 1)
  return { ids: await createRecords(system), events: system.log.events }
}

/** Opens the engine with the records of the model's world, at an instant. */
export async function openSystem(
  startsAt: number,
  seed: number,
): Promise<{ readonly system: System; readonly ids: Ids }> {
  startingPoint ??= createRecordsOnce()
  const { ids, events } = await startingPoint
  return { system: createSystem(startsAt, seed, events), ids }
}
