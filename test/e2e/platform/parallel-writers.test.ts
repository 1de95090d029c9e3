import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const WRITERS = 50
const EDITS = 3

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  return { main, shared: await main.buyer({ name: 'Shared' }) }
}

const { it, main, the } = suite('fifty writers on one workspace', world)

const buyers = (method: string, path: string, body: Json) =>
  main.console(`/api/tracking/buyers${path}`, { method, body })

it('concurrent writers lose nothing and cause no conflict for each other', async () => {
  const ids = await Promise.all(
    Array.from({ length: WRITERS }, async (_, n) => {
      const created = await buyers('POST', '', { name: `Buyer ${n}` })
      expect(created.status, created.text).toBe(201)
      const { id } = created.body.buyer
      for (let edit = 1; edit <= EDITS; edit += 1) {
        const changed = await buyers('PATCH', `/${id}`, { notes: `Edit ${edit} of ${n}` })
        expect(changed.status, changed.text).toBe(200)
        expect(changed.body.buyer.notes).toBe(`Edit ${edit} of ${n}`)
        expect(changed.headers.get('svc-read-lag')).toBeNull()
      }
      expect((await buyers('PATCH', `/${the.shared}`, { externalRef: `Writer ${n}` })).status).toBe(200)
      return id
    }),
  )
  const { body } = await main.console('/api/tracking/buyers?pageSize=200')
  const notes = new Map(body.data.map(({ id, notes }: Json) => [id, notes]))
  expect(ids.map((id) => notes.get(id))).toEqual(ids.map((_, n) => `Edit ${EDITS} of ${n}`))
  const received = await main.console('/api/tracking/activity?kind=buyer&pageSize=1')
  expect(received.body.total).toBe(1 + WRITERS * (1 + EDITS + 1))
  expect((await main.console('/api/tracking/activity/verify')).body).toMatchObject({ ok: true, brokenAt: null })
})

it('of concurrent edits with the same If-Match, exactly one wins', async () => {
  const { headers } = await main.console(`/api/tracking/buyers/${the.shared}`)
  const etag = headers.get('etag') ?? ''
  const answers = await Promise.all(
    Array.from({ length: WRITERS }, (_, n) =>
      main.console(`/api/tracking/buyers/${the.shared}`, {
        method: 'PATCH',
        body: { company: `Company ${n}` },
        headers: { 'if-match': etag },
      }),
    ),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  const lost = answers.filter(({ status }) => status !== 200)
  for (const { status, body } of lost) expect([status, body.error.code]).toEqual([412, 'conflict'])
})
