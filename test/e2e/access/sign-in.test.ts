import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { signIn } from '../../../commands/access/sign-in.ts'
import { secretHash } from '../../../src/api/secret-hash.ts'
import { userIdOf } from '../../../src/domain/access/user.ts'
import { PASSWORD } from '../../../src/domain/shared/limits.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, statusAndCode } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace, grantRole, type Tenant } from '../../support/e2e/world.ts'

/** The stores may hold data of earlier runs: addresses and tokens are unique per run. */
const RUN = randomUUID()
const HOUR_MS = 3_600_000
const OPERATOR = 'operator-token-of-the-sign-in-suite'
const PASSPHRASE = 'correct horse battery'
/** Failures that an address from one source, an address and a source may have, and how long each counts (Supplement §2). */
const SIGN_IN_FAILURES = { pair: 10, address: 100, source: 100, minutes: 15 }

/** Creates a session that ends after `hours`. */
async function sessionFor({ act, email }: Tenant, token: string, hours: number): Promise<string> {
  const expiresAt = new Date(Date.now() + hours * HOUR_MS).toISOString()
  await act(signIn, { userId: userIdOf(email), sessionHash: secretHash(token), expiresAt })
  return token
}

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  await grantRole(writer, main.email, other, 'member')
  return {
    main,
    other,
    fresh: await sessionFor(main, `sess_fresh_${RUN}`, 11.5),
    aging: await sessionFor(main, `sess_aging_${RUN}`, 10.9),
    dying: await sessionFor(main, `sess_dying_${RUN}`, 1 / HOUR_MS),
  }
}

const { it, describe, the, client } = suite('sign-in', world, {
  env: { OPERATOR_TOKEN: OPERATOR, TRUST_PROXY: 'true' },
})

let people = 0

const post = (path: string, body: Json, token: string | null = null, headers = {}) =>
  client(token)(path, { method: 'POST', body, headers })
const enter = (email: string, password: string, from = '192.0.2.1', headers = {}) =>
  post('/api/auth/sign-in', { email, password }, null, { 'x-forwarded-for': from, ...headers })

/** Creates a user with a workspace, not signed in yet. */
async function somebody() {
  people += 1
  const email = `somebody-${people}@${RUN}.example`
  const { status, body } = await post(
    '/api/operator/workspaces',
    {
      name: `Workspace ${people}`,
      timezone: 'UTC',
      planId: 'growth',
      owner: { email, name: `Somebody ${people}`, password: PASSPHRASE },
    },
    OPERATOR,
  )
  expect(status).toBe(201)
  return { email, agencyId: body.workspace.id, id: body.owner.id }
}

async function tokenOf(email: string, password = PASSPHRASE): Promise<string> {
  const { status, body } = await enter(email, password, `198.51.100.${people}`)
  expect(status).toBe(200)
  return body.token
}

it('a correct password opens a session of twelve hours, with its user and seats', async () => {
  const { email, agencyId, id } = await somebody()
  const before = Date.now()
  const { status, body } = await enter(email.toUpperCase(), PASSPHRASE)
  expect(status).toBe(200)
  expect(body).toEqual({
    token: expect.stringMatching(/^sess_[\w-]{43}$/),
    expiresAt: expect.any(String),
    user: { id, email, name: `Somebody ${people}` },
    seats: [{ agencyId, agencyName: `Workspace ${people}`, role: 'owner' }],
    publishers: [],
  })
  const lasts = Date.parse(body.expiresAt) - before
  expect(lasts).toBeGreaterThanOrEqual(12 * HOUR_MS)
  expect(lasts).toBeLessThan(12 * HOUR_MS + 60_000)
  const { token, ...rest } = body
  expect((await client(token)('/api/auth/session')).body).toEqual(rest)
  expect((await client(token)('/api/tracking/workspace')).body.workspace.id).toBe(agencyId)
})

it('a session lists every seat, also as member, in the order granted', async () => {
  const { body } = await client(the.main.session)('/api/auth/session')
  expect(body.seats).toEqual([
    { agencyId: the.main.workspaceId, agencyName: 'Main', role: 'owner' },
    { agencyId: the.other.workspaceId, agencyName: 'Other', role: 'member' },
  ])
})

it('a wrong password and an unknown address give the same answer in the same time', async () => {
  const { email } = await somebody()
  const answers = [
    await enter(email, 'wrong'),
    await enter(`unknown@${RUN}.example`, 'wrong'),
    await enter(`unknown@${RUN}.example`, PASSPHRASE),
  ]
  expect(answers.map(statusAndCode)).toEqual(Array(3).fill([401, 'unauthorized']))
  expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  const msOf = async (address: string) => {
    const began = performance.now()
    await enter(address, 'wrong', '192.0.2.77')
    return performance.now() - began
  }
  const times = { known: [] as number[], unknown: [] as number[] }
  for (let n = 0; n < 7; n++) {
    times.known.push(await msOf(email))
    times.unknown.push(await msOf(`stranger@${RUN}.example`))
  }
  const median = (all: readonly number[]) => all.toSorted((one, other) => one - other)[3] ?? 0
  // Without a password verification it would take a tenth of the time.
  expect(median(times.unknown)).toBeGreaterThan(median(times.known) / 3)
  expect(median(times.unknown)).toBeLessThan(median(times.known) * 3)
})

