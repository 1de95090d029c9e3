import { randomBytes } from 'node:crypto'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { secretHash } from '../../../src/api/secret-hash.ts'
import type { Json } from './api-client.ts'
import type { CampaignLine, Tenant } from './world.ts'

/** A live campaign that a publisher sends calls to, with the publisher's routing key. */
export interface PublisherLane extends CampaignLine {
  readonly publisherId: string
  readonly keyId: string
  readonly routingKey: string
}

/** Settings of a lane's campaign and of its terms, and the targets on the campaign's plan. */
interface LaneSettings {
  readonly campaign?: Json
  readonly plan: readonly string[]
  readonly terms?: Json
}

/** A payout that does not depend on the buyer's price. */
const FIXED_PAYOUT = { payoutMode: 'fixed', payoutCents: 300 }

/** Opens a lane of a new publisher on a new campaign with one number; by default it pays $3.00. */
export async function openPublisherLane(
  tenant: Tenant,
  name: string,
  { campaign = {}, plan, terms = {} }: LaneSettings,
): Promise<PublisherLane> {
  const line = await tenant.line({ name, ...campaign }, plan)
  const publisherId = await tenant.publisher({ name: `${name} leads` })
  const routingKey = `rk_live_${randomBytes(32).toString('base64url')}`
  const [opened] = await tenant.act(setLane, {
    campaignId: line.campaignId,
    publisherId,
    terms: { ...FIXED_PAYOUT, ...terms },
    key: { prefix: routingKey.slice(0, 12), hash: secretHash(routingKey) },
  })
  const data: Json = opened?.data
  await addNumber(tenant, { campaignId: line.campaignId, publisherId }, line.numberId)
  return { ...line, publisherId, keyId: data.key.id, routingKey }
}

/** Gives a lane a number: by default a new one. */
export async function addNumber(
  tenant: Tenant,
  { campaignId, publisherId }: Pick<PublisherLane, 'campaignId' | 'publisherId'>,
  numberId?: string,
): Promise<string> {
  const id = numberId ?? (await tenant.number()).numberId
  await tenant.act(assignNumber, { numberId: id, campaignId, publisherId })
  return id
}
