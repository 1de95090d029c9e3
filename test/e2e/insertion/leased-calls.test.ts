import { expect } from 'vitest'
import { isReproduced } from '../../../src/explain/explanation.ts'
import { explain } from '../../../src/main/explain.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createPool, createVisitorClient } from '../../support/e2e/visitor-client.ts'
import { callNow } from '../../support/e2e/won-call.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }))
  const line = await main.line({ name: 'Site' }, [target])
  const numbers: { readonly numberId: string; readonly e164: string }[] = []
  for (let n = 0; n < 5; n += 1) numbers.push(await main.number())
  return { main, line, numbers }
}

const { it, main, the, server, setup } = suite('calls on leased numbers', world, {
  env: { TRUST_PROXY: 'true', SANDBOX_SEED: '0' },
})

const visitor = createVisitorClient(server)
const params = [{ key: 'utm_', prefix: true }, { key: 'gclid' }, { key: '__proto__' }, { key: 'a.b' }]
const poolWith = (name: string, ...at: readonly number[]) =>
  createPool(
    main.console,
    { name, campaignId: the.line.campaignId, params },
    at.map((n) => the.numbers[n]?.numberId ?? ''),
  )
const dniTags = ({ tags, tagSources }: Json) =>
  Object.fromEntries(Object.entries(tags).filter(([key]) => tagSources[key] === 'dni'))

it('have the parameters of their visitor as tags, the session and the pool, and are replayed alike', async () => {
  const pool = await poolWith('Site', 0)
  const sent = `{"pool":"${pool.publicKey}","params":{"utm_source":"ads","gclid":["g1","g2"],"other":"x","__proto__":"p","a.b":7}}`
  const leased = (await visitor.lease(sent)).body
  const { call } = await callNow(main, { to: leased.number.e164 })
  expect(call).toMatchObject({ dniSessionId: leased.sessionId, numberPoolId: pool.id })
  expect(Object.entries(dniTags(call)).toSorted()).toEqual([
    ['__proto__', 'p'],
    ['a.b', '7'],
    ['gclid', 'g1'],
    ['utm_source', 'ads'],
  ])
  expect(call.tagSources.dialedNumber).toBe('system')
  const explanation = await explain(server.env, call.id, () => undefined)
  expect(explanation.decisions.length).toBeGreaterThan(0)
  expect(isReproduced(explanation), JSON.stringify(explanation.decisions)).toBe(true)
})

it('have the newest parameters of a visitor who came back', async () => {
  const pool = await poolWith('Back', 1)
  const leased = (await visitor.lease({ pool: pool.publicKey, params: { utm_source: 'ads' } })).body
  const { visitorId } = leased
  await visitor.lease({ pool: pool.publicKey, visitorId, params: { utm_source: 'mail', utm_term: 'roof' } })
  const { call } = await callNow(main, { to: leased.number.e164 })
  expect(call.dniSessionId).toBe(leased.sessionId)
  expect(dniTags(call)).toEqual({ utm_source: 'mail', utm_term: 'roof' })
})

it('belong to the most recent of the visitors who share a number', async () => {
  const pool = await poolWith('Shared', 2)
  await visitor.lease({ pool: pool.publicKey, params: { utm_source: 'first' } })
  const shared = (await visitor.lease({ pool: pool.publicKey, params: { utm_source: 'second' } })).body
  expect(shared.overflow).toBe(true)
  const { call } = await callNow(main, { to: shared.number.e164 })
  expect(call.dniSessionId).toBe(shared.sessionId)
  expect(dniTags(call)).toEqual({ utm_source: 'second' })
})

it('of a number that has just left its pool, or whose pool is gone, still belong to its visitor', async () => {
  const pool = await poolWith('Left', 3, 4)
  const leases: Json[] = []
  for (const utm_source of ['one', 'two'])
    leases.push((await visitor.lease({ pool: pool.publicKey, params: { utm_source } })).body)
  const [one, two] = leases
  const numberId = the.numbers.find(({ e164 }) => e164 === one.number.e164)?.numberId
  await main.console(`/api/tracking/numbers/${numberId}`, { method: 'PATCH', body: { poolId: null } })
  const ended = await visitor.heartbeat({ sessionId: one.sessionId, visitorId: one.visitorId })
  expect(ended.body).toMatchObject({ ok: true, expired: true })
  const call = (await callNow(main, { to: one.number.e164 })).call
  expect(call).toMatchObject({ dniSessionId: one.sessionId, numberPoolId: pool.id })
  await main.console(`/api/tracking/pools/${pool.id}`, { method: 'DELETE' })
  const after = (await callNow(main, { to: two.number.e164 })).call
  expect(after).toMatchObject({ dniSessionId: two.sessionId, numberPoolId: pool.id })
  expect(dniTags(after)).toEqual({ utm_source: 'two' })
})

it('that came before the lease, and calls on other numbers, have no session', async () => {
  const { call } = await main.playCall({ to: the.line.e164 })
  expect([call.dniSessionId, call.numberPoolId, dniTags(call)]).toEqual([null, null, {}])
  const at = new Date(Date.now() - 3_600_000).toISOString()
  const [first] = the.numbers
  const earlier = await main.playCall({ to: first?.e164, at })
  expect([setup.name, earlier.call.dniSessionId]).toEqual([setup.name, null])
})