it.each([
  [{ email: 'nobody', password: 'x' }, ['email']],
  [{ email: 'a@b.example' }, ['password']],
  [{ email: 'a@b.example', password: '' }, ['password']],
  [{ email: 'a@b.example', password: 'x'.repeat(PASSWORD.max + 1) }, ['password']],
  [{ email: ['a@b.example'], password: { $ne: '' } }, ['email', 'password']],
  [{ email: 'a@b.example', password: 'x', agencyId: 'x' }, ['agencyId']],
  [[], ['body']],
])('%j is a validation_error', async (body, fields) => {
  const answer = await post('/api/auth/sign-in', body)
  expect(statusAndCode(answer)).toEqual([400, 'validation_error'])
  expect(Object.keys(answer.body.error.details).toSorted()).toEqual(fields)
})

it('ten failures from one source lock an address there, for the correct password too, and no other address', async () => {
  const { email } = await somebody()
  const another = await somebody()
  for (let n = 0; n < SIGN_IN_FAILURES.pair; n++)
    expect(statusAndCode(await enter(email, `wrong ${n}`))).toEqual([401, 'unauthorized'])
  for (const spelling of [email, email.toUpperCase()]) {
    const answer = await enter(spelling, PASSPHRASE)
    expect(statusAndCode(answer)).toEqual([429, 'rate_limited'])
    const wait = Number(answer.headers.get('retry-after'))
    expect(wait).toBeGreaterThan((SIGN_IN_FAILURES.minutes - 2) * 60)
    expect(wait).toBeLessThanOrEqual(SIGN_IN_FAILURES.minutes * 60)
  }
  expect((await enter(another.email, PASSPHRASE)).status).toBe(200)
  expect((await enter(email, PASSPHRASE, '203.0.113.1')).status).toBe(200)
})

it('concurrent attempts get no further than ten, and a success does not count', async () => {
  const { email } = await somebody()
  const right = await Promise.all(Array.from({ length: 15 }, () => enter(email, PASSPHRASE)))
  expect(right.map(({ status }) => status)).toEqual(Array(15).fill(200))
  const wrong = await Promise.all(Array.from({ length: 40 }, () => enter(email, 'wrong')))
  expect(wrong.filter(({ status }) => status === 401)).toHaveLength(SIGN_IN_FAILURES.pair)
  expect(wrong.filter(({ status }) => status === 429)).toHaveLength(40 - SIGN_IN_FAILURES.pair)
})

it('a hundred failures lock a source, an IPv6 /64, whatever the addresses', async () => {
  const { email } = await somebody()
  const from = '2001:db8::17'
  const wrong = await Promise.all(
    Array.from({ length: SIGN_IN_FAILURES.source }, (_, n) => enter(`guess-${n}@${RUN}.example`, 'wrong', from)),
  )
  expect(wrong.map(({ status }) => status)).toEqual(Array(SIGN_IN_FAILURES.source).fill(401))
  for (const source of [from, '2001:db8::18'])
    expect(statusAndCode(await enter(email, PASSPHRASE, source))).toEqual([429, 'rate_limited'])
  expect((await enter(email, PASSPHRASE, '2001:db8:0:1::17')).status).toBe(200)
})

it('a hundred failures from many sources lock an address for every source, and no other address', async () => {
  const [{ email }, another] = [await somebody(), await somebody()]
  const from = (n: number) => `198.51.100.${100 + (n % 20)}`
  const wrong = await Promise.all(
    Array.from({ length: SIGN_IN_FAILURES.address }, (_, n) => enter(email, 'wrong', from(n))),
  )
  expect(wrong.map(({ status }) => status)).toEqual(Array(SIGN_IN_FAILURES.address).fill(401))
  expect(statusAndCode(await enter(email, PASSPHRASE, '203.0.113.2'))).toEqual([429, 'rate_limited'])
  expect((await enter(another.email, PASSPHRASE, from(0))).status).toBe(200)
})

it('a sign-in repeated with its Idempotency-Key answers the same session', async () => {
  const { email } = await somebody()
  const another = await somebody()
  const key = { 'idempotency-key': 'once' }
  const first = await enter(email, PASSPHRASE, '192.0.2.9', key)
  const second = await enter(email, PASSPHRASE, '192.0.2.9', key)
  expect([second.body, second.headers.get('svc-idempotent-replay')]).toEqual([first.body, 'true'])
  expect(statusAndCode(await enter(another.email, PASSPHRASE, '192.0.2.9', key))).toEqual([409, 'conflict'])
  expect((await enter(email, PASSPHRASE, '192.0.2.10', key)).body.token).not.toBe(first.body.token)
})

