import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { acceptPublisherInvitation } from '../../../commands/access/accept-publisher-invitation.ts'
import { changePlan } from '../../../commands/access/change-plan.ts'
import { changeSubscription } from '../../../commands/access/change-subscription.ts'
import { grantSeat } from '../../../commands/access/grant-seat.ts'
import { invitePublisherUser } from '../../../commands/access/invite-publisher-user.ts'
import { registerUser } from '../../../commands/access/register-user.ts'
import { changePublisher } from '../../../commands/supply/change-publisher.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { hashPassword } from '../../../src/api/passwords.ts'
import { secretHash } from '../../../src/api/secret-hash.ts'
import { systemClock as clock, systemRandom as random } from '../../../src/main/system.ts'
import { openSession } from '../../../src/seed/tenants.ts'
import { type Json, sendRequest } from '../../support/e2e/api-client.ts'
import { createRecords } from '../../support/e2e/create-records.ts'
import { openInProcessPlatform } from '../../support/e2e/in-process-platform.ts'
import { embeddedStores, freshEnvironment, waitUntil } from '../../support/e2e/server.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'
import { type Operation, operationsOf } from '../../support/openapi/document.ts'
import { createKnownValues } from '../../support/openapi/known-values.ts'
import { type GeneratedRequest, requestsTo } from '../../support/openapi/requests.ts'
import { createResponseJudge, type Exchange } from '../../support/openapi/response-judge.ts'

/** Requests to each operation: for a long run, `OPENAPI_RUNS=500 OPENAPI_SEED=2`. */
const RUNS = Number(process.env.OPENAPI_RUNS ?? 16)
const SEED = Number(process.env.OPENAPI_SEED ?? 1)
const OPERATOR_TOKEN = 'operator-token-of-the-openapi-suite'
/** Sessions and keys that take turns, so that each stays below its rate limit. */
const CREDENTIALS = Math.max(4, Math.ceil(RUNS / 10))

const { app, baseUrl, createWorld, close } = await openInProcessPlatform({
  ...freshEnvironment(embeddedStores),
  OPERATOR_TOKEN,
  TRUST_PROXY: 'true',
})
afterAll(close)

// A process that has just started on a busy machine may answer 503.
const document = await waitUntil('The document', async () => {
  const { status, body } = await sendRequest(`${baseUrl}/openapi.json`)
  return status === 200 && body
})
const judge = createResponseJudge(document)
const known = createKnownValues()

const { main, line } = await createWorld(async (writer) => {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }))
  return { main, line: await main.line({ name: 'Open' }, [target]) }
})
for (const [kind, id] of Object.entries(await createRecords(baseUrl, main))) known.learn(`/${kind}`, { id })
const PASSWORD = 'password of every helper'
const passwordHash = await hashPassword(PASSWORD)
for (const [name, value] of Object.entries({
  projectionName: 'buyers',
  password: PASSWORD,
  current: PASSWORD,
  'If-Match': '*',
  to: line.e164,
  callerNumber: '+13105550188',
}))
  known.add(name, value)

/** Secrets that each security scheme takes in turn. */
let secrets: Readonly<Record<string, readonly string[]>> = {}
/** Whether a credential may have lost what it could do. */
let isDoubtful = true
let turn = 0

const createUserSession = async () => {
  const email = `${crypto.randomUUID()}@people.example`
  await main.act(registerUser, { email, name: 'Helper', passwordHash })
  await main.act(grantSeat, { email, name: 'Helper', role: 'owner' })
  return openSession({ writer: app.writer, clock, random }, main.workspaceId, email)
}

/** A session of a user of a publisher of its own, whose portal is on. */
async function createPublisherSession(): Promise<string> {
  const person = { email: `${crypto.randomUUID()}@publisher.example`, name: 'Helper' }
  const publisherId = await main.publisher({ name: `Publisher ${crypto.randomUUID()}` })
  await main.act(changePublisher, { publisherId, changes: { portalEnabled: true } })
  await main.act(registerUser, { ...person, passwordHash })
  const tokenHash = secretHash(person.email)
  const [invited] = await main.act(invitePublisherUser, { publisherId, ...person, tokenHash })
  const data: Json = invited?.data
  await main.act(acceptPublisherInvitation, { invitationId: data.invitation.id, tokenHash, person })
  return openSession({ writer: app.writer, clock, random }, main.workspaceId, person.email)
}

/** A routing key of a lane of its own. */
async function createRoutingKey(): Promise<string> {
  const secret = `rk_live_${crypto.randomUUID()}`
  const publisherId = await main.publisher({ name: `Publisher ${crypto.randomUUID()}` })
  const key = { prefix: secret.slice(0, 12), hash: secretHash(secret) }
  await main.act(setLane, { campaignId: line.campaignId, publisherId, terms: {}, key })
  return secret
}

