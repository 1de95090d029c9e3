import { JSONPathEnvironment, type JSONPathQuery, type JSONValue } from 'json-p3'
import { RTB } from '../shared/limits.ts'
import { memoize } from '../shared/memoize.ts'

/** A JSON value. */
export type Json = JSONValue

const environment = new JSONPathEnvironment()

/** Cached paths: they come from requests, so the cache is bounded. */
const PATH_CACHE_MAX = 2_000

/** A path that may be evaluated, as the names and indexes of its segments, or what is wrong with it. */
type ParsedPath = { readonly steps: readonly (string | number)[] } | { readonly problem: string }

function compilePath(path: string): { readonly query: JSONPathQuery } | { readonly problem: string } {
  if (!path.startsWith('$')) return { problem: 'Must be a JSONPath (RFC 9535), which begins with $.' }
  try {
    return { query: environment.compile(path) }
  } catch (error) {
    return { problem: `Must be a JSONPath (RFC 9535): ${error instanceof Error ? error.message : String(error)}.` }
  }
}

/** The name or index that a selector of a singular query takes. */
function stepOf(selector: object): string | number {
  if ('name' in selector && typeof selector.name === 'string') return selector.name
  if ('index' in selector && typeof selector.index === 'number') return selector.index
  throw new TypeError('A singular query selects by name or index.')
}

const parseBoundedPath = memoize((path: string): ParsedPath => {
  const parsed = compilePath(path)
  if ('problem' in parsed) return parsed
  const { query } = parsed
  if (!query.singularQuery())
    return {
      problem:
        'Must be a singular query: one name or index in each segment, without wildcard, slice, filter, list or descent.',
    }
  return query.segments.length > RTB.pathSegments
    ? { problem: `Must have at most ${RTB.pathSegments} segments.` }
    : { steps: query.segments.flatMap(({ selectors }) => selectors.map(stepOf)) }
}, PATH_CACHE_MAX)

/** Parses a path. One that was stored under earlier rules may be of any kind and length. */
function parsePath(path: string): ParsedPath {
  return path.length > RTB.path ? { problem: `Must have at most ${RTB.path} characters.` } : parseBoundedPath(path)
}

/**
 * What is wrong with a path into a bidder's answer, as a sentence; null when it is valid: a singular query (RFC 9535), the
 * time of which does not depend on the answer (Supplement §5).
 */
export function pathProblem(path: string): string | null {
  const parsed = parsePath(path)
  return 'problem' in parsed ? parsed.problem : null
}

/** The value at a path in a bidder's answer; undefined when there is none. A path with a problem is not evaluated. */
export function valueAtPath(path: string, answer: Json): unknown {
  const parsed = parsePath(path)
  if ('problem' in parsed) return undefined
  let value: unknown = answer
  for (const step of parsed.steps) value = valueAt(value, step)
  return value
}

/** The value of an object's member, or of an array's element, counted from its end if the index is negative. */
function valueAt(value: unknown, step: string | number): unknown {
  if (typeof step === 'number') return Array.isArray(value) ? value.at(step) : undefined
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject && Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined
}
