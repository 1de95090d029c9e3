import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { changeTarget } from '../../../commands/demand/change-target.ts'
import { setBuyerStatus } from '../../../commands/demand/set-buyer-status.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { createTenantWorkspace } from './world.ts'

/** A workspace with records of every kind and status that lists filter by, and a second workspace with others. */
export async function createRecordWorld(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const acme = await main.buyer({ name: 'Acme Roofing', company: 'Apex', externalRef: 'crm-1' })
  const brick = await main.buyer({ name: 'Brick', contactName: 'Ada', timezone: 'America/Chicago' })
  const gone = await main.buyer({ name: 'Gone' })
  const desk = await main.target(acme, {
    name: 'Desk',
    externalRef: 'ref-77',
    endpoint: { destinationE164: '+13125550001' },
  })
  const pbx = await main.target(acme, {
    name: 'Switch',
    type: 'sip',
    endpoint: { sipUri: 'sip:desk@pbx.example' },
    revenueCents: 0,
  })
  const bidder = await main.target(brick, {
    name: 'Bidder',
    type: 'rtb',
    revenueCents: null,
    rtb: { bidUrl: 'https://bids.example/ask', bidBodyTemplate: '{"a":1}' },
  })
  const draft = await main.target(brick, { name: 'Draft', status: 'draft' })
  const archived = await main.target(brick, { name: 'Archived', status: 'archived' })
  const north = await main.publisher({ name: 'North Media', contactName: 'Nell' })
  const fresh = await main.publisher({ name: 'Fresh', status: 'onboarding' })
  await main.publisher({ name: 'Finished', status: 'terminated' })
  const terms = { payoutMode: 'fixed', payoutCents: 250, dailyCap: 9 }
  const roofing = await main.line({ name: 'Roofing', bufferSeconds: 0 }, [desk, pbx], { publisherId: north, terms })
  const solar = await main.line({ name: 'Solar', routingMode: 'weighted', verticalId: 'solar' }, [desk])
  const shelved = await main.line({ name: 'Shelved' }, [desk])
  const free = await main.number({ label: 'Spare line', type: 'toll_free' })
  await main.act(setBuyerStatus, { buyerId: gone, status: 'archived' })
  await main.act(setCampaignStatus, { campaignId: solar.campaignId, status: 'paused', note: 'Winter' })
  await main.act(changeTarget, { targetId: pbx, changes: { dailyCap: 50 } })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreign = await other.line({ name: 'Foreign' }, [await other.target(await other.buyer({ name: 'Theirs' }))])
  return {
    main,
    other,
    acme,
    brick,
    gone,
    desk,
    pbx,
    bidder,
    draft,
    archived,
    north,
    fresh,
    roofing,
    solar,
    shelved,
    free,
    foreign,
  }
}

export type RecordWorld = Awaited<ReturnType<typeof createRecordWorld>>
