import { expect } from 'vitest'
import { createPool } from '../../../commands/supply/create-pool.ts'
import { setNumberStatus } from '../../../commands/supply/set-number-status.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiResponse, errorWithoutRequestId, type Json, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { createNumberClient } from '../../support/e2e/number-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { archiveCampaign, createTenantWorkspace, type Tenant } from '../../support/e2e/world.ts'

const keys = 'abcdef'

async function poolOf({ act }: Tenant, campaignId: string, key: number, settings: Json): Promise<string> {
  const publicKey = `pk_${(keys[key] ?? 'f').repeat(24)}`
  const [made] = await act(createPool, { campaignId, publicKey, settings })
  const created: Json = made?.data
  return created.pool.id
}

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: 'Acme' }))
  const [blue, red] = [await main.publisher({ name: 'Blue Leads' }), await main.publisher({ name: 'Red Leads' })]
  const west = await main.line({ name: 'West' }, [desk], { publisherId: blue })
  const east = await main.line({ name: 'East' }, [desk])
  const shelved = await main.line({ name: 'Shelved' }, [desk])
  await archiveCampaign(main, shelved)
  const bluePool = await poolOf(main, west.campaignId, 0, { name: 'Blue pool', publisherId: blue })
  const eastPool = await poolOf(main, east.campaignId, 1, { name: 'East pool' })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const theirs = await other.line({ name: 'Theirs' }, [await other.target(await other.buyer({ name: 'Buyer' }))])
  const foreign = {
    ...theirs,
    publisherId: await other.publisher({ name: 'Green Leads' }),
    poolId: await poolOf(other, theirs.campaignId, 2, { name: 'Their pool' }),
  }
  return { main, blue, red, west, east, shelved, bluePool, eastPool, foreign }
}

const { it, describe, main, the } = suite('moves of numbers', world)

let numberId = ''

const patch = (id: string, body: Json, headers = {}) =>
  main.console(`/api/tracking/numbers/${id}`, { method: 'PATCH', body, headers })
const read = async (id: string) => (await main.console(`/api/tracking/numbers/${id}`)).body.number
const place = ({ campaign, publisher, pool }: Json) => [campaign?.id ?? null, publisher?.id ?? null, pool?.id ?? null]
const moved = async (id: string, body: Json) => {
  const answer = await patch(id, body)
  expect(answer.status, answer.text).toBe(200)
  return place(answer.body.number)
}
const refusal = ({ status, body }: ApiResponse) => [status, body.error.code, body.error.details]
const fallBackOn = async (fallbackNumberId: string) => {
  const body = { fallbackNumberId }
  const answer = await main.console(`/api/tracking/pools/${the.bluePool}`, { method: 'PATCH', body })
  expect(answer.status, answer.text).toBe(200)
}
const buy = async (query: Json = { endsWith: '4' }) => {
  const { status, text, body } = await createNumberClient(main.console).buy(query)
  expect(status, text).toBe(201)
  return body.number
}