it('who signs in again from another address of its IPv6 /64 is the same client', async () => {
  const { email } = await somebody()
  const tokenFrom = async (from: string) =>
    (await enter(email, PASSPHRASE, from, { 'idempotency-key': 'once-a-network' })).body.token
  const first = await tokenFrom('2001:db8:7::1')
  expect(await tokenFrom('2001:db8:7::2')).toBe(first)
  expect(await tokenFrom('2001:db8:7:1::1')).not.toBe(first)
})

it('signing out ends this session only, at once', async () => {
  const { email } = await somebody()
  const [one, other] = [await tokenOf(email), await tokenOf(email)]
  const answer = await post('/api/auth/sign-out', undefined, one)
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect(statusAndCode(await client(one)('/api/auth/session'))).toEqual([401, 'unauthorized'])
  expect(statusAndCode(await client(one)('/api/tracking/workspace'))).toEqual([401, 'unauthorized'])
  expect(statusAndCode(await post('/api/auth/sign-out', {}, one))).toEqual([401, 'unauthorized'])
  expect((await client(other)('/api/auth/session')).status).toBe(200)
})

it('a password change ends every other session', async () => {
  const { email } = await somebody()
  const [one, other] = [await tokenOf(email), await tokenOf(email)]
  const change = (current: string, next: Json, token = one) => post('/api/auth/password', { current, next }, token)

  const wrong = await change('not it', 'another passphrase')
  expect(statusAndCode(wrong)).toEqual([400, 'bad_request'])
  expect(Object.keys(wrong.body.error.details)).toEqual(['current'])
  for (const next of ['x'.repeat(PASSWORD.min - 1), 'x'.repeat(PASSWORD.max + 1), null]) {
    const refused = await change(PASSPHRASE, next)
    expect([...statusAndCode(refused), Object.keys(refused.body.error.details)]).toEqual([
      400,
      'validation_error',
      ['next'],
    ])
  }
  expect((await client(other)('/api/auth/session')).status).toBe(200)

  const next = 'ω'.repeat(PASSWORD.min)
  expect((await change(PASSPHRASE, next)).status).toBe(204)
  expect(statusAndCode(await client(other)('/api/auth/session'))).toEqual([401, 'unauthorized'])
  expect((await client(one)('/api/auth/session')).status).toBe(200)
  expect(statusAndCode(await enter(email, PASSPHRASE))).toEqual([401, 'unauthorized'])
  expect((await enter(email, next)).status).toBe(200)
  expect((await change(next, 'x'.repeat(PASSWORD.max))).status).toBe(204)
})

it('wrong current passwords lock the password change', async () => {
  const { email } = await somebody()
  const token = await tokenOf(email)
  const guess = (current: string) => post('/api/auth/password', { current, next: 'another passphrase' }, token)
  for (let n = 0; n < SIGN_IN_FAILURES.pair; n++) expect((await guess(`wrong ${n}`)).status).toBe(400)
  expect(statusAndCode(await guess(PASSPHRASE))).toEqual([429, 'rate_limited'])
})

it('a session in use is extended; one with more than eleven hours left is not', async () => {
  const endOf = async (token: string) => {
    const { body } = await client(token)('/api/auth/session')
    return (Date.parse(body.expiresAt) - Date.now()) / HOUR_MS
  }
  expect(await endOf(the.aging)).toBeGreaterThan(10)
  expect(await waitUntil('The session has slid', async () => (await endOf(the.aging)) > 11.9)).toBe(true)
  const fresh = await endOf(the.fresh)
  expect(fresh).toBeLessThan(11.5)
  for (let n = 0; n < 3; n++) await client(the.fresh)('/api/tracking/workspace')
  expect(await endOf(the.fresh)).toBeLessThan(11.5)
})

describe(documentLine('console 401 unauthorized'), () => {
  const paths = ['/api/auth/session', '/api/tracking/users', '/api/tracking/workspace', '/api/tracking/buyers']

  it.each([
    ['no token', null],
    ['a token that was never issued', `sess_${'a'.repeat(43)}`],
    ['text that is no token', 'x'],
  ])('%s', async (_name, token) => {
    for (const path of paths) {
      const answer = await client(token)(path)
      expect(statusAndCode(answer)).toEqual([401, 'unauthorized'])
      expect(answer.body.error.details).toBeNull()
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  it('an expired session and an API key are unauthorized', async () => {
    for (const token of [the.dying, the.main.key])
      expect(statusAndCode(await client(token)('/api/tracking/workspace'))).toEqual([401, 'unauthorized'])
  })
})
