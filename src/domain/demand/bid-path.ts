import { JSONPathEnvironment, type JSONPathQuery, type JSONValue } from 'json-p3'
import { RTB } from '../shared/limits.ts'
import { memoize } from '../shared/memoize.ts'

/** A JSON value. */
export type Json = JSONValue

const environment = new JSONPathEnvironment()

/** Cached paths: they come from requests, so the cache is bounded. */
const PATH_CACHE_MAX = 2_000

/** A path that may be evaluated, or what is wrong with it. */
type ParsedPath = { readonly query: JSONPathQuery } | { readonly problem: string }

function compilePath(path: string): ParsedPath {
  if (!path.startsWith('$')) return { problem: 'Must be a JSONPath (RFC 9535), which begins with $.' }
  try {
    return { query: environment.compile(path) }
  } catch (error) {
    return { problem: `Must be a JSONPath (RFC 9535): ${error instanceof Error ? error.message : String(error)}.` }
  }
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
    : parsed
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
  return 'problem' in parsed ? undefined : parsed.query.match(answer)?.value
}
