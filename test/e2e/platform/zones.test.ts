import { expect } from 'vitest'
import { z } from 'zod'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { defineCommand } from '../../../src/kernel/command.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, queryString } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const LEGACY = 'BST'

/** Stores a zone that an earlier version accepted. */
const storeZone = defineCommand({
  name: 'store-zone',
  entity: workspace,
  input: z.object({ campaignId: z.string(), targetId: z.string() }),
  rejects: [],
  decide({ campaignId, targetId }, { workspace, campaigns, targets }) {
    const zone = { before: { timezone: 'UTC' }, after: { timezone: LEGACY } }
    const named = { name: workspace?.name ?? '' }
    return [
      { type: 'WorkspaceChanged' as const, data: { ...named, ...zone } },
      { type: 'CampaignChanged' as const, data: { campaignId, name: campaigns.get(campaignId)?.name ?? '', ...zone } },
      { type: 'TargetChanged' as const, data: { targetId, name: targets.get(targetId)?.name ?? '', ...zone } },
    ]
  },
})

async function world(writer: StreamWriter) {
  const tenantWith = async (name: string) => {
    const tenant = await createTenantWorkspace(writer, { name })
    const buyerId = await tenant.buyer({ name: 'Buyer' })
    const targetId = await tenant.target(buyerId, { name: 'Desk' })
    const line = await tenant.line({ name: 'Roofing' }, [targetId])
    const publisherId = await tenant.publisher({ name: 'Media' })
    return { tenant, buyerId, targetId, line, publisherId }
  }
  const main = await tenantWith('Main')
  const legacy = await tenantWith('Legacy')
  await legacy.tenant.act(storeZone, { campaignId: legacy.line.campaignId, targetId: legacy.targetId })
  return { main: main.tenant, ours: main, old: legacy.tenant, legacy }
}

const { it, main, the, tenant } = suite('zones', world)
const old = tenant((the) => the.old)

const schedule = (tz: string) => ({ tz, days: { mon: [['09:00', '17:00']] } })

/** Every write that takes a zone: method, path, record in the answer, code of its refusal, and what a new record needs besides. */
const writes = (name: string) => {
  const { buyerId, targetId, publisherId, line } = the.ours
  const lane = `/api/tracking/campaigns/${line.campaignId}/publishers/${publisherId}`
  return [
    ['PATCH', '/api/tracking/workspace', 'workspace', 'validation_error'],
    ['PATCH', `/api/tracking/buyers/${buyerId}`, 'buyer', 'validation_error'],
    ['PATCH', `/api/tracking/publishers/${publisherId}`, 'publisher', 'validation_error'],
    ['PATCH', `/api/tracking/targets/${targetId}`, 'target', 'bad_request'],
    ['PATCH', `/api/tracking/campaigns/${line.campaignId}`, 'campaign', 'bad_request'],
    ['PUT', lane, 'lane', 'validation_error'],
    ['POST', '/api/tracking/buyers', 'buyer', 'validation_error', { name }],
    ['POST', '/api/tracking/publishers', 'publisher', 'validation_error', { name }],
    ['POST', '/api/tracking/targets', 'target', 'bad_request', { name, buyerId, type: 'rtb' }],
    ['POST', '/api/tracking/campaigns', 'campaign', 'bad_request', { name, verticalId: 'roofing' }],
  ] as const
}

it.each(['BST', 'IST', 'PST', '+01:00', 'Nowhere/Else'])('%s is refused wherever a zone is taken', async (timezone) => {
  for (const [method, path, , code, rest] of writes(`In ${timezone}`)) {
    const { status, body } = await main.console(path, { method, body: { ...rest, timezone } })
    expect([path, status, body.error?.code, Object.keys(body.error?.details ?? {})]).toEqual([
      path,
      400,
      code,
      ['timezone'],
    ])
  }
  const hours = { hoursSchedule: schedule(timezone) }
  const byKey = await main.rest(`/api/v1/targets/${the.ours.targetId}`, { method: 'PATCH', body: hours })
  expect([byKey.status, byKey.body.error.code]).toEqual([400, 'bad_request'])
  const listed = await main.rest(`/api/v1/calls${queryString({ tz: timezone })}`)
  expect([listed.status, listed.body.error.code, Object.keys(listed.body.error.details)]).toEqual([
    400,
    'bad_request',
    ['tz'],
  ])
})

it.each([
  ['us/eastern', 'US/Eastern'],
  ['ASIA/CALCUTTA', 'Asia/Calcutta'],
  ['Etc/UTC', 'Etc/UTC'],
  ['utc', 'UTC'],
  ['europe/kyiv', 'Europe/Kyiv'],
])('%s is taken and answered as %s', async (timezone, spelling) => {
  for (const [method, path, record, , rest] of writes(`In ${timezone}`)) {
    const { status, body, text } = await main.console(path, { method, body: { ...rest, timezone } })
    const isNew = method === 'POST' || (record === 'lane' && status === 201)
    expect([status, body[record]?.timezone], text).toEqual([isNew ? 201 : 200, spelling])
  }
  const hours = { hoursSchedule: schedule(timezone) }
  const byKey = await main.rest(`/api/v1/targets/${the.ours.targetId}`, { method: 'PATCH', body: hours })
  expect(byKey.body.target.hoursSchedule.tz).toBe(spelling)
  expect((await main.rest(`/api/v1/calls${queryString({ tz: timezone })}`)).body.timezone).toBe(spelling)
})

it('a legacy name that was stored earlier fails no read and no write, and reads as UTC', async () => {
  const { buyerId, targetId, publisherId, line } = the.legacy
  const reads = [
    '/workspace',
    '/calls',
    '/calls/live',
    '/calls/export.csv',
    '/buyers',
    `/buyers/${buyerId}`,
    '/targets',
    `/targets/${targetId}`,
    '/campaigns',
    `/campaigns/${line.campaignId}`,
    '/publishers',
    `/publishers/${publisherId}`,
  ]
  for (const path of reads) expect([path, (await old.console(`/api/tracking${path}`)).status]).toEqual([path, 200])
  expect((await old.rest('/api/v1/calls')).body.timezone).toBe('UTC')

  const patch = (path: string, body: Json) => old.console(`/api/tracking${path}`, { method: 'PATCH', body })
  const hours = { days: { mon: [['09:00', '17:00']] } }
  const target = await patch(`/targets/${targetId}`, { dailyCap: 5, hoursSchedule: hours })
  expect([target.status, target.body.target?.hoursSchedule.tz], target.text).toEqual([200, 'UTC'])
  expect((await patch(`/targets/${targetId}`, { hoursSchedule: null })).status).toBe(200)
  expect((await patch(`/campaigns/${line.campaignId}`, { dailyCap: 50 })).status).toBe(200)
  for (const [path, record, rest] of [
    ['buyers', 'buyer', {}],
    ['publishers', 'publisher', {}],
    ['targets', 'target', { buyerId, type: 'rtb' }],
    ['campaigns', 'campaign', { verticalId: 'roofing' }],
  ] as const) {
    const body = { name: 'Another', ...rest }
    const made = await old.console(`/api/tracking/${path}`, { method: 'POST', body })
    expect([made.status, made.body[record]?.timezone], made.text).toEqual([201, 'UTC'])
  }
  const script = { [targetId]: answerScript(30) }
  expect((await old.playCall({ to: line.e164, script })).call).toMatchObject({ status: 'completed' })
})
