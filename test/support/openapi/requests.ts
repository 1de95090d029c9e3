import fc from 'fast-check'
import type { Operation, Parameter } from './document.ts'
import { hostileTexts, unknownNames, withHostileValue } from './hostile-values.ts'
import { nameOfPathParameter } from './known-values.ts'
import { type ValueSources, valuesOf } from './schema-values.ts'

/** Whose credential a request has. */
export type Credential = 'fitting' | 'none' | 'unknown' | 'of another surface'

/** A generated request: everything but the credential itself. */
export interface GeneratedRequest {
  readonly credential: Credential
  /** Path and query. */
  readonly path: string
  /** Names of the query parameters. */
  readonly query: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** The body's text; null for none. */
  readonly body: string | null
}

/** Longest parameter that is sent, so that a request's head can be read. */
const LONGEST_PART = 3_000

const credentials = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Credential>('fitting') },
  fc.constantFrom<Credential>('none', 'unknown', 'of another surface'),
)

/** Texts of the parameters of one place: all of those in the path, some of the others. */
function parameterTexts(
  { path, parameters }: Operation,
  place: Parameter['in'],
  sources: ValueSources,
  isSound: boolean,
) {
  const chosen = parameters.filter((parameter) => parameter.in === place)
  const textsOf = ({ name, schema }: Parameter): fc.Arbitrary<string> => {
    const known = place === 'path' ? nameOfPathParameter(path, name) : name
    // Cursors and entity tags are texts by their schemas, of which few are right.
    const sound = valuesOf(schema, known, sources, place === 'header' ? 90 : undefined).map(String)
    return isSound ? sound : fc.oneof({ weight: place === 'path' ? 12 : 3, arbitrary: sound }, hostileTexts)
  }
  return fc.record(Object.fromEntries(chosen.map((one) => [one.name, textsOf(one)] as const)), {
    requiredKeys: chosen.flatMap(({ name, required }) => (required ? [name] : [])),
    noNullPrototype: true,
  })
}

/** A value of a header as `fetch` sends it: Latin 1 without line ends. */
const asHeader = (text: string) => text.replaceAll(/[^\t\x20-\x7e\xa0-\xff]/g, '').slice(0, 2_000)

/** A segment of a path; one that a client would leave out, or resolve itself, stays a segment. */
const asSegment = (text: string) =>
  encodeURIComponent(/^\.{0,2}$/.test(text) ? 'x' : text.slice(0, LONGEST_PART).toWellFormed())

/** Headers that no document lists: of proxies, of content, of caches. */
const otherHeaders = fc.dictionary(
  fc.constantFrom(
    'accept',
    'content-encoding',
    'content-type',
    'x-forwarded-host',
    'if-none-match',
    'if-range',
    'x-http-method-override',
  ),
  fc.constantFrom(
    '*/*',
    'gzip',
    'text/plain',
    'application/json; charset=utf-8',
    '"1"',
    'W/"1"',
    'DELETE',
    'identity',
    '',
  ),
  { maxKeys: 2, noNullPrototype: true },
)

/** Bodies that are no object of the schema. */
const strayBodies = fc.constantFrom(
  null,
  '',
  ' ',
  '{',
  '{"a":}',
  '[]',
  '1',
  '"text"',
  'null',
  '\u0000',
  '{"__proto__":{"a":1}}',
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
)

function bodies({ method, body }: Operation, sources: ValueSources, isSound: boolean): fc.Arbitrary<string | null> {
  if (body === null) return isSound || method === 'GET' ? fc.constant(null) : strayBodies
  const sound = valuesOf(body, 'body', sources)
  const texts = (isSound ? sound : withHostileValue(sound)).map((value) => JSON.stringify(value))
  return isSound ? texts : fc.oneof({ weight: 10, arbitrary: texts }, strayBodies)
}

/** Requests whose every part is of its schema, or whose every part may be wrong. */
function requestParts(operation: Operation, sources: ValueSources, isSound: boolean) {
  const those = (place: Parameter['in']) => parameterTexts(operation, place, sources, isSound)
  const nothing = fc.constant({})
  const unknown = fc.array(fc.tuple(unknownNames, hostileTexts), { maxLength: 3 })
  return fc.record({
    credential: isSound ? fc.constant<Credential>('fitting') : credentials,
    inPath: those('path'),
    query: fc.oneof(nothing, { weight: 2, arbitrary: those('query') }),
    unknown: isSound ? fc.constant([]) : unknown,
    headers: fc.oneof({ weight: 2, arbitrary: nothing }, those('header')),
    others: isSound ? nothing : fc.oneof({ weight: 6, arbitrary: nothing }, otherHeaders),
    body: bodies(operation, sources, isSound),
  })
}

/** Requests to an operation, valid and invalid. */
export function requestsTo(operation: Operation, sources: ValueSources): fc.Arbitrary<GeneratedRequest> {
  return fc
    .oneof(requestParts(operation, sources, true), requestParts(operation, sources, false))
    .map(({ credential, inPath, query, unknown, headers, others, body }) => {
      const asked = new URLSearchParams(
        [...Object.entries(query), ...unknown].map(([name, value]): [string, string] => [
          name,
          value.slice(0, LONGEST_PART).toWellFormed(),
        ]),
      )
      const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => asSegment(inPath[name] ?? ''))
      return {
        credential,
        path: asked.size === 0 ? path : `${path}?${asked}`,
        query: [...new Set(asked.keys())],
        headers: Object.fromEntries(
          Object.entries<string>({ ...others, ...headers }).map(([name, value]) => [
            name.toLowerCase(),
            asHeader(value),
          ]),
        ),
        body,
      }
    })
}
