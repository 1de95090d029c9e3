import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { monthAfter } from '../../../src/domain/supply/renewal.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { statusAndCode } from '../../support/e2e/api-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace, type Tenant } from '../../support/e2e/world.ts'

const DAY_MS = 86_400_000
/** Rent of a local number on the plan growth. */
const RENT = 250
const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

async function world(writer: StreamWriter) {
  const open = (name: string, fundCents: number) => createTenantWorkspace(writer, { name, planId: 'growth', fundCents })
  const [main, late, broke, leaving] = [
    await open('Funded', 10_000),
    await open('Late', 10_000),
    await open('Broke', 0),
    await open('Leaving', 0),
  ]
  const dates = { yesterday: ago(1), months: ago(75) }
  return {
    dates,
    main,
    funded: { tenant: main, ...(await main.number({ renewsAt: dates.yesterday })) },
    undated: await main.number(),
    tomorrow: await main.number({ renewsAt: ago(-1) }),
    late: { tenant: late, ...(await late.number({ renewsAt: dates.months })) },
    broke: {
      tenant: broke,
      first: await broke.number({ renewsAt: ago(2) }),
      second: await broke.number({ renewsAt: dates.yesterday }),
    },
    leaving: { tenant: leaving, ...(await leaving.number({ renewsAt: dates.yesterday })) },
  }
}

const { it, the, server, client } = suite('renewals', world, { env: { OPERATOR_TOKEN } })

const staff = (path: string, body: Json) => client(OPERATOR_TOKEN)(path, { method: 'POST', body })
const walletOf = async ({ session }: Tenant) => (await client(session)('/api/tracking/wallet?pageSize=200')).body
const renewalsOf = async (tenant: Tenant) =>
  (await walletOf(tenant)).entries.data.filter(({ kind }: Json) => kind === 'renewal')
const numbersOf = async ({ session }: Tenant): Promise<readonly Json[]> =>
  (await client(session)('/api/tracking/numbers')).body.data
const numberOf = async (tenant: Tenant, numberId: string) => (await numbersOf(tenant)).find(({ id }) => id === numberId)
const becomes = (tenant: Tenant, numberId: string, status: string) =>
  waitUntil(`The number is ${status}`, async () => {
    const number = await numberOf(tenant, numberId)
    return number?.status === status && number
  })
const credit = (tenant: Tenant, amountCents: number) =>
  staff(`/api/operator/workspaces/${tenant.workspaceId}/credits`, { amountCents, reference: randomUUID() })

it('a number is billed when its rent falls due, and paid until the same day of the next month', async () => {
  const { tenant, numberId, e164 } = the.funded
  const [entry] = await waitUntil('The rent is charged', async () => {
    const charged = await renewalsOf(tenant)
    return charged.length > 0 && charged
  })
  const date = the.dates.yesterday.slice(0, 10)
  expect(entry).toMatchObject({
    amountCents: -RENT,
    balanceCents: 10_000 - RENT,
    reference: `renewal:${numberId}:${date}`,
    note: e164,
  })
  const renewsAt = monthAfter(the.dates.yesterday)
  await waitUntil('The number is renewed', async () => (await numberOf(tenant, numberId)).renewsAt === renewsAt)
  const others = [the.undated, the.tomorrow]
  for (const other of others) expect((await numberOf(tenant, other.numberId)).status).toBe('active')
  expect(await numberOf(tenant, the.undated.numberId)).not.toHaveProperty('renewsAt')
  expect(await renewalsOf(tenant)).toHaveLength(1)
})

it('missed months are billed one after another, each once', async () => {
  const { tenant, numberId } = the.late
  const dates = [the.dates.months]
  for (let next = monthAfter(the.dates.months); Date.parse(next) <= Date.now(); ) {
    dates.push(next)
    next = monthAfter(next, new Date(the.dates.months).getUTCDate())
  }
  await waitUntil('Every month is charged', async () => (await renewalsOf(tenant)).length === dates.length)
  const charged = await renewalsOf(tenant)
  expect(charged.map(({ reference }: Json) => reference)).toEqual(
    dates.toReversed().map((date) => `renewal:${numberId}:${date.slice(0, 10)}`),
  )
  expect((await walletOf(tenant)).balanceCents).toBe(10_000 - dates.length * RENT)
})

it('a number without funds is past due, takes calls, and is paid when funds arrive, the oldest first', async () => {
  const { tenant, first, second } = the.broke
  await becomes(tenant, first.numberId, 'past_due')
  await becomes(tenant, second.numberId, 'past_due')
  expect((await walletOf(tenant)).balanceCents).toBe(0)
  const call = (to: string) =>
    client(tenant.session)('/api/sandbox/calls', { method: 'POST', body: { to, mode: 'instant' } })
  expect((await call(first.e164)).status).toBe(201)

  const suspend = await staff(`/api/operator/numbers/${second.numberId}/status`, { status: 'suspended' })
  expect(suspend.status, suspend.text).toBe(200)
  expect(statusAndCode(await call(second.e164))).toEqual([409, 'conflict'])

  expect((await credit(tenant, RENT + 1)).status).toBe(200)
  await becomes(tenant, first.numberId, 'active')
  expect((await numberOf(tenant, second.numberId)).status).toBe('suspended')
  expect((await walletOf(tenant)).balanceCents).toBe(1)

  expect((await credit(tenant, RENT)).status).toBe(200)
  const paid = await becomes(tenant, second.numberId, 'active')
  expect(Date.parse(paid.renewsAt)).toBeGreaterThan(Date.now())
  expect((await call(second.e164)).status).toBe(201)
  expect(await renewalsOf(tenant)).toHaveLength(2)
})

it('a number whose release is requested is billed until it is released', async () => {
  const { tenant, numberId } = the.leaving
  await becomes(tenant, numberId, 'past_due')
  const released = await client(tenant.session)(`/api/tracking/numbers/${numberId}/release`, { method: 'POST' })
  expect(released.status, released.text).toBe(200)
  expect((await credit(tenant, RENT)).status).toBe(200)
  await waitUntil('The rent is charged', async () => (await renewalsOf(tenant)).length === 1)
  await becomes(tenant, numberId, 'active')
})

it('a restart does not repeat a bill', async () => {
  const { tenant } = the.late
  const before = await walletOf(tenant)
  await server.restart()
  await waitUntil('The workspace is read', async () => (await walletOf(tenant)).balanceCents === before.balanceCents)
  const { numberId } = the.broke.first
  await waitUntil('It still answers', async () => (await numberOf(the.broke.tenant, numberId))?.status === 'active')
  expect(await walletOf(tenant)).toEqual(before)
})
