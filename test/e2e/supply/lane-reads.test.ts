import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { absentPublishers, createLaneClient, createPublisher } from '../../support/e2e/lane-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { archiveCampaign, cancelSubscription, createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }))
  const line = await main.line({ name: 'Solar', bufferSeconds: 30 }, [target])
  const shelved = await main.line({ name: 'Shelved' }, [target])
  await archiveCampaign(main, shelved)
  const taken = await main.publisher({ name: 'Taken' })
  const owned = await main.line({ name: 'Owned' }, [target], { publisherId: taken })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const abroad = await other.line({ name: 'Abroad' }, [await other.target(await other.buyer({ name: 'Far' }))])
  const foreign = await other.publisher({ name: 'Foreign' })
  const lapsed = await createTenantWorkspace(writer, { name: 'Lapsed' })
  const late = await lapsed.publisher({ name: 'Late' })
  const stale = await lapsed.line({ name: 'Stale' }, [await lapsed.target(await lapsed.buyer({ name: 'Old' }))], {
    publisherId: late,
  })
  await cancelSubscription(lapsed)
  return { main, line, shelved, taken, owned, abroad, foreign, lapsed, stale }
}

const { it, describe, beforeEach, main, the, tenant } = suite('reads of lanes', world)
const lapsed = tenant((the) => the.lapsed)

let publisherId: string

/** Each test has a publisher of its own. */
beforeEach(async () => {
  publisherId = await createPublisher(main)
})

const { path, opened, compat, read } = createLaneClient(main, () => ({ publisherId, campaignId: the.line.campaignId }))

describe(documentLine('GET /api/tracking/campaigns/:id/publishers'), () => {
  it('lists the lanes of the campaign, the oldest first, without any key', async () => {
    const { key } = await opened()
    const { status, body, text } = await main.console(`/api/tracking/campaigns/${the.line.campaignId}/publishers`)
    expect(status).toBe(200)
    const at = body.lanes.map(({ assignedAt }: Json) => assignedAt)
    expect(at).toEqual(at.toSorted())
    expect(body.lanes.at(-1)).toEqual(await read())
    expect(text).not.toContain(key)
    const owned = await main.console(`/api/tracking/campaigns/${the.owned.campaignId}/publishers`)
    expect(owned.body.lanes).toMatchObject([{ publisherId: the.taken, numbers: 1 }])
  })

  it('lists none for a campaign without lanes; 404 for a missing campaign; open to a lapsed workspace', async () => {
    const list = (id: string, client = main) => client.console(`/api/tracking/campaigns/${id}/publishers`)
    expect((await list(the.shelved.campaignId)).body).toEqual({ lanes: [] })
    const answers = await Promise.all([UNKNOWN_ID, 'x', the.abroad.campaignId].map((id) => list(id)))
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(answers[0]?.body.error).toMatchObject({ code: 'not_found', message: 'Campaign not found.' })
    expect((await list(the.stale.campaignId, lapsed)).body.lanes).toHaveLength(1)
  })
})

describe(documentLine('GET /api/tracking/campaigns/:id/publishers/:publisherId'), () => {
  it('shows the single-step ping URL in full when it is switched on', async () => {
    await opened()
    const { url } = (await compat(true)).body.compat
    expect(await read()).toMatchObject({ compat: { enabled: true, url }, key: { protocol: 'rtb_v1_compat' } })
    const { lanes } = (await main.rest(`/api/v1/publishers/${publisherId}`)).body.publisher
    expect(lanes[0].compat).toEqual({ enabled: true })
  })

  it('a publisher without a lane and a missing publisher give the same 404', async () => {
    const answers = await Promise.all(
      [...absentPublishers(the.foreign).map((one) => path(one)), path(), path(the.taken, the.abroad.campaignId)].map(
        (one) => main.console(one),
      ),
    )
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(answers[0]?.body.error).toMatchObject({ code: 'not_found', message: 'Lane not found.' })
  })
})
