import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const { it, the, client } = suite('reads right after a write', async (writer: StreamWriter) => ({
  main: await createTenantWorkspace(writer, { name: 'Main' }),
}))

const send = async (method: string, path: string, body?: Json, token = the.main.session) => {
  const response = await client(token)(`/api/tracking${path}`, { method, ...(body && { body }) })
  expect(response.status, response.text).toBeLessThan(300)
  expect(response.headers.get('svc-read-lag')).toBeNull()
  return response.body
}
const names = ({ data }: Json) => data.map(({ name }: Json) => name)

it('find by a filter, sort and count what it wrote, each time', async () => {
  for (let n = 0; n < 20; n++) {
    const { buyer } = await send('POST', '/buyers', { name: `Buyer ${n}` })
    const [listed, found] = await Promise.all([
      send('GET', '/buyers?sort=name&pageSize=100'),
      send('GET', `/buyers?q=${encodeURIComponent(`Buyer ${n}`)}`),
    ])
    expect(names(listed)).toContain(`Buyer ${n}`)
    expect(names(found)).toContain(`Buyer ${n}`)
    const renamed = await send('PATCH', `/buyers/${buyer.id}`, { name: `Renamed ${n}` })
    expect(renamed.buyer.name).toBe(`Renamed ${n}`)
    expect(names(await send('GET', '/buyers?pageSize=100'))).toContain(`Renamed ${n}`)
    expect((await send('GET', `/buyers/${buyer.id}`)).buyer.name).toBe(`Renamed ${n}`)
    const [newest] = (await send('GET', '/activity?pageSize=1')).data
    expect(JSON.stringify(newest)).toContain(`Buyer ${n} was changed`)
  }
})

it('see writes that are made at the same time, each its own and all those before', async () => {
  const created = await Promise.all(
    Array.from({ length: 24 }, async (_, n) => {
      const { buyer } = await send('POST', '/buyers', { name: `At once ${n}` })
      expect((await send('GET', `/buyers/${buyer.id}`)).buyer.name).toBe(`At once ${n}`)
      const targets = await send('POST', '/targets', {
        name: `Desk ${n}`,
        type: 'number',
        buyerId: buyer.id,
        revenueCents: 900,
        endpoint: { destinationE164: `+1312555${String(1_000 + n)}` },
      })
      const { targets: owned } = await send('GET', `/buyers/${buyer.id}`)
      expect(names({ data: owned })).toEqual([targets.target.name])
      return buyer.id
    }),
  )
  const { data } = await send('GET', '/buyers?q=At%20once&pageSize=100')
  expect(data.map(({ id }: Json) => id).toSorted()).toEqual(created.toSorted())
})
