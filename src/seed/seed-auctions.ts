import type { z } from 'zod'
import { changeTarget } from '../../commands/demand/change-target.ts'
import { createTarget } from '../../commands/demand/create-target.ts'
import { setTargetStatus } from '../../commands/demand/set-target-status.ts'
import { putSandboxBidder, type sandboxBidder, sandboxBidderPath } from '../api/sandbox-bidders.ts'
import type { WorkspaceState } from '../domain/configuration/workspace.ts'
import { targetEvents } from '../domain/demand/target.ts'
import { dataOf } from '../kernel/event.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { Secrets } from '../ports/secrets.ts'
import { type SecretDerivation, switchOnCompat } from './seed-supply.ts'
import { buildCampaign, type CampaignSeed, type NewKey, type SeedStep, type World } from './seed-world.ts'

/** Number of the campaign that is sold at auction. */
export const AUCTION_NUMBER = '+13105550114'

/** The simulated bidders: what each target's bidder answers. */
const BIDDERS: Readonly<
  Record<string, { readonly name: string; readonly buyer: string; readonly answers: z.input<typeof sandboxBidder> }>
> = {
  sunrise: {
    name: 'Sunrise exchange',
    buyer: 'acme',
    answers: { name: 'Sunrise', latencyMs: 8, bidCents: 5_200, durationSeconds: 30, expiresInSeconds: 20 },
  },
  noon: {
    name: 'Noon exchange',
    buyer: 'civic',
    answers: { name: 'Noon', latencyMs: 5, bidCents: 6_100, expiresInSeconds: 20, failEvery: 3 },
  },
  dusk: { name: 'Dusk exchange', buyer: 'civic', answers: { name: 'Dusk', latencyMs: 3, bidCents: null } },
}

/** A call is paid by whoever bids most for it: three bidders, and a desk with a fixed price. */
const CAMPAIGN: CampaignSeed = {
  key: 'auction',
  settings: { name: 'Sold at auction', verticalId: 'solar', routingMode: 'highest_bid' },
  plan: [...Object.keys(BIDDERS), 'primary'],
  e164: AUCTION_NUMBER,
  publisher: 'north',
  terms: { payoutMode: 'revshare', revsharePct: 70 },
}

/** What the campaign is made with. `idOf` gives the id of a bidder, the same at each start. */
interface AuctionContext {
  readonly workspaceId: string
  readonly ops: Pick<OperationalStore, 'put'>
  readonly secrets: Secrets
  readonly derive: SecretDerivation
  readonly idOf: (bidder: string) => string
  readonly baseUrl: string
}

async function buildBidder(
  step: SeedStep,
  key: string,
  { name, buyer, answers }: (typeof BIDDERS)[string],
  world: World,
  { ops, idOf, baseUrl }: AuctionContext,
): Promise<string> {
  const bidderId = idOf(key)
  await putSandboxBidder(ops, bidderId, answers)
  const rtb = {
    bidUrl: `${baseUrl}${sandboxBidderPath(bidderId)}`,
    destination: { type: 'number', value: '+13125550120' },
  }
  const settings = { type: 'rtb', name, buyerId: world.buyers[buyer], rtb }
  const targetId = dataOf(targetEvents, await step(`target-${key}`, createTarget, settings), 'TargetCreated')?.target.id
  if (targetId === undefined) throw new Error(`The target of the bidder ${name} was not created.`)
  await step(`target-${key}-active`, setTargetStatus, { targetId, status: 'active' })
  return targetId
}

/** Builds a campaign with simulated bidders, a lane with a single-step ping, and a number. Resolves to the campaign's id. */
export async function buildAuctions(
  step: SeedStep,
  world: World,
  context: AuctionContext & { readonly newKey: NewKey; readonly renewsAt: string },
): Promise<{ readonly campaignId: string; readonly publisherId: string }> {
  const { workspaceId, secrets, derive, newKey, renewsAt } = context
  const targets = { ...world.targets }
  for (const [key, bidder] of Object.entries(BIDDERS))
    targets[key] = await buildBidder(step, key, bidder, world, context)
  const campaignId = await buildCampaign(step, CAMPAIGN, { targets, publishers: world.publishers, newKey, renewsAt })
  const lane = { campaignId, publisherId: world.publishers.north?.id ?? '' }
  const token = derive('compat token of the auction')
  await switchOnCompat(step, 'auction-compat', lane, { workspaceId, secrets, token })
  return lane
}

/** Points the targets of the seeded bidders at the present address of the platform, where it has another than before. */
export async function followAddress(
  change: (command: typeof changeTarget, input: unknown) => Promise<unknown>,
  { targets }: Pick<WorkspaceState, 'targets'>,
  { idOf, baseUrl }: Pick<AuctionContext, 'idOf' | 'baseUrl'>,
): Promise<void> {
  const paths = Object.keys(BIDDERS).map((key) => sandboxBidderPath(idOf(key)))
  for (const { id: targetId, rtb } of targets.values()) {
    const path = paths.find((one) => rtb?.bidUrl?.endsWith(one))
    const bidUrl = `${baseUrl}${path}`
    if (path === undefined || rtb?.bidUrl === bidUrl) continue
    await change(changeTarget, { targetId, changes: { rtb: { bidUrl } } })
  }
}
