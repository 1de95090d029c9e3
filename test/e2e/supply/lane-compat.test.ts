import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, statusCodeAndFields } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { absentPublishers, createLaneClient, createPublisher } from '../../support/e2e/lane-client.ts'
import { refusalOf } from '../../support/e2e/ranges.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }))
  const line = await main.line({ name: 'Solar', bufferSeconds: 30 }, [target])
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreign = await other.publisher({ name: 'Foreign' })
  return { main, line, foreign }
}

const { it, describe, beforeEach, main, the, server } = suite('single-step ping of lanes', world)

let publisherId: string

/** Each test has a publisher of its own. */
beforeEach(async () => {
  publisherId = await createPublisher(main)
})

const { path, opened, compat, read } = createLaneClient(main, () => ({ publisherId, campaignId: the.line.campaignId }))

describe(documentLine('POST /api/tracking/campaigns/:id/publishers/:publisherId/compat'), () => {
  it('creates a token, keeps it on a repeat, drops it when switched off, and then creates another', async () => {
    await opened()
    const on = await compat(true)
    expect(on.status).toBe(200)
    const { url } = on.body.compat
    expect(on.body).toEqual({ compat: { enabled: true, url: expect.any(String) }, changed: true })
    expect(url).toMatch(new RegExp(`^${server.baseUrl}/api/rtb/compat/[\\w-]{43,}\\.json$`))
    expect((await compat(true)).body).toEqual({ compat: { enabled: true, url }, changed: false })
    expect((await compat(false)).body).toEqual({ compat: { enabled: false, url: null }, changed: true })
    expect((await compat(false)).body).toEqual({ compat: { enabled: false, url: null }, changed: false })
    expect((await compat(true)).body.compat.url).not.toBe(url)
  })

  it('the activity log does not contain the token', async () => {
    await opened()
    const { url } = (await compat(true)).body.compat
    const token = /compat\/(.+)\.json$/.exec(url)?.[1] ?? expect.fail()
    const rows = await main.console('/api/tracking/activity?pageSize=200')
    expect(rows.status).toBe(200)
    expect(rows.text).toContain(publisherId)
    expect(rows.text).not.toContain(token)
  })

  it('the activity log tells how the protocol of the key changed', async () => {
    await opened()
    await compat(true)
    const newest = async () => (await main.console('/api/tracking/activity?pageSize=1')).body.data[0].changes
    const switched = (before: Json, after: Json) => ({ field: 'compatEnabled', before, after })
    expect(await newest()).toEqual([
      switched(false, true),
      { field: 'protocol', before: 'rtb_v1', after: 'rtb_v1_compat' },
    ])
    await compat(false)
    expect(await newest()).toEqual([switched(true, false)])
    await compat(true)
    expect(await newest()).toEqual([switched(false, true)])
  })

  it('answers 404 without a lane, 409 for a revoked key, 400 for anything but a boolean', async () => {
    const answers = await Promise.all([
      compat(true),
      ...absentPublishers(the.foreign).map((one) => compat(true, path(one))),
    ])
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(answers[0]?.body.error.message).toBe('Lane not found.')
    expect((await compat('no')).status).toBe(404)
    await opened()
    await compat(true)
    for (const wrong of [undefined, null, 'true', 1])
      expect(statusCodeAndFields(await compat(wrong))).toEqual([400, 'validation_error', ['enabled']])
    await main.console(`/api/tracking/publishers/${publisherId}/status`, {
      method: 'POST',
      body: { status: 'terminated' },
    })
    expect(await read()).toMatchObject({ key: { state: 'revoked' }, compat: { enabled: false, url: null } })
    expect(refusalOf(await compat(true))).toEqual({ status: 409, code: 'conflict', details: { status: 'revoked' } })
  })
})
