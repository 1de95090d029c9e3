import { afterAll, describe, expect, test } from 'vitest'
import { changePlan } from '../../../commands/access/change-plan.ts'
import { ownHeaderNames, requestHeaderNames, responseHeaderNames } from '../../../src/adapters/http/openapi/headers.ts'
import { refusalsOf } from '../../../src/adapters/http/refusals.ts'
import type { ApiRoute } from '../../../src/ports/api.ts'
import {
  type ApiResponse,
  errorWithoutRequestId,
  type Json,
  sendRequest,
  UNKNOWN_ID,
} from '../../support/e2e/api-client.ts'
import { createRecords, pathOf, type Records, recordKindsOf } from '../../support/e2e/create-records.ts'
import { openInProcessPlatform } from '../../support/e2e/in-process-platform.ts'
import { parkStream } from '../../support/e2e/park-stream.ts'
import { openPortalUser } from '../../support/e2e/portal-client.ts'
import { embeddedStores, freshEnvironment } from '../../support/e2e/server.ts'
import { createTenantClient } from '../../support/e2e/tenant-client.ts'
import { archiveCampaign, cancelSubscription, createTenantWorkspace } from '../../support/e2e/world.ts'
import { codesOf, resolveReference } from '../../support/openapi/references.ts'

const OPERATOR_TOKEN = 'operator-token-of-the-access-matrix'

const environment = { ...freshEnvironment(embeddedStores), OPERATOR_TOKEN, TRUST_PROXY: 'true' }
const { app, baseUrl, createWorld, close } = await openInProcessPlatform(environment)
afterAll(close)

const { main, other, lapsed, demoted, away } = await createWorld(async (writer) => ({
  main: await createTenantWorkspace(writer, { name: 'Main' }),
  other: await createTenantWorkspace(writer, { name: 'Other' }),
  lapsed: await createTenantWorkspace(writer, { name: 'Lapsed' }),
  demoted: await createTenantWorkspace(writer, { name: 'Demoted' }),
  away: await createTenantWorkspace(writer, { name: 'Away' }),
}))
const own: Records = {
  ...(await createRecords(baseUrl, main)),
  parked: await parkStream(environment, main.workspaceId),
}
const theirs = await createRecords(baseUrl, other)
const late = await createRecords(baseUrl, lapsed)
const shelved = await away.line({ name: 'Shelved' }, [await away.target(await away.buyer({ name: 'Shelved buyer' }))])
const old: Records = { ...(await createRecords(baseUrl, away)), campaigns: shelved.campaignId }
/** A user of a publisher that has a lane, and none of the records at hand. */
const portalPublisher = await main.publisher({ name: 'Portal leads' })
const portalTarget = await main.target(await main.buyer({ name: 'Portal buyer' }))
const portalLine = await main.line({ name: 'Portal line' }, [portalTarget], { publisherId: portalPublisher })
const portalUser = await openPortalUser({ baseUrl }, createTenantClient({ baseUrl }, main), [portalPublisher])
const powerless = await createWorld(async () => {
  await cancelSubscription(lapsed)
  await demoted.act(changePlan, { planId: 'starter' })
  return main.apiKey({ scopes: [] })
})
const keys = { powerless, ...(await turned()) }
await putAway()

