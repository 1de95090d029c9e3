import { createHash } from 'node:crypto'
import { assignNumber } from '../../commands/assign-number.ts'
import { createBuyer } from '../../commands/create-buyer.ts'
import { createCampaign } from '../../commands/create-campaign.ts'
import { createPublisher } from '../../commands/create-publisher.ts'
import { createTarget } from '../../commands/create-target.ts'
import { createWorkspace } from '../../commands/create-workspace.ts'
import { provisionNumber } from '../../commands/provision-number.ts'
import { reportNumberDelivery } from '../../commands/report-number-delivery.ts'
import { setLane } from '../../commands/set-lane.ts'
import { setRoute } from '../../commands/set-route.ts'
import { setTargetStatus } from '../../commands/set-target-status.ts'
import { workspace } from '../../src/domain/workspace.ts'
import type { AnyCommand } from '../../src/kernel/command.ts'
import type { NewEvent } from '../../src/kernel/event.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { given } from './spec.ts'

/** A SHA-256 in hex, for a secret that a test names. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** A command, and its input given what has happened. */
export type Step = readonly [AnyCommand, (events: readonly NewEvent[]) => unknown]

/** Ids that one step may mint. */
const IDS = 16

/** The events that commands write, one after another; each mints ids of its own. */
export function history(...steps: readonly Step[]): readonly NewEvent[] {
  let events: readonly NewEvent[] = []
  steps.forEach(([command, input], step) => {
    const taken = given(workspace, events).when(command, input(events), { firstId: (step + 1) * IDS })
    if (isRefusal(taken.outcome)) throw new Error(`${command.name}: ${JSON.stringify(taken.outcome)}`)
    events = taken.events
  })
  return events
}

/** The id of the n-th record that a created kind of event holds. */
export function idIn(events: readonly NewEvent[], type: string, field: string, n = 0): string {
  const data: unknown = events.filter((event) => event.type === type)[n]?.data
  const record: unknown = data && typeof data === 'object' && field in data ? Reflect.get(data, field) : null
  return String(record && typeof record === 'object' && 'id' in record ? record.id : null)
}

export const buyerIn = (events: readonly NewEvent[], n = 0) => idIn(events, 'BuyerCreated', 'buyer', n)
export const publisherIn = (events: readonly NewEvent[], n = 0) => idIn(events, 'PublisherCreated', 'publisher', n)
export const campaignIn = (events: readonly NewEvent[], n = 0) => idIn(events, 'CampaignCreated', 'campaign', n)
export const targetIn = (events: readonly NewEvent[], n = 0) => idIn(events, 'TargetCreated', 'target', n)
export const numberIn = (events: readonly NewEvent[], n = 0) => idIn(events, 'NumberProvisioned', 'number', n)

/** A workspace of a plan, with nothing in it. */
export function empty(planId = 'scale', ...more: readonly Step[]): readonly NewEvent[] {
  const create = () => ({ name: 'Acme Media', timezone: 'America/New_York', planId, sandbox: true })
  return history([createWorkspace, create], ...more)
}

/** A workspace with one of each: a buyer, its number target on a campaign's plan, a publisher's lane, a ready number. */
export function furnished(...more: readonly Step[]): readonly NewEvent[] {
  const key = { prefix: 'rk_', hash: hashOf('routing key') }
  return empty(
    'scale',
    [createBuyer, () => ({ name: 'Solar Co' })],
    [createPublisher, () => ({ name: 'Blue Leads' })],
    [createCampaign, () => ({ name: 'Solar West', verticalId: 'solar' })],
    [
      createTarget,
      (events) => ({
        name: 'Front desk',
        type: 'number',
        buyerId: buyerIn(events),
        revenueCents: 4_000,
        endpoint: { destinationE164: '+14155550111' },
      }),
    ],
    [setTargetStatus, (events) => ({ targetId: targetIn(events), status: 'active' })],
    [setRoute, (events) => ({ campaignId: campaignIn(events), targetId: targetIn(events), settings: {} })],
    [setLane, (events) => ({ campaignId: campaignIn(events), publisherId: publisherIn(events), terms: {}, key })],
    [provisionNumber, () => ({ e164: '+14155550123', type: 'local' })],
    [
      assignNumber,
      (events) => ({ numberId: numberIn(events), campaignId: campaignIn(events), publisherId: publisherIn(events) }),
    ],
    [reportNumberDelivery, (events) => ({ numberId: numberIn(events), error: null })],
    ...more,
  )
}
