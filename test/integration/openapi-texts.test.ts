import { describe, expect, test } from 'vitest'
import { componentTexts } from '../../src/adapters/http/openapi/component-texts.ts'
import { bodyExamples } from '../../src/adapters/http/openapi/examples.ts'
import { fieldTexts, fieldTextTables } from '../../src/adapters/http/openapi/field-texts.ts'
import { operationTexts } from '../../src/adapters/http/openapi/operation-texts.ts'
import { refusalsOf } from '../../src/adapters/http/refusals.ts'
import { strictSchema } from '../../src/adapters/http/strict.ts'
import { API_KEY, PAGE, PING } from '../../src/domain/shared/limits.ts'
import { openApiRoutes } from '../../src/main/openapi.ts'
import type { Json } from '../support/e2e/api-client.ts'
import { resolveReference } from '../support/openapi/references.ts'

const opened: { document: Json; routes: Json } = await openApiRoutes()
const { document } = opened
const routes: Json = opened.routes.filter(({ undocumented }: Json) => !undocumented)
const { parameters } = document.components
/** Schemas that have a text; `Error.c` narrows `Error` to some codes. */
const schemas: Json = Object.fromEntries(
  Object.entries<Json>(document.components.schemas).filter(([name]) => !name.startsWith('Error.')),
)

/** The operation of a route. */
const operationOf = ({ method, path }: Json): Json =>
  document.paths[path.replaceAll(/:(\w+)/g, '{$1}')][method.toLowerCase()]
const bodyOf = (route: Json): Json => operationOf(route).requestBody.content['application/json']

/** Fields of a schema without a description, by their place. */
function undescribed(schema: Json, place: string): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const fields = Object.entries<Json>(schema.properties ?? {}).flatMap(([name, field]) => [
    ...(resolveReference(document, field).description === undefined ? [`${place}.${name}`] : []),
    ...undescribed(field, `${place}.${name}`),
  ])
  const { properties: _fields, ...others } = schema
  return [...fields, ...Object.values(others).flatMap((inner) => undescribed(inner, place))]
}