const request = (
  route: ApiRoute,
  token: string | null,
  records: Records,
  body: Json = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiResponse> =>
  sendRequest(`${baseUrl}${pathOf(route, records)}`, {
    method: route.method,
    headers: token === null ? headers : { ...headers, authorization: `Bearer ${token}` },
    ...(route.method === 'GET' ? {} : { body }),
  })

/** A revoked key, and one within the grace of its rotation. */
async function turned() {
  const console = (path: string, method: string, body: Json = {}) =>
    sendRequest(`${baseUrl}/api/tracking/api-keys${path}`, {
      method,
      body,
      headers: { authorization: `Bearer ${main.session}` },
    })
  const scopes = app.routes.flatMap(({ scope }) => scope ?? []).filter((scope) => scope !== 'blocklist:read')
  const created = async () => {
    const { body } = await console('', 'POST', { name: 'Turned', scopes: [...new Set(scopes), 'blocklist:write'] })
    return body
  }
  const [revoked, graced] = [await created(), await created()]
  await console(`/${revoked.apiKey.id}`, 'DELETE')
  await console(`/${graced.apiKey.id}/rotate`, 'POST', { graceMinutes: 60 })
  return { revoked: revoked.key, graced: graced.key, scopes }
}

/** Archives (terminates, releases) every record of the workspace with archived records. */
async function putAway(): Promise<void> {
  await createWorld(() => archiveCampaign(away, shelved))
  const post = (path: string, status: string, token = away.session) =>
    sendRequest(`${baseUrl}${path}`, {
      method: 'POST',
      body: { status },
      headers: { authorization: `Bearer ${token}` },
    })
  for (const [kind, status] of [
    ['targets', 'archived'],
    ['buyers', 'archived'],
    ['publishers', 'terminated'],
  ]) {
    const answer = await post(`/api/tracking/${kind}/${old[kind ?? '']}/status`, status ?? '')
    expect(answer.status, answer.text).toBe(200)
  }
}

/** Bodies with which a request reaches the check of its record's state. */
const CHANGES: Readonly<Record<string, Json>> = {
  'change-campaign': { description: 'Changed' },
  'set-campaign-status-by-key': { status: 'paused' },
  'change-publisher': { contactName: 'Changed' },
  'pause-target': { status: 'paused' },
  'change-buyer': { notes: 'Changed' },
  'change-target': { dailyCap: 7 },
  'change-target-caps': { dailyCap: 8 },
  'set-lane': { dailyCap: 7 },
  'set-route': { weight: 7 },
}

/** The concurrent edit of each record. */
const EDITS: Readonly<Record<string, Json>> = {
  ...CHANGES,
  'change-api-key': { name: 'Changed' },
  'change-number': { label: 'Changed' },
  'change-pool': { name: 'Changed' },
  'change-routing-key': { label: 'Changed' },
  'change-user': { role: 'member' },
  'change-vertical': { active: false },
  'change-webhook': { note: 'Changed' },
  'change-workspace': { name: 'Changed' },
  'administer-workspace': { name: 'Changed again' },
}

/** Headers of every HTTP response, which the documentation leaves out. */
const COMMON =
  /^(connection|content-length|content-type|date|keep-alive|strict-transport-security|transfer-encoding|x-.+|access-control-.+)$/

/** Expects a response that its route declares, with its headers. */
function expectDeclared(route: ApiRoute, { status, headers, body, text }: ApiResponse): void {
  const where = `${route.method} ${route.path}: ${status} ${text.slice(0, 300)}`
  const received = responseHeaderNames(route, status).map((name) => name.toLowerCase())
  expect(received, where).toEqual(expect.arrayContaining([...headers.keys()].filter((name) => !COMMON.test(name))))
  // A failed order is answered with its own body and 422 (Document 1, "purchase").
  if (status < 400 || String(status) in route.responses) {
    expect(Object.keys(route.responses), where).toContain(String(status))
    return
  }
  expect(
    refusalsOf(route).map((row) => `${row.status} ${row.code}`),
    where,
  ).toContain(`${status} ${body.error.code}`)
}

const codeOf = ({ status, body }: ApiResponse) => [status, body?.error?.code]
/** Routes whose credential is checked before their body; `ping-credentials.test.ts` has those of publishers. */
const guarded = ({ surface }: ApiRoute) => !['public', 'sign-in', 'carrier', 'rtb'].includes(surface)
const takesKeys = ({ surface, scope }: ApiRoute) => surface === 'rest' || (surface === 'console' && scope !== null)
/** The credentials that the 401 of a route names. */
const NAMES: Readonly<Record<string, string>> = {
  rest: 'an API key',
  console: 'a console session',
  portal: "a session of a publisher's user",
  sandbox: 'a console session',
  account: 'a console session',
  operator: 'the operator token',
}
const expectedSentence = (route: ApiRoute) =>
  `This route takes ${route.surface === 'console' && takesKeys(route) ? 'an API key or a console session' : NAMES[route.surface]}. `
const credentialOf = ({ surface }: ApiRoute) =>
  ({ operator: OPERATOR_TOKEN, rest: main.key, portal: portalUser.session })[surface as string] ?? main.session
const named = (route: ApiRoute) => recordKindsOf(route).length > 0

const routes = app.routes.map((route) => [`${route.method} ${route.path}`, route] as const)
const those = (choose: (route: ApiRoute) => boolean) => routes.filter(([, route]) => choose(route))

describe('every route', () => {
  test.each(routes)('%s declares a name, a summary, its answers and its refusals', (_name, route) => {
    expect(route.name).toMatch(/^[a-z-]+$/)
    expect(route.summary.length).toBeGreaterThan(5)
    expect(Object.keys(route.responses).length).toBeGreaterThan(0)
    if (named(route)) expect(refusalsOf({ ...route, surface: 'public' }).map(({ status }) => status)).toContain(404)
    if (route.write) expect(refusalsOf(route).map(({ code }) => code)).toContain('validation_error')
  })

  test.each(those(guarded))('%s without a credential', async (_name, route) => {
    const answer = await request(route, null, own)
    expectDeclared(route, answer)
    expect(codeOf(answer)).toEqual([401, route.surface === 'rest' ? 'missing_key' : 'unauthorized'])
    expect(answer.body.error.message.startsWith(expectedSentence(route)), answer.text).toBe(true)
  })

  test.each(those(guarded))('%s with the credential of another surface', async (_name, route) => {
    const wrong = route.surface === 'rest' ? main.session : takesKeys(route) ? OPERATOR_TOKEN : main.key
    // Wrong operator tokens are limited by source, so each route is asked from its own.
    const source = `192.0.2.${app.routes.indexOf(route) % 256}`
    const answer = await request(route, wrong, own, {}, { 'x-forwarded-for': source })
    expectDeclared(route, answer)
    expect(codeOf(answer)).toEqual([401, route.surface === 'rest' ? 'invalid_key' : 'unauthorized'])
    expect(answer.body.error.message.startsWith(expectedSentence(route)), answer.text).toBe(true)
  })

  test.each(those((route) => takesKeys(route) && route.scope !== null))(
    '%s without its scope',
    async (_name, route) => {
      const answer = await request(route, keys.powerless, own)
      expectDeclared(route, answer)
      expect(codeOf(answer)).toEqual([403, 'insufficient_scope'])
      expect(answer.body.error.details).toEqual({ required: [route.scope], held: [] })
    },
  )

  test.each(those(takesKeys))('%s with a revoked key, and with one in its grace', async (_name, route) => {
    const refused = await request(route, keys.revoked, theirs)
    expectDeclared(route, refused)
    expect(codeOf(refused)).toEqual([401, 'invalid_key'])
    const answer = await request(route, keys.graced, theirs)
    expectDeclared(route, answer)
    expect([401, 402, 403]).not.toContain(answer.status)
  })

  /** Requests that change nothing and end by themselves: reads, and writes whose body is refused. */
  const harmless = ({ method, body, contentType, raw }: ApiRoute) =>
    contentType !== 'text/event-stream' && !raw && (method === 'GET' || body !== null)

  test.each(those(harmless))('%s names the query parameters that it ignores', async (_name, route) => {
    const asked = async (query: string, token: string | null) => {
      const path = `${pathOf(route, own)}?${query}`
      const { headers } = await request({ ...route, path }, token, own, { unknown: 1 })
      return headers.get('svc-ignored-parameters')
    }
    const token = guarded(route) ? credentialOf(route) : null
    expect(await asked('surprise=1&page=1&colour=red', token)).toMatch(/^surprise, (page, )?colour$/)
    // What chooses a workspace or a publisher is read where there is a choice, and named everywhere else.
    const isRead = {
      agencyId: route.surface === 'console' || route.surface === 'sandbox',
      publisherId: route.surface === 'portal' || 'publisherId' in Object(Reflect.get(route.query, 'shape')),
    }
    const ignored = Object.entries(isRead).flatMap(([name, read]) => (read ? [] : [name]))
    const chosen = `agencyId=${main.workspaceId}&publisherId=${portalPublisher}`
    expect(await asked(chosen, token)).toBe(ignored.length === 0 ? null : ignored.join(', '))
    if (takesKeys(route)) expect(await asked(`agencyId=${main.workspaceId}`, main.key)).toBe('agencyId')
  })

  test.each(those((route) => named(route) && guarded(route) && route.surface !== 'operator'))(
    "%s on another workspace's record, on none, and on no id at all",
    async (_name, route) => {
      const kind = recordKindsOf(route)[0] ?? ''
      const answers = await Promise.all(
        [theirs, { ...own, [kind]: UNKNOWN_ID }, { ...own, [kind]: 'x' }].map((records) =>
          request(route, credentialOf(route), records),
        ),
      )
      for (const answer of answers) {
        expectDeclared(route, answer)
        expect(codeOf(answer)).toEqual([404, 'not_found'])
      }
      expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    },
  )

  test.each(those((route) => named(route) && guarded(route) && route.body !== null))(
    '%s on no record, whatever the body',
    async (_name, route) => {
      const kind = recordKindsOf(route)[0] ?? ''
      for (const id of [UNKNOWN_ID, 'x']) {
        const answer = await request(route, credentialOf(route), { ...own, [kind]: id }, 'no object')
        expectDeclared(route, answer)
        expect(codeOf(answer)).toEqual([404, 'not_found'])
      }
    },
  )

  /** What a publisher's user is answered on each surface that is not theirs: without a workspace's name, and with it. */
  const closed: Readonly<Record<string, readonly [readonly [number, string], readonly [number, string]]>> = {
    rest: [
      [401, 'invalid_key'],
      [401, 'invalid_key'],
    ],
    operator: [
      [401, 'unauthorized'],
      [401, 'unauthorized'],
    ],
    console: [
      [403, 'forbidden'],
      [404, 'not_found'],
    ],
    sandbox: [
      [403, 'forbidden'],
      [404, 'not_found'],
    ],
  }
  const ofOthers = ({ surface }: ApiRoute) => !['portal', 'account'].includes(surface)

  test.each(those((route) => guarded(route) && ofOthers(route)))("%s by a publisher's user", async (_name, route) => {
    const source = `198.51.100.${app.routes.indexOf(route) % 256}`
    const asked = (query: string) =>
      request(
        { ...route, path: `${pathOf(route, own)}${query}` },
        portalUser.session,
        own,
        {},
        { 'x-forwarded-for': source },
      )
    const answers = await Promise.all([
      asked(''),
      asked(`?agencyId=${main.workspaceId}&publisherId=${portalPublisher}`),
    ])
    for (const answer of answers) expectDeclared(route, answer)
    expect(answers.map(codeOf)).toEqual(closed[route.surface])
  })

  const onPortal = ({ surface }: ApiRoute) => surface === 'portal'
  /** Ids of records of the workspace that are not the publisher's. */
  const hiddenIds = Object.entries(own).flatMap(([kind, id]) =>
    ['workspaces', 'projections', 'parked'].includes(kind) ? [] : [id],
  )

  test.each(those(onPortal))("%s by a publisher's user about what is another publisher's", async (_name, route) => {
    const answer = await request(route, portalUser.session, own)
    expectDeclared(route, answer)
    expect(codeOf(answer)).toEqual(named(route) ? [404, 'not_found'] : [200, undefined])
    for (const id of hiddenIds) expect(answer.text).not.toContain(id)
    for (const publisherId of [own.publishers, theirs.publishers, UNKNOWN_ID, main.workspaceId, 'x']) {
      const path = `${pathOf(route, own)}?publisherId=${publisherId}`
      const refused = await request({ ...route, path }, portalUser.session, own)
      expectDeclared(route, refused)
      expect(codeOf(refused)).toEqual([404, 'not_found'])
      expect(refused.body.error.message).toBe('Publisher not found.')
    }
  })

  test.each(those(onPortal))('%s by an owner of the workspace', async (_name, route) => {
    const answer = await request(route, main.session, own)
    expectDeclared(route, answer)
    expect(codeOf(answer)).toEqual([403, 'forbidden'])
  })

  test("the portal shows the publisher's own", async () => {
    const { text } = await portalUser.portal('/api/portal/numbers')
    expect(text).toContain(portalLine.e164)
  })

  test.each(those(takesKeys))(
    '%s with a key of a lapsed workspace, and of a plan without API access',
    async (_name, route) => {
      const refused = await request(route, lapsed.key, late)
      expectDeclared(route, refused)
      expect(codeOf(refused)).toEqual([402, 'subscription_inactive'])
      const unplanned = await request(route, demoted.key, own)
      expectDeclared(route, unplanned)
      expect(codeOf(unplanned)).toEqual([402, 'plan_upgrade_required'])
      expect(unplanned.body.error.details).toEqual({ feature: 'apiAccess' })
    },
  )

  test.each(those(({ surface }) => surface === 'console'))('%s on a lapsed subscription', async (_name, route) => {
    const answer = await request(route, lapsed.session, late)
    expectDeclared(route, answer)
    const allowed = ['/numbers/:id/release', '/numbers/search'].some((path) => route.path.endsWith(path))
    const refused = route.write && !allowed
    if (!refused) return expect([401, 402, 403]).not.toContain(answer.status)
    expect(codeOf(answer)).toEqual([402, 'subscription_inactive'])
    expect(answer.body.error.details).toEqual({ status: 'canceled', planId: 'scale', agencyId: lapsed.workspaceId })
  })

  test.each(those((route) => route.write && named(route) && route.name in CHANGES))(
    '%s on an archived parent',
    async (_name, route) => {
      const answer = await request(route, route.surface === 'rest' ? away.key : away.session, old, CHANGES[route.name])
      expectDeclared(route, answer)
      expect(codeOf(answer)).toEqual([409, 'conflict'])
    },
  )

  test.each(those(({ method }) => method === 'PATCH' || method === 'PUT'))(
    '%s with an outdated If-Match',
    async (_name, route) => {
      const edit = (tag: string) => request(route, credentialOf(route), own, EDITS[route.name], { 'if-match': tag })
      const stale = await edit('"999999"')
      expectDeclared(route, stale)
      expect(codeOf(stale)).toEqual([412, 'conflict'])
      const read = await request({ ...route, method: 'GET' }, credentialOf(route), own)
      const done = await edit(read.headers.get('etag') ?? '*')
      expect(done.status, done.text).toBeLessThan(300)
      expect(done.headers.get('etag')).not.toBe(read.headers.get('etag'))
    },
  )

  test('every route is in this matrix', () => {
    expect(Object.keys(CHANGES).filter((name) => !app.routes.some((route) => route.name === name))).toEqual([])
  })
})

describe('OpenAPI', () => {
  const document: Json = app.openapi()
  const spelt = ({ path }: ApiRoute) => path.replaceAll(/:(\w+)/g, '{$1}')
  const documented = app.routes.filter(({ undocumented }) => !undocumented)
  const operations = documented.map((route) => [`${route.method} ${route.path}`, route] as const)

  test('has every route, and nothing else', () => {
    const listed = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(listed.toSorted()).toEqual(documented.map((route) => `${route.method} ${spelt(route)}`).toSorted())
  })

  test.each(operations)('lists the responses and refusal codes of %s', (_name, route) => {
    const { responses, parameters = [], requestBody } = document.paths[spelt(route)][route.method.toLowerCase()]
    for (const status of Object.keys(route.responses)) expect(Object.keys(responses)).toContain(status)
    for (const { status, code } of refusalsOf(route)) {
      if (String(status) in route.responses) continue
      expect(codesOf(document, responses[status])).toContain(code)
    }
    const inPath = parameters
      .map((parameter: Json) => resolveReference(document, parameter))
      .filter((parameter: Json) => parameter.in === 'path')
    expect(inPath).toHaveLength(recordKindsOf(route).length)
    expect(requestBody !== undefined).toBe(route.body !== null)
  })

  const expectDescribed = (part: Json) =>
    expect(part).toMatchObject({ description: expect.any(String), schema: expect.anything() })

  test.each(operations)('lists the request and response headers of %s', (_name, route) => {
    const { responses, parameters = [] } = document.paths[spelt(route)][route.method.toLowerCase()]
    const resolved = parameters.map((parameter: Json) => resolveReference(document, parameter))
    for (const parameter of resolved) expectDescribed(parameter)
    const taken = resolved.filter((parameter: Json) => parameter.in === 'header').map(({ name }: Json) => name)
    expect(taken).toEqual(requestHeaderNames(route))
    expect(taken.includes('Idempotency-Key')).toBe(route.write)
    expect(taken.includes('If-Match')).toBe(route.rejects.includes('precondition-failed'))
    expect(taken.includes('Range')).toBe(route.name === 'play-recording')
    for (const [status, response] of Object.entries<Json>(responses)) {
      const { headers = {} } = resolveReference(document, response)
      for (const header of Object.values(headers)) expectDescribed(resolveReference(document, header))
      const answered = Object.keys(headers)
      const own = ownHeaderNames(route, Number(status))
      expect(answered).toEqual(own)
      const common = responseHeaderNames(route, Number(status)).filter((name) => !own.includes(name))
      for (const name of common) expect(document.info.description).toContain(`\`${name}\``)
      expect(common).toContain('svc-request-id')
      expect(common.includes('svc-position')).toBe(guarded(route) ? status !== '401' : Number(status) < 400)
      expect(answered.includes('Retry-After')).toBe(['429', '503'].includes(status))
      expect(answered.includes('ETag')).toBe(Number(status) < 400 && (route.responseHeaders ?? []).includes('etag'))
      const rated = ['rest', 'console', 'portal', 'account'].includes(route.surface) && status !== '401'
      expect(common.includes('RateLimit') && common.includes('RateLimit-Policy')).toBe(rated)
    }
  })
})
