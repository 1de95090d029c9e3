import { JSONPathEnvironment, type JSONPathQuery, type JSONValue } from 'json-p3'
import { memoize } from '../shared/memoize.ts'

/** A JSON value. */
export type Json = JSONValue

const environment = new JSONPathEnvironment()
// Regular expressions of customers would run on the thread that routes calls.
for (const name of ['match', 'search']) environment.functionRegister.delete(name)

/** Path segments that each traverse the whole answer: a recursive descent, a filter, a further root. */
const WALKS = /\.\.|\?|(?<!^)\$/g
const WALKS_MAX = 1

/** Cached paths: they come from requests, so the cache is bounded. */
const PATH_CACHE_MAX = 2_000

/** @throws Error that says what is wrong with the path */
const compilePath = memoize((path: string): JSONPathQuery => environment.compile(path), PATH_CACHE_MAX)

/** What is wrong with a path into a bidder's answer (JSONPath, RFC 9535), as a sentence; null when it is valid. */
export function pathProblem(path: string): string | null {
  if ((path.match(WALKS)?.length ?? 0) > WALKS_MAX)
    return 'Must use at most one of: a recursive descent (..), a filter (?), a further root ($).'
  try {
    compilePath(path)
    return null
  } catch (error) {
    return `Must be a JSONPath (RFC 9535): ${error instanceof Error ? error.message : String(error)}.`
  }
}

/**
 * The first value at a path in a bidder's answer; undefined when there is none, or the answer is too deep to traverse. The
 * path must be valid (`pathProblem`).
 */
export function firstMatch(path: string, answer: Json): unknown {
  try {
    return compilePath(path).match(answer)?.value
  } catch {
    return undefined
  }
}
