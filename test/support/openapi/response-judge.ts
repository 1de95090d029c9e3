import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { ApiResponse, Json } from '../e2e/api-client.ts'
import type { Operation } from './document.ts'
import { LONG_LETTER } from './hostile-values.ts'
import type { GeneratedRequest } from './requests.ts'

/** A response, and the request that it answers. */
export interface Exchange {
  readonly operation: Operation
  readonly request: GeneratedRequest
  /** The security scheme of the credential that was sent; null without one that fits. */
  readonly scheme: string | null
  readonly response: ApiResponse
}

/** Headers of every HTTP response, which the document leaves out. */
const COMMON =
  /^(connection|content-length|content-type|date|keep-alive|strict-transport-security|transfer-encoding|vary|x-.+|access-control-.+)$/
const REQUEST_ID = /^req_[0-9a-f]{32}$/
const OWN_REQUEST_ID = /^[\x21-\x7e]{1,128}$/

const SCHEMAS_WITHIN = ['anyOf', 'oneOf', 'prefixItems']

/** The schema with every object refusing fields that it does not list, unless it says what others hold. */
function strict(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(strict)
  const inner = Object.fromEntries(
    Object.entries<Json>(schema).map(([key, value]) => {
      if (key === 'properties')
        return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, strict(one)]))]
      if (key === 'items' || key === 'additionalProperties' || SCHEMAS_WITHIN.includes(key)) return [key, strict(value)]
      return [key, value]
    }),
  )
  const open = schema.additionalProperties === undefined && schema.unevaluatedProperties === undefined
  if (!open || (schema.type !== 'object' && schema.properties === undefined && schema.allOf === undefined)) return inner
  return schema.allOf === undefined
    ? { ...inner, additionalProperties: false }
    : { ...inner, unevaluatedProperties: false }
}

/** The document with strict schemas in its responses and components. */
function strictDocument(document: Json): Json {
  const visit = (value: Json, key: string): Json => {
    if (typeof value !== 'object' || value === null) return value
    if (key === 'schema') return strict(value)
    if (Array.isArray(value)) return value.map((one) => visit(one, ''))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, visit(one, name)]))
  }
  const { schemas = {}, ...components } = document.components ?? {}
  return {
    paths: visit(document.paths, ''),
    components: {
      ...visit(components, ''),
      schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, strict(schema)])),
    },
  }
}

const mediaTypeOf = ({ headers }: ApiResponse) => headers.get('content-type')?.split(';')[0]?.trim() ?? null

/** Whether a media type is the documented one, which may be a range: `audio/*`. */
const isOfType = (documented: string, type: string) =>
  documented === type || (documented.endsWith('/*') && type.startsWith(documented.slice(0, -1)))