/** Gives the workspace its plan back, and every scheme fresh credentials. */
async function restore(): Promise<void> {
  const many = <Value>(create: () => Promise<Value>) => Promise.all(Array.from({ length: CREDENTIALS }, create))
  await createWorld(async () => {
    await main.act(changePlan, { planId: 'scale' })
    await main.act(changeSubscription, { subscriptionStatus: 'active' })
    secrets = {
      operator: [OPERATOR_TOKEN],
      session: await many(createUserSession),
      publisherSession: await many(createPublisherSession),
      key: await many(() => main.apiKey({})),
      routingKey: [await createRoutingKey()],
    }
  })
  isDoubtful = false
}

/** The scheme and the secret that a request sends; a null scheme where the secret does not fit. */
interface SentCredential {
  readonly scheme: string | null
  readonly secret: string | null
}

const NONE: SentCredential = { scheme: null, secret: null }

/** @throws Error for a security scheme that this suite does not know */
function credentialFor({ security }: Operation, { credential }: GeneratedRequest): SentCredential {
  turn += 1
  if (credential === 'none') return NONE
  if (credential === 'unknown') return { scheme: null, secret: 'svc_live_unknown' }
  if (credential === 'of another surface') {
    const other = Object.keys(secrets).find((scheme) => !security.includes(scheme)) ?? ''
    return { scheme: null, secret: secrets[other]?.[0] ?? null }
  }
  const scheme = security[turn % security.length] ?? null
  if (scheme === null) return NONE
  const held = secrets[scheme]
  if (held === undefined) throw new Error(`There is no credential of the scheme ${scheme}`)
  return { scheme, secret: held[turn % held.length] ?? null }
}

/** Response headers whose values request headers take. */
const LEARNT_HEADERS = [
  ['etag', 'If-Match'],
  ['svc-position', 'svc-min-position'],
] as const

/** An address of its own for each request, so that no limit of a source is met. */
const source = () => `10.${(turn >> 16) & 255}.${(turn >> 8) & 255}.${turn & 255}`

async function send(operation: Operation, request: GeneratedRequest): Promise<Exchange> {
  const { scheme, secret } = credentialFor(operation, request)
  const response = await sendRequest(`${baseUrl}${request.path}`, {
    method: operation.method,
    headers: {
      'x-forwarded-for': source(),
      ...request.headers,
      ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
    },
    ...(request.body === null || operation.method === 'GET' ? {} : { body: request.body }),
  })
  if (response.status < 300) known.learn(operation.path, response.body)
  for (const [header, name] of LEARNT_HEADERS) {
    const value = response.headers.get(header)
    if (value !== null) known.add(name, value)
  }
  if (scheme !== null && [401, 402, 403].includes(response.status)) isDoubtful = true
  return { operation, request, scheme, response }
}

/** Paths of writes after which a record does less. */
const ENDING = /(rotate|release|sign-out|password|status|restrict)$/

/** What makes records comes first, and what ends them last. */
function rankOf({ method, path }: Operation): number {
  if (method === 'DELETE') return 3
  if (method === 'POST' && !path.includes('{')) return ENDING.test(path) ? 2 : 0
  return ENDING.test(path) ? 2 : 1
}

/** A seed for each operation, so that they do not all get the same choices. */
const seedOf = (title: string) => createHash('sha256').update(`${SEED} ${title}`).digest().readInt32BE()

const operations = operationsOf(document).toSorted((one, other) => rankOf(one) - rankOf(other))
const answered = new Map<string, Set<number>>()

describe('every answer is one that the OpenAPI document lists', () => {
  beforeAll(async () => {
    await restore()
    // What lists show, requests can name.
    const read = { credential: 'fitting', query: [], headers: {}, body: null } as const
    for (const operation of operations)
      if (operation.method === 'GET' && !operation.path.includes('{'))
        await send(operation, { ...read, path: operation.path })
  })

  test.each(operations.map((operation) => [operation.title, operation] as const))('%s', async (title, operation) => {
    const statuses = new Set<number>()
    answered.set(title, statuses)
    if (isDoubtful) await restore()
    await fc.assert(
      fc.asyncProperty(requestsTo(operation, { document, known }), async (request) => {
        const exchange = await send(operation, request)
        const { response } = exchange
        statuses.add(response.status)
        expect(judge(exchange), `${response.status} ${response.text.slice(0, 500)}`).toEqual([])
      }),
      { numRuns: RUNS, seed: seedOf(title) },
    )
  })

  test('most operations answered with a success, so that the requests are no mere refusals', () => {
    const succeeded = [...answered.values()].filter((statuses) => [...statuses].some((status) => status < 300))
    expect(succeeded.length / answered.size).toBeGreaterThan(0.8)
  })
})
