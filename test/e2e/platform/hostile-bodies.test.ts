import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { refusalsOf } from '../../../src/adapters/http/refusals.ts'
import type { ApiRoute } from '../../../src/ports/api.ts'
import { sendRequest } from '../../support/e2e/api-client.ts'
import { createRecords, pathOf, type Records } from '../../support/e2e/create-records.ts'
import { openInProcessPlatform } from '../../support/e2e/in-process-platform.ts'
import { parkStream } from '../../support/e2e/park-stream.ts'
import { openPortalUser } from '../../support/e2e/portal-client.ts'
import { embeddedStores, freshEnvironment } from '../../support/e2e/server.ts'
import { createTenantClient } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace, grantRole } from '../../support/e2e/world.ts'

const OPERATOR_TOKEN = 'operator-token-of-hostile-bodies-suite'
/** Number of credentials, so that each stays below its rate limit. */
const CREDENTIALS = 8
const RUNS = 20

const environment = {
  ...freshEnvironment(embeddedStores),
  OPERATOR_TOKEN,
}
const { app, baseUrl, createWorld, close } = await openInProcessPlatform(environment)
afterAll(close)

const main = await createWorld((writer) => createTenantWorkspace(writer, { name: 'Main' }))
const own: Records = {
  ...(await createRecords(baseUrl, main)),
  parked: await parkStream(environment, main.workspaceId),
}
const helpers = await createWorld((writer) =>
  Promise.all(
    Array.from({ length: CREDENTIALS }, async (_, n) => {
      const helper = await createTenantWorkspace(writer, { name: `Helper ${n}` })
      await grantRole(writer, helper.email, main, 'owner')
      const scopes = app.routes.flatMap(({ scope }) => scope ?? []).filter((scope) => scope !== 'blocklist:read')
      return { session: helper.session, key: await main.apiKey({ scopes: [...new Set(scopes), 'blocklist:write'] }) }
    }),
  ),
)

const portalUser = await openPortalUser({ baseUrl }, createTenantClient({ baseUrl }, main), [String(own.publishers)])

let turn = 0

/** The next credential for a route. */
function credentialFor({ surface }: ApiRoute): string {
  turn += 1
  const helper = helpers[turn % CREDENTIALS]
  if (surface === 'operator') return OPERATOR_TOKEN
  if (surface === 'portal') return portalUser.session
  return (surface === 'rest' ? helper?.key : helper?.session) ?? ''
}

const deep = (levels: number): unknown => (levels === 0 ? 0 : { a: deep(levels - 1) })

/** Values that no field accepts. */
const hostile = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    ' ',
    'x'.repeat(100_000),
    '\u0000',
    '\ud800',
    '💥'.repeat(50),
    '{{7*7}}',
    "'; DROP TABLE views; --",
    -1,
    0,
    1.5,
    1e308,
    2 ** 53,
    -(2 ** 53),
    '1',
    'NaN',
    [],
    [[]],
    [null],
    {},
    { $ne: null },
    { toString: 1 },
    { constructor: 'v', valueOf: 'v', hasOwnProperty: 'v' },
    deep(20),
  ),
  fc.string({ unit: 'binary' }),
  fc.jsonValue(),
  fc.maxSafeInteger(),
)

const unknownFields = fc.constantFrom('__proto__', 'constructor', 'id', 'workspaceId', 'status ', 'Name', '$where', '')

/** The fields of a body's schema. */
function fieldsOf(schema: z.ZodType): readonly string[] {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return Object.keys(json.properties ?? {})
}

/** Bodies as JSON text: some fields of the schema with hostile values, unknown fields, or no object at all. */
function bodiesOf({ body }: ApiRoute): fc.Arbitrary<string> {
  const known = body === null ? [] : fieldsOf(body)
  const entry = fc.tuple(known.length > 0 ? fc.oneof(fc.constantFrom(...known), unknownFields) : unknownFields, hostile)
  const object = fc
    .array(entry, { minLength: 1, maxLength: 6 })
    .map((entries) => `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`)
  const other = fc.constantFrom(
    '[]',
    '"text"',
    '1',
    'null',
    '{',
    '{"a":}',
    JSON.stringify(deep(40)),
    '[[[[[[[[]]]]]]]]',
  )
  return fc.oneof({ weight: 6, arbitrary: object }, { weight: 1, arbitrary: other })
}