describe(documentLine('PATCH /api/tracking/numbers/:id'), () => {
  it('assigns, relabels and moves, in one request or in several', async () => {
    numberId = (await buy()).id
    const { campaignId: west } = the.west
    const answer = await patch(numberId, { campaignId: west, publisherId: the.blue, label: 'Van' })
    expect([answer.status, answer.body.warnings]).toEqual([200, []])
    expect(answer.body.number).toMatchObject({
      id: numberId,
      role: 'tracking',
      label: 'Van',
      campaign: { id: west, name: 'West', status: 'live' },
      publisher: { id: the.blue, name: 'Blue Leads' },
      webhookStatus: 'ready',
      calls30d: 0,
    })
    expect(await moved(numberId, { label: null })).toEqual([west, the.blue, null])
    expect((await read(numberId)).label).toBeNull()
    expect(await moved(numberId, { publisherId: null })).toEqual([west, null, null])
    expect(await moved(numberId, { publisherId: the.blue })).toEqual([west, the.blue, null])
    expect(await moved(numberId, { campaignId: west })).toEqual([west, the.blue, null])
    const at = answer.headers.get('etag')
    expect(at).toMatch(/^"\d+"$/)
  })

  it('a move to another campaign clears publisher and pool, a move off its campaign clears everything', async () => {
    const [west, east] = [the.west.campaignId, the.east.campaignId]
    expect(await moved(numberId, { poolId: the.bluePool })).toEqual([west, the.blue, the.bluePool])
    expect(await moved(numberId, { campaignId: east })).toEqual([east, null, null])
    expect(await moved(numberId, { campaignId: west, publisherId: the.blue })).toEqual([west, the.blue, null])
    expect(await moved(numberId, { campaignId: null })).toEqual([null, null, null])
    expect((await read(numberId)).role).toBe('unassigned')
    expect(await moved(numberId, { poolId: the.bluePool })).toEqual([west, the.blue, the.bluePool])
    expect(await moved(numberId, { poolId: null })).toEqual([west, the.blue, null])
    expect(await moved(numberId, { campaignId: null, publisherId: null, poolId: null })).toEqual([null, null, null])
  })

  it('a failed number is connected to the platform again, and the warning reports the result', async () => {
    const failing = await buy({ endsWith: '0005' })
    expect(failing.webhookStatus).toBe('failed')
    const { body } = await patch(failing.id, { campaignId: the.east.campaignId })
    expect(body.number).toMatchObject({ webhookStatus: 'failed', webhookError: expect.any(String) })
    expect(body.warnings).toEqual([expect.stringContaining('does not deliver')])
    const again = await patch(failing.id, { campaignId: the.east.campaignId })
    expect(again.body.warnings).toEqual(body.warnings)
    expect((await patch(failing.id, { label: 'Failing' })).body.warnings).toEqual([])
    expect((await main.placeCall({ to: failing.e164, mode: 'instant' })).status).toBe(409)
  })

  it('warns of a pool that lost its fallback, and of a live campaign without a number', async () => {
    const { numberId: only, campaignId } = the.west
    await fallBackOn(only)
    const { body } = await patch(only, { campaignId: the.east.campaignId })
    expect(body.warnings.toSorted()).toEqual([
      expect.stringMatching(/^The live campaign “West” now has no number/),
      expect.stringMatching(/^The pool “Blue pool” has lost its fallback number/),
    ])
    expect((await patch(only, { campaignId, publisherId: the.blue })).body.warnings).toEqual([])
  })

  it('400: nothing to update, or a publisher or pool without a campaign', async () => {
    expect(refusal(await patch(numberId, {}))).toEqual([400, 'bad_request', null])
    const nowhere = [400, 'bad_request', { campaignId: expect.any(String) }]
    expect(refusal(await patch(numberId, { publisherId: the.blue }))).toEqual(nowhere)
    expect(refusal(await patch(numberId, { campaignId: null, poolId: the.bluePool }))).toEqual(nowhere)
    expect(refusal(await patch(numberId, { campaignId: null, publisherId: the.blue }))).toEqual(nowhere)
  })

  it.each<[string, Json, Json]>([
    ['label', 'a'.repeat(120), 'a'.repeat(121)],
    ['label', null, 7],
    ['campaignId', null, 'west'],
    ['publisherId', null, 7],
    ['poolId', null, ''],
    ['status', undefined, 'active'],
  ])('takes %s %j, and refuses %j', async (field, taken, refused) => {
    const bad = await patch(numberId, { [field]: refused })
    expect(refusal(bad)).toEqual([400, 'validation_error', { [field]: expect.any(String) }])
    if (taken !== undefined) expect((await patch(numberId, { [field]: taken })).status).toBe(200)
  })

  it('404: the number, and a campaign, publisher or pool that is not the workspace’s', async () => {
    const absent = await Promise.all(
      [UNKNOWN_ID, 'nonsense', the.foreign.numberId].map((id) => patch(id, { label: 'Mine' })),
    )
    expect(absent[0]?.body.error).toMatchObject({ code: 'not_found', message: 'Number not found.' })
    expect(new Set(absent.map(errorWithoutRequestId)).size).toBe(1)
    const { campaignId: west } = the.west
    const wanted: readonly [Json, string][] = [
      [{ campaignId: the.foreign.campaignId }, 'Campaign not found.'],
      [{ campaignId: UNKNOWN_ID }, 'Campaign not found.'],
      [{ campaignId: west, publisherId: the.foreign.publisherId }, 'Publisher not found.'],
      [{ poolId: the.foreign.poolId }, 'Pool not found.'],
    ]
    for (const [body, message] of wanted) {
      const answer = await patch(numberId, body)
      expect([answer.status, answer.body.error.message], JSON.stringify(body)).toEqual([404, message])
    }
  })

  it('409: an archived campaign', async () => {
    expect(refusal(await patch(numberId, { campaignId: the.shelved.campaignId }))).toEqual([
      409,
      'conflict',
      { status: 'archived' },
    ])
  })

  it('one of many concurrent moves succeeds, the others answer 409', async () => {
    const [west, east] = [the.west.campaignId, the.east.campaignId]
    // A request that comes in after the first move is judged by it, and may succeed: repeat until all ten overlap.
    const { id, answers } = await waitUntil('Ten moves overlap', async () => {
      const { id } = await buy()
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) => patch(id, { campaignId: n % 2 === 0 ? west : east })),
      )
      const statuses = answers.map(({ status }) => status)
      expect([200, 409]).toEqual(expect.arrayContaining(statuses))
      return statuses.filter((status) => status === 200).length === 1 && { id, answers }
    })
    const [made] = answers.filter(({ status }) => status === 200)
    expect(place(await read(id))).toEqual(place(made?.body.number))
    for (const { status, body } of answers) if (status === 409) expect(body.error.code).toBe('conflict')
    expect(await moved(id, { campaignId: null })).toEqual([null, null, null])
  })

  it('requests that change nothing refuse no move, however many overlap', async () => {
    const { id } = await buy()
    const [west, east] = [the.west.campaignId, the.east.campaignId]
    await moved(id, { campaignId: west })
    let moving = true
    const codes: string[] = []
    const idling = Array.from({ length: 6 }, async () => {
      while (moving) codes.push((await patch(id, { publisherId: null })).body.error?.code ?? 'ok')
    })
    const places: Json[] = []
    for (let n = 0; n < 6; n += 1) places.push(await moved(id, { campaignId: n % 2 === 0 ? east : west }))
    moving = false
    await Promise.all(idling)
    expect(places).toEqual([east, west, east, west, east, west].map((campaignId) => [campaignId, null, null]))
    expect(codes.filter((code) => code !== 'ok' && code !== 'conflict')).toEqual([])
    expect(codes).toContain('ok')
    expect(await moved(id, { campaignId: null })).toEqual([null, null, null])
  })

  it('a closed lane keeps its numbers, but takes none: the same publisher named again is refused', async () => {
    const { id } = await buy()
    const { campaignId } = the.east
    const lane = `/api/tracking/campaigns/${campaignId}/publishers/${the.red}`
    expect((await main.console(lane, { method: 'PUT', body: {} })).status).toBe(201)
    expect(await moved(id, { campaignId, publisherId: the.red })).toEqual([campaignId, the.red, null])
    expect((await main.console(lane, { method: 'DELETE' })).status).toBe(200)
    const details = { campaignId, publisherId: the.red }
    for (const body of [details, { publisherId: the.red }])
      expect(refusal(await patch(id, body))).toEqual([409, 'publisher_not_on_campaign', details])
    expect(await moved(id, { campaignId, label: 'Kept' })).toEqual([campaignId, the.red, null])
    expect(await moved(id, { publisherId: null })).toEqual([campaignId, null, null])
  })

  it('the warnings name every reason for which calls would be refused', async () => {
    const { id, formatted } = await buy()
    const { campaignId } = the.east
    const warningsAs = async (status: 'past_due' | 'suspended' | 'active') => {
      await the.main.act(setNumberStatus, { numberId: id, status })
      return (await patch(id, { campaignId })).body.warnings
    }
    expect(await warningsAs('past_due')).toEqual([
      `The rent of ${formatted} is past due: unpaid, it will take no more calls.`,
    ])
    expect(await warningsAs('suspended')).toEqual([
      `${formatted} is suspended and takes no calls until its rent is paid.`,
    ])
    expect(await warningsAs('active')).toEqual([])
    const failing = await buy({ endsWith: '0005' })
    await the.main.act(setNumberStatus, { numberId: failing.id, status: 'past_due' })
    await the.main.act(setNumberStatus, { numberId: failing.id, status: 'suspended' })
    expect((await patch(failing.id, { campaignId })).body.warnings).toEqual([
      expect.stringContaining('does not deliver'),
      expect.stringContaining('is suspended'),
    ])
  })

  it('compares with the record that the request read', async () => {
    const { headers } = await main.console(`/api/tracking/numbers/${numberId}`)
    const tag = headers.get('etag') ?? ''
    const first = await patch(numberId, { label: 'First' }, { 'if-match': tag })
    expect([first.status, first.headers.get('etag') === tag]).toEqual([200, false])
    expect((await patch(numberId, { label: 'Second' }, { 'if-match': tag })).status).toBe(412)
  })
})

