import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, queryString } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantClient, type TenantClient } from '../../support/e2e/tenant-client.ts'
import { cancelSubscription, createTenantWorkspace } from '../../support/e2e/world.ts'

const path = '/api/tracking/activity'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  for (const name of ['Acme', 'Brick']) await main.buyer({ name })
  await main.number()
  const lapsed = await createTenantWorkspace(writer, { name: 'Lapsed' })
  await cancelSubscription(lapsed)
  return { main, lapsed }
}

const { it, describe, main, the, server } = suite('exports of the activity log', world)

const list = async (parameters: Json = {}, desk = main) =>
  (await desk.console(`${path}${queryString(parameters)}`)).body
const verify = async (desk: TenantClient) => (await desk.console(`${path}/verify`)).body

describe(documentLine('limit: Exports'), () => {
  const exported = (parameters: Json = {}, desk = main) => desk.console(`${path}/export.csv${queryString(parameters)}`)

  it('the activity log: a file of the same entries, its own entry the newest', async () => {
    const answer = await exported()
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="activity-\d{4}-\d\d-\d\d\.csv"$/)
    const { data, total } = await list({ pageSize: 200 })
    expect(data[0]).toMatchObject({
      kind: 'export',
      action: 'exported',
      actor: { type: 'user' },
      requestId: answer.headers.get('svc-request-id'),
      changes: [{ field: 'rows', before: null, after: 10_000 }],
    })
    const lines = answer.text.trimEnd().split('\r\n')
    expect(lines[0]).toMatch(/^\uFEFF?id,at,actorType,actorId,actorName,kind,action,severity,/)
    expect(lines.slice(1).map((line) => line.slice(1, 37))).toEqual(data.map(({ id }: Json) => id))
    expect(lines).toHaveLength(total + 1)
    expect(answer.text).toContain(`,"'+1310555`)
  })

  it('accepts `limit` from 1 to 50,000 and the filters of the list, and records them', async () => {
    for (const limit of [0, 50_001, -1, 1.5, 'all']) {
      const refused = await exported({ limit })
      expect([refused.status, refused.body.error.code, Object.keys(refused.body.error.details)]).toEqual([
        400,
        'validation_error',
        ['limit'],
      ])
    }
    expect((await exported({ limit: 50_000 })).status).toBe(200)
    const one = await exported({ limit: 1, kind: 'buyer' })
    expect(one.text.trimEnd().split('\r\n')).toHaveLength(2)
    const [newest] = (await list({ kind: 'export' })).data
    expect(newest.changes).toEqual([
      { field: 'filters.kind', before: null, after: 'buyer' },
      { field: 'rows', before: null, after: 1 },
    ])
  })

  it('a refused export and a HEAD request are not recorded', async () => {
    const before = (await list({ kind: 'export' })).total
    expect((await exported({ limit: 0 })).status).toBe(400)
    expect((await main.console(`${path}/export.csv`, { method: 'HEAD' })).status).toBe(405)
    expect((await list({ kind: 'export' })).total).toBe(before)
  })

  it('an export stays open to a lapsed workspace', async () => {
    const lapsed = createTenantClient(server, the.lapsed)
    expect((await exported({}, lapsed)).status).toBe(200)
    expect((await list({ kind: 'export' }, lapsed)).total).toBe(1)
    expect(await verify(lapsed)).toMatchObject({ ok: true })
  })
})