/** Top-level fields of a body that its schema refuses. */
function refusedFields(schema: z.ZodType | null, text: string): readonly string[] {
  const value: unknown = JSON.parse(text)
  if (schema === null || typeof value !== 'object' || value === null || Array.isArray(value)) return []
  const result = schema.safeParse(value)
  return result.success
    ? []
    : result.error.issues.flatMap(({ path: [first] }) => (first === undefined ? [] : [String(first)]))
}

const parses = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const isLast = ({ method, path }: ApiRoute) => method === 'DELETE' || /release|terminate|rotate/.test(path)
const writes = app.routes
  .filter(({ write, surface }) => write && surface !== 'sandbox')
  .toSorted((one, other) => Number(isLast(one)) - Number(isLast(other)))
  .map((route) => [`${route.method} ${route.path}`, route] as const)

describe('a hostile body', () => {
  test.each(writes)('%s refuses hostile bodies by field, and appends nothing', async (_name, route) => {
    const declared = refusalsOf(route).map(({ status, code }) => `${status} ${code}`)
    await fc.assert(
      fc.asyncProperty(bodiesOf(route), async (text) => {
        const before = await app.log.head()
        const answer = await sendRequest(`${baseUrl}${pathOf(route, own)}?agencyId=${main.workspaceId}`, {
          method: route.method,
          body: text,
          headers: { authorization: `Bearer ${credentialFor(route)}` },
        })
        expect(answer.status, answer.text).toBeLessThan(500)
        if (answer.status < 400 || String(answer.status) in route.responses) return
        expect(declared, answer.text).toContain(`${answer.status} ${answer.body.error.code}`)
        // Due jobs may append meanwhile; this request appends nothing.
        const { events } = await app.log.readAll(before)
        const requests = answer.headers.get('svc-request-id')
        expect(events.filter(({ meta }) => meta.correlationId === requests)).toEqual([])
        if (answer.body.error.code !== 'validation_error') return
        const named = Object.keys(answer.body.error.details ?? {})
        expect(named.length, answer.text).toBeGreaterThan(0)
        // Keys that would reach the prototype are refused before the body is validated.
        if (!parses(text) || named.includes('body') || named.some((name) => name.includes('__proto__'))) return
        for (const field of refusedFields(route.body, text))
          expect(
            named.some((name) => name === field || name.startsWith(`${field}.`)),
            `${field} in ${answer.text}`,
          ).toBe(true)
      }),
      { numRuns: RUNS },
    )
  })
})

const reads = app.routes
  .filter(({ method, surface }) => method === 'GET' && surface !== 'sandbox')
  .map((route) => [`${route.method} ${route.path}`, route] as const)

describe('a hostile query', () => {
  test.each(reads)('%s answers it, or refuses it by field', async (_name, route) => {
    for (const value of ['constructor', '__proto__', 'toString', '\u0000', '[object Object]', 'x'.repeat(5_000)]) {
      const fields = fieldsOf(route.query).filter((field) => field !== 'agencyId')
      const asked = new URLSearchParams(
        [...fields, 'constructor', '__proto__'].map((field): [string, string] => [field, value]),
      )
      const answer = await sendRequest(
        `${baseUrl}${pathOf(route, own)}?agencyId=${main.workspaceId}&${asked.toString()}`,
        { headers: { authorization: `Bearer ${credentialFor(route)}` } },
      )
      expect(answer.status, answer.text).toBeLessThan(500)
      if (answer.body?.error?.code !== 'validation_error') continue
      for (const field of Object.keys(answer.body.error.details)) expect([...fields, 'query']).toContain(field)
    }
  })
})
