import { describe, expect, test } from 'vitest'
import { componentTexts } from '../../src/adapters/http/openapi/component-texts.ts'
import { bodyExamples } from '../../src/adapters/http/openapi/examples.ts'
import { fieldTexts } from '../../src/adapters/http/openapi/field-texts.ts'
import { operationTexts } from '../../src/adapters/http/openapi/operation-texts.ts'
import { strictSchema } from '../../src/adapters/http/strict.ts'
import { openApiRoutes } from '../../src/main/openapi.ts'
import type { Json } from '../support/e2e/api-client.ts'
import { resolveReference } from '../support/openapi/references.ts'

const { document, routes }: { document: Json; routes: Json } = await openApiRoutes()
const { schemas, parameters } = document.components

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

  test('has no text for what does not exist', () => {
    // The carrier's webhooks exist with a real carrier alone.
    const names = new Set<string>([...routes.map(({ name }: Json) => name), 'take-telnyx-webhook'])
    expect(Object.keys(operationTexts).filter((name) => !names.has(name))).toEqual([])
    expect(Object.keys(bodyExamples).filter((name) => !names.has(name))).toEqual([])
    expect(Object.keys(componentTexts).filter((name) => !(name in schemas) && !(`${name}Input` in schemas))).toEqual([])
    const text = JSON.stringify(document)
    const unused = Object.entries(fieldTexts).filter(([, [sentence]]) => !text.includes(JSON.stringify(sentence)))
    expect(unused.map(([place]) => place)).toEqual([])
  })

  test('has an example of every body, which the route accepts', () => {
    for (const { name, body } of routes) {
      if (body === null) continue
      const example = bodyExamples[name]
      expect(example, name).toBeDefined()
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