describe('the document', () => {
  test('describes every field', () => {
    expect(Object.entries(schemas).flatMap(([name, schema]) => undescribed(schema, name))).toEqual([])
  })

  test('describes every schema that is neither a request nor a response', () => {
    const plain = Object.keys(schemas).filter((name) => !/(Request|Response\d*)$/.test(name))
    expect(plain.filter((name) => schemas[name].description === undefined)).toEqual([])
  })

  test('describes every operation beyond its summary, and every parameter', () => {
    const names = new Set<string>(routes.map(({ name }: Json) => name))
    expect([...names].filter((name) => operationTexts[name] === undefined)).toEqual([])
    for (const parameter of Object.values<Json>(parameters)) expect(parameter.description).toMatch(/\.$/)
  })

  test('has one text for each field and parameter', () => {
    const keys = fieldTextTables.flatMap((table) => Object.keys(table))
    expect(keys.toSorted()).toEqual(Object.keys(fieldTexts).toSorted())
  })

  test('says of every operation who may call it', () => {
    const sentences = routes.map((route: Json) => [
      ...(route.scope === null ? [] : [`API keys need the scope \`${route.scope}\`.`]),
      ...(route.ownerOnly ? ['Owners alone.'] : []),
      ...(route.surface === 'console' && route.write && route.allowLapsed
        ? ['Also while the subscription has lapsed.']
        : []),
    ])
    expect(new Set(sentences.flat().map((sentence: string) => sentence.split(' ')[0]))).toEqual(
      new Set(['API', 'Owners', 'Also']),
    )
    for (const [n, route] of routes.entries())
      expect(operationOf(route).description.split('\n\n').slice(1), route.name).toEqual(sentences[n])
  })

  test('lists the codes that each refusal of an operation may have', () => {
    for (const route of routes) {
      const known = new Set(refusalsOf(route).map(({ status, code }) => `${status} ${code}`))
      const listed = Object.entries<Json>(operationOf(route).responses).flatMap(([status, reference]) => {
        const { schema = {} } = resolveReference(document, reference).content?.['application/json'] ?? {}
        const { allOf = [] } = resolveReference(document, schema)
        return (allOf[1]?.properties.error.properties.code.enum ?? []).map((code: string) => `${status} ${code}`)
      })
      const isSuccess = (refusal: string) => Number(refusal.split(' ')[0]) in route.responses
      expect(new Set(listed), route.name).toEqual(new Set([...known].filter((refusal) => !isSuccess(refusal))))
    }
  })

  test('lets a session name its workspace on the console and the sandbox alone', () => {
    for (const route of routes) {
      const named = operationOf(route).parameters.map((one: Json) => resolveReference(document, one).name)
      expect(named.includes('agencyId'), route.name).toBe(['console', 'sandbox'].includes(route.surface))
    }
  })

  test('refuses unknown fields of bodies and of what is within them, and allows those of a record', () => {
    const objects = new Set<Json>()
    const visit = (schema: Json) => {
      if (typeof schema !== 'object' || schema === null || objects.has(schema)) return
      if (schema.properties && schema.type === 'object') objects.add(schema)
      if (schema.$ref) visit(resolveReference(document, schema))
      for (const [keyword, inner] of Object.entries<Json>(schema)) if (keyword !== 'examples') visit(inner)
    }
    for (const route of routes) if (route.body !== null && !route.raw) visit(bodyOf(route).schema)
    expect(objects.size).toBeGreaterThan(40)
    for (const schema of objects) expect(schema.additionalProperties, JSON.stringify(schema).slice(0, 80)).toBe(false)
    expect(schemas.Buyer).not.toHaveProperty('additionalProperties')
  })

  test('requires of a body only what has no default, and of an answer what is always there', () => {
    expect(schemas.TagFilterInput.required).toEqual(['key', 'op'])
    expect(schemas.TagFilter.required).toEqual(['key', 'op', 'value'])
    const { tagFilters } = schemas.CreateTargetRequest.properties
    expect(resolveReference(document, tagFilters).items.$ref).toBe('#/components/schemas/TagFilterInput')
  })

  test('names the defaults of parameters', () => {
    const defaultOf = (name: string) => {
      const found = Object.values<Json>(parameters).filter((one) => one.name === name)
      return new Set(found.map(({ schema }) => schema.default))
    }
    expect(defaultOf('page')).toEqual(new Set([1]))
    expect(defaultOf('pageSize')).toEqual(new Set([PAGE.default, PING.pageSize]))
    expect(schemas.RotateApiKeyRequest.properties.graceMinutes.default).toBe(API_KEY.graceMinutes.default)
  })

  test('has no text for what does not exist', () => {
    // The carrier's webhooks exist with a real carrier alone.
    const names = new Set<string>([...routes.map(({ name }: Json) => name), 'take-telnyx-webhook'])
    expect(Object.keys(operationTexts).filter((name) => !names.has(name))).toEqual([])
    expect(Object.keys(bodyExamples).filter((name) => !names.has(name))).toEqual([])
    expect(Object.keys(componentTexts).filter((name) => !(name in schemas) && !(`${name}Input` in schemas))).toEqual([])
    const text = JSON.stringify(document)
    const unused = Object.entries(fieldTexts).filter(([, [sentence]]) => !text.includes(JSON.stringify(sentence)))
    expect(unused.map(([place]) => place)).toEqual([])
    // A parameter has its example beside its schema, any other field in it.
    const withoutExample = Object.entries(fieldTexts).filter(
      ([, [, ...examples]]) =>
        examples.length > 0 &&
        !text.includes(`"examples":${JSON.stringify(examples)}`) &&
        !text.includes(`"example":${JSON.stringify(examples[0])}`),
    )
    expect(withoutExample.map(([place]) => place)).toEqual([])
    expect(parameters.id.example).toBe(fieldTexts.id?.[1])
    expect(schemas.Id.examples).toEqual([fieldTexts.id?.[1]])
  })

  test('has an example of every body, which the route accepts', () => {
    for (const route of routes) {
      const { name, body } = route
      if (body === null) continue
      const example = bodyExamples[name]
      expect(example, name).toBeDefined()
      expect(bodyOf(route).example, name).toEqual(example)
      const { success, error } = strictSchema<Json>(body).safeParse(example)
      expect(success, `${name}: ${error?.message}`).toBe(true)
    }
  })

  test('has examples of fields that their schemas allow', () => {
    for (const [name, { examples, pattern, minimum, maximum }] of Object.entries<Json>(schemas)) {
      for (const example of examples ?? []) {
        if (pattern) expect(example, name).toMatch(new RegExp(pattern))
        if (minimum !== undefined) expect(example, name).toBeGreaterThanOrEqual(minimum)
        if (maximum !== undefined) expect(example, name).toBeLessThanOrEqual(maximum)
      }
    }
  })
})