it(
  documentLine(
    'endpoints 409 publisher_not_on_campaign, pool_campaign_mismatch, pool_publisher_mismatch, number_is_fallback',
  ),
  async () => {
    const { id } = await buy()
    const [west, east] = [the.west.campaignId, the.east.campaignId]
    expect(refusal(await patch(id, { campaignId: west, publisherId: the.red }))).toEqual([
      409,
      'publisher_not_on_campaign',
      { publisherId: the.red, campaignId: west },
    ])
    const elsewhere = [409, 'pool_campaign_mismatch', { poolId: the.eastPool, poolCampaignId: east }]
    expect(refusal(await patch(id, { campaignId: west, poolId: the.eastPool }))).toEqual(elsewhere)
    await moved(id, { campaignId: west })
    expect(refusal(await patch(id, { poolId: the.eastPool }))).toEqual(elsewhere)
    expect(refusal(await patch(id, { poolId: the.bluePool, publisherId: null }))).toEqual([
      409,
      'pool_publisher_mismatch',
      { poolId: the.bluePool, poolPublisherId: the.blue },
    ])
    await fallBackOn(id)
    expect(refusal(await patch(id, { poolId: the.bluePool }))).toEqual([
      409,
      'number_is_fallback',
      { poolId: the.bluePool },
    ])
    expect(place(await read(id))).toEqual([west, null, null])
  },
)
