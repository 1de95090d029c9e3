import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect } from 'vitest'
import { createApiClient, type Json } from '../../support/e2e/api-client.ts'
import { createRecordWorld } from '../../support/e2e/record-world.ts'
import { suite } from '../../support/e2e/suite.ts'
import { resolveReference } from '../../support/openapi/references.ts'

const { it, server } = suite('OpenAPI', createRecordWorld, { stores: 'embedded' })
const ask = createApiClient(() => server.baseUrl, null)

/** Largest size of the document of a surface, and of an operation in the whole document, in bytes, uncompressed. */
const MAX_BYTES = 400_000
const MAX_OPERATION_BYTES = 2_600

type Visitor = (node: Readonly<Record<string, Json>>, place: string) => void

/** Visits every object of a document. */
function visit(node: Json, visitor: Visitor, place = '#'): void {
  if (typeof node !== 'object' || node === null) return
  if (!Array.isArray(node)) visitor(node, place)
  for (const [key, inner] of Object.entries(node)) visit(inner, visitor, `${place}/${key}`)
}

const operationsOf = (document: Json): readonly Json[] =>
  Object.values<Json>(document.paths).flatMap((methods) => Object.values<Json>(methods))

it('the documents are small', async () => {
  const { text, body } = await ask('/openapi.json')
  expect(Buffer.byteLength(text) / operationsOf(body).length).toBeLessThan(MAX_OPERATION_BYTES)
  for (const surface of ['rest', 'console']) {
    const { text } = await ask(`/openapi.json?surface=${surface}`)
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_BYTES)
  }
})

it('schemas are named, and used by reference', async () => {
  const { body } = await ask('/openapi.json')
  const { schemas } = body.components
  expect(Object.keys(schemas)).toEqual(
    expect.arrayContaining(['ApiKey', 'Buyer', 'Call', 'Campaign', 'Error', 'Lane', 'Publisher', 'Target', 'Story']),
  )
  visit(body, ({ $ref }, place) => {
    if (typeof $ref === 'string') expect(resolveReference(body, { $ref }), place).toBeDefined()
  })
  const jsonOf = (part: Json) => part?.content?.['application/json']?.schema
  for (const { operationId, requestBody, responses } of operationsOf(body)) {
    for (const part of [requestBody, ...Object.values(responses)]) {
      const schema = jsonOf(resolveReference(body, part))
      if (schema !== undefined)
        expect(schema.$ref ?? schema.allOf?.[0].$ref, operationId).toMatch(/^#.components.schemas/)
    }
  }
})

it('each example is a value of its schema', async () => {
  const { body } = await ask('/openapi.json')
  const judge = new Ajv2020({ strict: false })
  addFormats.default(judge)
  judge.addSchema({ ...body, $id: 'openapi' })
  for (const [name, { examples = [] }] of Object.entries<Json>(body.components.schemas)) {
    const isValid = judge.getSchema(`openapi#/components/schemas/${name}`)
    for (const example of examples) expect(isValid?.(example), `${name}: ${JSON.stringify(example)}`).toBe(true)
  }
})

it('no field is read-only by mistake, and no id or dialect of a conversion is left', async () => {
  const { body } = await ask('/openapi.json')
  visit(body, (node, place) => {
    if (place.endsWith('/properties')) return
    expect(Object.keys(node), place).not.toContain('readOnly')
    expect(Object.keys(node), place).not.toContain('$schema')
    expect(Object.keys(node), place).not.toContain('$id')
  })
  const { scopes } = body.components.schemas.CreateApiKeyRequest.properties
  expect(resolveReference(body, scopes).items.$ref).toBe('#/components/schemas/Scope')
})

it('a call that was adjusted or converted is described with its story', async () => {
  const { body } = await ask('/openapi.json')
  for (const action of ['adjust', 'conversion']) {
    const { responses } = body.paths[`/api/v1/calls/{id}/${action}`].post
    const answer = resolveReference(body, resolveReference(body, responses['200']).content['application/json'].schema)
    expect(answer.properties.call.$ref).toBe('#/components/schemas/Call')
  }
  expect(body.components.schemas.Call.required).toContain('story')
})

it('each operation names its credentials as they are', async () => {
  const { body } = await ask('/openapi.json')
  const securityOf = (path: string, method = 'get') => body.paths[path][method].security
  expect(securityOf('/api/v1/buyers')).toEqual([{ key: ['buyers:read'] }])
  expect(securityOf('/api/tracking/buyers')).toEqual([{ session: [] }, { key: ['buyers:read'] }])
  expect(securityOf('/api/tracking/targets')).toEqual([{ session: [] }])
  expect(securityOf('/api/operator/workspaces')).toEqual([{ operator: [] }])
  expect(securityOf('/api/auth/session')).toEqual([{ session: [] }])
  expect(securityOf('/api/auth/sign-in', 'post')).toEqual([])
  expect(securityOf('/api/auth/invitations/accept', 'post')).toEqual([{}, { session: [] }])
  for (const name of operationsOf(body).flatMap(({ security }) => security.flatMap(Object.keys)))
    expect(body.components.securitySchemes).toHaveProperty(name)
})

it('the document names the server that it came from', async () => {
  const { body } = await ask('/openapi.json')
  expect(body.servers).toEqual([expect.objectContaining({ url: server.baseUrl })])
})

it('one surface can be asked for alone', async () => {
  const whole = await ask('/openapi.json')
  const counted: Record<string, number> = {}
  for (const surface of ['rest', 'console', 'portal', 'account', 'sandbox', 'operator', 'public', 'rtb']) {
    const { status, body, text, headers } = await ask(`/openapi.json?surface=${surface}`)
    expect(status).toBe(200)
    counted[surface] = operationsOf(body).length
    expect(Buffer.byteLength(text)).toBeLessThan(Buffer.byteLength(whole.text))
    const again = await ask(`/openapi.json?surface=${surface}`, {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    })
    expect(again.status).toBe(304)
    visit(body, ({ $ref }, place) => {
      if (typeof $ref === 'string') expect(resolveReference(body, { $ref }), place).toBeDefined()
    })
  }
  const sum = Object.values(counted).reduce((total, count) => total + count, 0)
  expect(sum).toBe(operationsOf(whole.body).length)
  const rest = await ask('/openapi.json?surface=rest')
  expect(Object.keys(rest.body.paths).every((path) => path.startsWith('/api/v1/'))).toBe(true)
})

it.each(['', 'REST', 'rtp', '__proto__'])('an unknown surface is refused: %o', async (surface) => {
  const { status, body } = await ask(`/openapi.json?surface=${surface}`)
  expect([status, body.error.code]).toEqual([400, 'validation_error'])
  expect(body.error.details.surface).toMatch(/^must be one of .*\brest\b.*\bconsole\b/)
})