/** Problems of the body: of its media type, and by the schema of its status. */
function bodyProblems(
  { operation, response }: Exchange,
  validatorOf: (pointer: string) => ValidateFunction,
): readonly string[] {
  const { schemas } = operation.responses.get(response.status) ?? { schemas: new Map<string, string>() }
  const type = mediaTypeOf(response)
  if (schemas.size === 0) return response.text === '' ? [] : ['has a body, which the document does not list']
  const found = [...schemas].find(([documented]) => type !== null && isOfType(documented, type))
  if (!found) return [`has the media type ${type}, not one of ${[...schemas.keys()]}`]
  if (found[0] !== 'application/json') return []
  const validate = validatorOf(found[1])
  if (validate(response.body)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `body${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

/** Problems of a body that was accepted though the document does not allow it. */
function acceptedBodyProblems(
  { operation, request, response }: Exchange,
  validatorOf: (pointer: string) => ValidateFunction,
): readonly string[] {
  const sent = request.body?.trim() ?? ''
  // An empty body reads as an empty object, and so does null.
  if (response.status >= 300 || operation.body === null || sent === '' || sent === 'null') return []
  const validate = validatorOf(operation.bodyPointer)
  if (validate(JSON.parse(sent))) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `accepts a body whose ${instancePath} ${message}`)
}

function requestIdProblems({ request, response }: Exchange): readonly string[] {
  const sent = request.headers['svc-request-id']?.trim() ?? ''
  const received = response.headers.get('svc-request-id') ?? ''
  const right = OWN_REQUEST_ID.test(sent) ? received === sent : REQUEST_ID.test(received)
  const named = response.body?.error?.requestId ?? received
  return [
    ...(right ? [] : [`has the svc-request-id ${received} for ${sent}`]),
    ...(named === received ? [] : [`names the request ${named} in its body and ${received} in its header`]),
  ]
}

/** Supplement §1.19: the problems that a refusal names, the characters of the request that it repeats, and its size in all. */
const REFUSAL = { problems: 20, repeated: 24, characters: 4_096 }
const repeatsTooMuch = new RegExp(`${LONG_LETTER}{${REFUSAL.repeated + 1}}`)

function refusalProblems({ response: { status, body, text } }: Exchange): readonly string[] {
  if (status < 400) return []
  // The request's own id is repeated as it was sent.
  const said = JSON.stringify({ ...body?.error, requestId: null })
  const rules: readonly (readonly [boolean, string])[] = [
    [Object.keys(body?.error?.details ?? {}).length <= REFUSAL.problems, `names over ${REFUSAL.problems} problems`],
    [!repeatsTooMuch.test(said), `repeats over ${REFUSAL.repeated} characters of the request`],
    [text.length <= REFUSAL.characters, `has ${text.length} characters`],
  ]
  return rules.flatMap(([holds, problem]) => (holds ? [] : [problem]))
}

/** Names of the query parameters that the operation does not list; `agencyId` says nothing to an API key. */
function ignoredParameters({ operation, request, scheme }: Exchange): readonly string[] {
  const listed = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
  return request.query.filter((name) => !listed.includes(name) || (name === 'agencyId' && scheme === 'key'))
}

/** Headers that a response must have or must not have, by its status and its request (Supplement §1). */
function conventionProblems(exchange: Exchange): readonly string[] {
  const { operation, scheme, response } = exchange
  const has = (name: string) => response.headers.has(name)
  const isGuarded = !operation.security.includes(null)
  const ignored = ignoredParameters(exchange)
    .map((name) => encodeURIComponent(name))
    .join(', ')
  const received = response.headers.get('svc-ignored-parameters')
  const rules: readonly (readonly [boolean, string])[] = [
    [response.headers.get('x-content-type-options') === 'nosniff', 'lacks x-content-type-options: nosniff'],
    [has('strict-transport-security'), 'lacks strict-transport-security'],
    [has('www-authenticate') === (response.status === 401), 'has www-authenticate exactly when it is a 401'],
    [response.status !== 429 || Number(response.headers.get('retry-after')) >= 1, 'lacks the Retry-After of a 429'],
    [
      !isGuarded || scheme === null || response.status === 401 || has('svc-position'),
      'lacks the svc-position of a response to a credential',
    ],
    [!isGuarded || response.status !== 401 || !has('svc-position'), 'shows a svc-position without a credential'],
    [!isGuarded || scheme !== null || response.status === 401, 'is no 401 though the credential does not fit'],
    [
      response.status >= 300 || (received ?? '') === ignored,
      `names the ignored parameters ${received}, not ${ignored}`,
    ],
    [received === null || received === ignored, `names the ignored parameters ${received}, not ${ignored}`],
  ]
  return rules.flatMap(([holds, problem]) => (holds ? [] : [problem]))
}

/** Problems of the headers that the document lists, or does not list. */
function headerProblems(
  { operation, response }: Exchange,
  ajv: Ajv2020,
  common: ReadonlyMap<string, Json>,
): readonly string[] {
  const documented = operation.responses.get(response.status)?.headers ?? new Map<string, Json>()
  return [...response.headers].flatMap(([name, value]) => {
    if (COMMON.test(name)) return []
    const schema = documented.get(name) ?? common.get(name)
    if (schema === undefined) return [`has the header ${name}, which the document does not list`]
    const read = schema.type === 'integer' ? Number(value) : value
    return ajv.validate(schema, read) ? [] : [`has the header ${name}: ${value}, which is not as documented`]
  })
}

/** Finds what of a response is not as the document and the conventions say; nothing where it is right. */
export type ResponseJudge = (exchange: Exchange) => readonly string[]

/** Creates the judge of the responses of one document. Every field that a schema does not list is a problem. */
export function createResponseJudge(document: Json): ResponseJudge {
  const ajv = new Ajv2020({ strict: false, validateFormats: true })
  addFormats.default(ajv)
  ajv.addSchema({ $id: 'document', ...strictDocument(document) }, 'document', undefined, false)
  // Some bodies are open: what they may have beside is dropped.
  ajv.addSchema({ $id: 'sent', paths: document.paths, components: document.components }, 'sent', undefined, false)
  // The common headers stand once in the document, by their own names.
  const common = new Map(
    Object.entries<Json>({ ...document.components.headers, ...document['x-common-headers'] }).map(
      ([name, { schema }]) => [name.toLowerCase(), schema],
    ),
  )
  const validators = new Map<string, ValidateFunction>()
  const createValidators = (id: string) => (pointer: string) => {
    const place = `${id}${encodeURI(pointer)}`
    const known = validators.get(place) ?? ajv.compile({ $ref: place })
    validators.set(place, known)
    return known
  }
  const validatorOf = createValidators('document')
  const bodyValidatorOf = createValidators('sent')
  return (exchange) => {
    const { operation, response } = exchange
    if (response.status >= 500) return [`is a ${response.status}`]
    if (!operation.responses.has(response.status)) return ['has a status that the document does not list']
    return [
      ...bodyProblems(exchange, validatorOf),
      ...acceptedBodyProblems(exchange, bodyValidatorOf),
      ...requestIdProblems(exchange),
      ...refusalProblems(exchange),
      ...headerProblems(exchange, ajv, common),
      ...conventionProblems(exchange),
    ]
  }
}
